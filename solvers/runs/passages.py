"""The first rounds at which runs reach accuracies, between two recorded points."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.problem import Constants, Problem
from certibit.solvers.backend import mean, squared_norm
from certibit.solvers.libraries import host, like
from certibit.solvers.state import narrow

POWERS = tuple(float(f"1e{exponent}") for exponent in range(-30, 31))
_AT_ONCE = 16
_HELD = 1 << 22
"""Numbers of the models that are held."""
_ROUNDING = 1e-9

Spent = Mapping[str, Array]


def smoothness_of(problem: Problem) -> Constants | None:
    """Return the constants of a smooth problem, None for those of (L0, L1)-smooth ones."""
    constants = None if hasattr(problem, "relaxed") else problem.constants
    return constants if isinstance(constants, Constants) else None


@dataclass(frozen=True)
class HeldRound:
    """All runs after a round, before anybody has looked at them: models (1, d, R)."""

    x: Array
    spent: Spent


@dataclass
class _Reference:
    """A point (d, 1) with its measure and the gradient of f + g there, which bound others."""

    x: NDArray[np.float64]
    gradient: NDArray[np.float64]
    measure: float


@dataclass
class Passages:
    """The rounds between recorded points, which are evaluated only where a level may be reached.

    Between two levels nothing is recorded. With a point z that was evaluated, f(x) - f* is at
    least f(z) - f* + <grad f(z), x - z> - (nu/2) |x - z|^2, where f + (nu/2) |.|^2 is convex, and
    |grad f(x)| at least |grad f(z)| - L_f |x - z|: where this is above the next level, no value is
    computed. If no such constant is known, all are.
    """

    measure: str
    levels: NDArray[np.float64]
    _held: dict[int, list[tuple[HeldRound, int, int, int]]] = field(default_factory=dict)
    _references: dict[int, _Reference] = field(default_factory=dict)
    _numbers: int = 0

    def hold(
        self,
        runs: NDArray[np.intp],
        positions: NDArray[np.intp],
        iteration: NDArray[np.int64],
        rounds: NDArray[np.int64],
        state: HeldRound,
    ) -> None:
        """Hold the models of some runs after a round, by their positions among the active."""
        self._numbers += int(np.prod(state.x.shape))
        for run, *where in zip(runs.tolist(), positions.tolist(), iteration, rounds, strict=True):
            self._held.setdefault(run, []).append((state, *where))

    @property
    def is_full(self) -> bool:
        """Whether so much is held that it is to be looked at."""
        return self._numbers > _HELD

    @property
    def runs(self) -> list[int]:
        """The runs of which something is held."""
        return list(self._held)

    def reached(self, measure: Any) -> Any:
        """Return how many of the levels a measure has reached; none if it is not a number."""
        return self.levels.size - np.searchsorted(self.levels, measure)

    def of(self, run: int, lowest: float, before: float, problem: Problem) -> list[dict[str, Any]]:
        """Return where a run has first reached a level, before a round: what is recorded there.

        Parameters
        ----------
        run : int
            Its position among all.
        lowest : float
            The least measure before.
        before : float
            What is held of this round, and later ones, stays.
        problem : Problem
            The problem of the active runs.
        """
        held = self._held.pop(run, [])
        later = [one for one in held if one[3] >= before]
        if later:
            self._held[run] = later
        held = held[: len(held) - len(later)]
        if not held:
            return []
        self._numbers -= sum(int(np.prod(one[0].x.shape)) // one[0].x.shape[2] for one in held)
        own = narrow(problem, np.array([held[0][1]]))
        X = np.stack([host(state.x)[0, :, position] for state, position, *_ in held], axis=1)
        found, aim = [], self.reached(lowest)
        for place, measure in self._below(run, X, lowest, own, like_of=held[0][0].x):
            if self.reached(measure) > aim:
                aim = self.reached(measure)
                state, _, iteration, number = held[place]
                spent = {name: host(column)[[run]] for name, column in state.spent.items()}
                found.append(
                    {
                        "x": like(state.x, X[None, :, [place]]),
                        "iteration": np.array([iteration]),
                        "rounds": np.array([number]),
                        "spent": spent,
                    }
                )
        return found

    def _below(
        self, run: int, X: NDArray[np.float64], lowest: float, problem: Problem, like_of: Array
    ) -> Iterator[tuple[int, float]]:
        """Yield place and measure of the models (d, K) that may be below the next level."""
        next_level = self.levels[np.searchsorted(self.levels, lowest) - 1]
        places = np.arange(X.shape[1])
        if run in self._references:
            places = places[self._bound(self._references[run], X, problem) <= next_level]
        if places.size:
            self._references[run] = last = self._reference(X[:, -1:], problem, like_of)
            places = places[self._bound(last, X[:, places], problem) <= next_level]
        for first in range(0, places.size, _AT_ONCE):
            some = places[first : first + _AT_ONCE]
            yield from zip(some, self._measured(X[:, some], problem, like_of), strict=True)

    def _measured(self, X: NDArray[np.float64], problem: Problem, like_of: Array) -> Any:
        x = like(like_of, np.ascontiguousarray(X)[None])
        if self.measure == "gap":
            return host(problem.gap(x))
        return host(squared_norm(whole_gradient(problem, x)))[0, 0]

    def _reference(self, X: NDArray[np.float64], problem: Problem, like_of: Array) -> _Reference:
        gradient = host(whole_gradient(problem, like(like_of, np.ascontiguousarray(X)[None])))[0]
        measure = float(self._measured(X, problem, like_of)[0])
        return _Reference(X, gradient, measure)

    def _bound(self, z: _Reference, X: NDArray[np.float64], problem: Problem) -> Any:
        """Return a lower bound of the measure at models (d, K), (K,)."""
        constants, way = smoothness_of(problem), X - z.x
        if constants is None:
            return np.full(X.shape[1], -np.inf)
        squares = np.sum(way * way, axis=0)
        if self.measure == "gap":
            slope = np.sum(z.gradient * way, axis=0)
            bend = min(constants.mu, 0.0) / 2 * squares
            bound = z.measure + slope + bend
            bound -= _ROUNDING * (abs(z.measure) + np.abs(slope) + np.abs(bend))
        else:
            L = constants.L_f + constants.ridge
            least = np.sqrt(z.measure) - (1 + _ROUNDING) * L * np.sqrt(squares)
            bound = (1 - _ROUNDING) * np.maximum(least, 0.0) ** 2
        return np.where(np.isnan(bound), -np.inf, bound)


def whole_gradient(problem: Problem, x: Array) -> Array:
    """Return the gradient of f + g at shared points, (1, d, R)."""
    return mean(problem.grad(x)) + problem.grad_g(x)
