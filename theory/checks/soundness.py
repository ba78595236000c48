"""What must hold whatever a theorem says: of the problem, the method, its messages, its trace.

These checks need no promise, so they serve a method that has no theorem yet.
"""

import numpy as np

from bitbound.solvers.world.experiment import ConvexExperiment
from bitbound.theory.card import Card
from bitbound.theory.checks.channel.accounts import accounts
from bitbound.theory.checks.channel.unsent import unsent
from bitbound.theory.checks.method.conduct import (
    bill_check,
    independence,
    keeps_invariants,
    potential_at_solution,
    purity,
    schedule,
    stays_at_solution,
)
from bitbound.theory.checks.trace.replay import recorded
from bitbound.theory.verdict import Verdict

_CHECKS = (
    stays_at_solution,
    keeps_invariants,
    purity,
    independence,
    accounts,
    unsent,
    schedule,
    recorded,
)


def soundness(card: Card, experiment: ConvexExperiment, seed: int = 0) -> tuple[Verdict, ...]:
    """Make the checks that every method is held against; none where there is nothing to check."""
    with np.errstate(all="ignore"):
        verdicts = [check(experiment, seed) for check in _CHECKS]
        verdicts += potential_at_solution(card, experiment), bill_check(card, experiment)
    return tuple(verdict for verdict in verdicts if verdict)
