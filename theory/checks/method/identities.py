"""Methods that are the same method at special parameters: checks that are exact up to rounding.

A method that belongs to no identity, or whose sibling is wrong, is not protected by these.
"""

from typing import Any

import numpy as np

from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.card import Card
from certibit.theory.verdict import Verdict, largest

_UNLIKE = (
    "Two methods that the card calls identical at special parameters run differently: look at "
    "the step of either, and at the parameters in the card's identities."
)


def identities(card: Card, problem: Any, seed: int = 0) -> Verdict:
    """Check that every pair of a card runs alike, uncompressed; the value is the difference."""
    worst = 0.0
    for pair in card.identities:
        gaps = [
            simulate(
                Experiment.of(method, problem),
                seeds=[seed, seed + 1],
                budget=Budget(rounds=8, iterations=500),
                record=Record(every=1),
            ).columns["gap"]
            for method in pair(problem.plain.constants, problem.n)
        ]
        if gaps[0].shape != gaps[1].shape or not np.isfinite(gaps[0]).all():
            return Verdict("identities", np.inf, 1e-9, advice=_UNLIKE)
        worst = largest((worst, np.max(np.abs(gaps[0] - gaps[1])) / np.max(gaps[1])))
    return Verdict("identities", worst, 1e-9, advice=_UNLIKE)
