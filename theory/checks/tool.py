"""Checks of certibit itself: refusals, splits, seeds, counts, certificates."""

from functools import cache
from typing import Any

from certibit.solvers.world.experiment import Experiment
from certibit.theory.card import Card
from certibit.theory.checks.compressor.counted import counted_as_sent
from certibit.theory.checks.known_proofs import known_proofs
from certibit.theory.checks.problem.dealt import rows_dealt_once
from certibit.theory.checks.refusals import refusals, refusals_of_the_tool
from certibit.theory.checks.trace.batches import seeds_of_batches
from certibit.theory.verdict import Verdict


def tool_checks(card: Card, experiment: Experiment[Any]) -> tuple[Verdict, ...]:
    """Check that misfits are refused, and what is counted and certified of what is known.

    What does not depend on the method is checked once by a process.
    """
    return refusals(card, experiment), *_of_any_method()


@cache
def _of_any_method() -> tuple[Verdict, ...]:
    return of_any_method()


def of_any_method(seed: int = 0) -> tuple[Verdict, ...]:
    """Check what does not depend on the method."""
    return (
        refusals_of_the_tool(),
        rows_dealt_once(seed),
        seeds_of_batches(),
        counted_as_sent(seed),
        known_proofs(),
    )
