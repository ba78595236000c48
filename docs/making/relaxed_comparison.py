"""The methods for (L0, L1)-smooth problems beside each other, each at the best of a grid."""

from typing import Any

import numpy as np

from certibit import Budget, Method, compare, compressor
from certibit.data.relaxed.polynomials import PhaseRetrieval
from certibit.figures.comparison.comparison_result import Comparison
from certibit.figures.costs import costs_to
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.grid import Grid
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.card import Card, Role
from certibit.theory.catalogue.catalogue import CLIPPING

TARGET = 1e-3
ETAS = tuple(np.geomspace(1e-3, 1, 13).tolist())
TAUS = tuple(np.geomspace(0.1, 100, 7).tolist())
"""Step sizes and thresholds of the grid."""
_LOCAL_STEPS, _ROUNDS = 4, 500
_SENT = {"unbiased": "rand-k:2", "contractive": "top-k:2"}


def relaxed_comparison() -> Comparison:
    """Compare them on phase retrieval, with the pair of the grid that needs the fewest bits.

    Of pairs that need equally many, as on one machine, it is the one with the fewest gradients.
    """
    solved = PhaseRetrieval.random(n=6, m=40, d=10)
    entries = []
    for card in CLIPPING.values():
        kind = _SENT.get(card.method.needs.compressor or "")
        sent = compressor(kind) if kind else None
        entries.append((_best(card, solved, sent), sent))
    return compare(
        solved, entries, target=TARGET, seeds=1, budget=Budget(rounds=_ROUNDS), measure="gap"
    )


def _best(card: Card, solved: Any, sent: Compressor | None) -> Method:
    grid = Grid({"eta": ETAS, "tau": TAUS})
    trace = simulate(
        Experiment.of(_made(card, grid["eta"], grid["tau"]), solved, sent),
        seeds=grid.runs,
        budget=Budget(gap=TARGET, rounds=_ROUNDS),
    )
    costs = [costs_to(trace, TARGET, by, 0.0) for by in ("gradients", "bits")]
    place = np.lexsort(np.nan_to_num(costs, nan=np.inf))[0]
    return _made(card, *(float(grid[name][0, 0, place]) for name in ("eta", "tau")))


def _made(card: Card, eta: Any, tau: Any) -> Method:
    """Return the method with a step size and a threshold, which not every method has."""
    if card.tunings:
        return card.tunings[0].make(eta, tau, _LOCAL_STEPS, None)
    values = {name: eta if role is Role.STEP_SIZE else tau for name, role in card.roles.items()}
    return card.method(**values)
