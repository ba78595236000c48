"""What a user believes of the tool itself: its refusals, its counts, its certificates."""

from typing import Any

from bitbound.solvers.world.experiment import Experiment
from bitbound.theory.card import Card
from bitbound.theory.checks.compressor.counted import counted_as_sent
from bitbound.theory.checks.known_proofs import known_proofs
from bitbound.theory.checks.refusals import refusals
from bitbound.theory.verdict import Verdict


def tool_checks(card: Card, experiment: Experiment[Any], seed: int = 0) -> tuple[Verdict, ...]:
    """Check that misfits are refused, and what is counted and certified of what is known."""
    return refusals(card, experiment), counted_as_sent(seed), known_proofs()
