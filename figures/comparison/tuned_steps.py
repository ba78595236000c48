"""Step sizes and thresholds of methods, tuned over one grid at equal cost."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.figures.comparison.contestants import Contestant
from certibit.figures.costs import costs_to
from certibit.solvers.runs.grid import Grid, StepGrid
from certibit.solvers.runs.trace import Trace
from certibit.theory.card import Card

_CRITERIA = ("bits", "gradients")


@dataclass(frozen=True)
class TunedSteps:
    """The pair of a method that is the best of a grid; tau is infinite without a threshold."""

    eta: float
    tau: float
    edges: dict[str, str]

    @property
    def described(self) -> str:
        """The pair, and where it lies on the edge of the grid."""
        pair = f"eta = {self.eta:g}" + (f", tau = {self.tau:g}" if self.tau < math.inf else "")
        on = " and ".join(f"{name} is the {which}" for name, which in self.edges.items())
        return f"{pair}; {on} of the grid, so a wider one may have a better pair" if on else pair


Jobs = Sequence[tuple[Contestant, int | Sequence[int]]]
"""Contestants, each with its seeds or their number."""


def tuned(
    taking_part: Sequence[Contestant],
    steps: StepGrid,
    seeds: Sequence[int],
    target: float,
    run: Callable[[Jobs], Sequence[Trace]],
) -> tuple[tuple[Contestant, ...], tuple[TunedSteps, ...]]:
    """Return contestants with the best pair of a grid each, and these pairs.

    It is the pair that reaches a target with the fewest bits in the median run; of those with
    equally many, as on one machine, that with the fewest gradients; of those that do not reach it,
    the one that is nearest to it at the end. Of pairs that are equal in all this one inside the
    grid is taken.

    Raises
    ------
    Refusal
        If a method has no step size, or a threshold and the grid has none.
    """
    grids = [_grid(one.card, steps, len(seeds)) for one in taking_part]
    jobs = [
        (_with_steps(one, grid["eta"], grid["tau"]), (*seeds,) * math.prod(grid.shape[:-1]))
        for one, grid in zip(taking_part, grids, strict=True)
    ]
    best = tuple(_best(*pair, steps, target) for pair in zip(grids, run(jobs), strict=True))
    pairs = zip(taking_part, best, strict=True)
    return tuple(_with_steps(one, pair.eta, pair.tau) for one, pair in pairs), best


def _grid(card: Card, steps: StepGrid, seeds: int) -> Grid:
    if card.threshold and not steps.taus:
        raise Refusal(
            f"{card.name} has a threshold, and the grid of step sizes has none; give both, such as "
            "eta=0.1,0.01:tau=5,10"
        )
    return steps.runs(bool(card.threshold), seeds)


def _with_steps(contestant: Contestant, eta: Any, tau: Any) -> Contestant:
    experiment = contestant.experiment
    method: Any = replace(experiment.method, **contestant.card.steps(eta, tau))
    return replace(contestant, experiment=replace(experiment, method=method))


def _best(grid: Grid, trace: Trace, steps: StepGrid, target: float) -> TunedSteps:
    end = np.where(np.array(trace.ending) == "diverged", np.inf, trace.final(trace.measure))
    values = [*(costs_to(trace, target, by, 0.0) for by in _CRITERIA), end]
    scores = [np.median(grid.table(np.nan_to_num(x, nan=np.inf)), axis=-1) for x in values]
    pairs = [[(eta, tau) for tau in grid.axes["tau"]] for eta in steps.etas]
    scores.append(np.array([[len(steps.edges(*pair)) for pair in row] for row in pairs]))
    eta, tau = steps.best(*scores)
    return TunedSteps(*pairs[eta][tau], steps.edges(*pairs[eta][tau]))
