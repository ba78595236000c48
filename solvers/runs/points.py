"""Recorded points of runs, the budget at these points, and first rounds of accuracies between."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, is_numpy
from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem, smoothness_is_known
from certibit.solvers.backend import mean, squared_norm
from certibit.solvers.libraries import host, like
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import PROGRESS, Budget, Record
from certibit.solvers.runs.checkpoint import Carried
from certibit.solvers.runs.trace import Column, require_no_negative_gap
from certibit.solvers.state import copied, copy_of, narrow, take, taken

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


RecordedPotential = Callable[[Method, Any, Problem], Array]
"""Of a method, its state and the problem: values of one Lyapunov function, (R,), or K, (R, K)."""

Callback = Callable[[Mapping[str, Column]], bool]
"""Of the columns of a recorded point and the models ``x``, (1, d, R): whether these runs end."""

_POINTS, _LOOK = 64, 16
"""Points that are queued, and iterations, between two transfers from a device."""


@dataclass(frozen=True)
class Wishes:
    """Options of a run that do not change its iterates: see :func:`~certibit.run`."""

    budget: Budget
    record: Record
    potential: RecordedPotential | None
    callback: Callback | None
    gradients: bool = False
    """Whether |grad f|^2 is recorded."""
    catch_up: bool = False
    """Whether broadcasts are counted for clients that are away, too."""


@dataclass(frozen=True)
class _Point:
    """Some runs, each at an iteration, before anybody has looked at them.

    The models (1, d, R), what is spent and the Lyapunov function are those of all runs, on their
    device.
    """

    iteration: NDArray[np.int64]
    runs: NDArray[np.intp]
    positions: NDArray[np.intp]
    rounds: NDArray[np.int64]
    x: Array
    spent: Mapping[str, Array]
    lyapunov: Array

    def among(self, some: NDArray[np.bool_]) -> "_Point":
        """Leave out the other runs."""
        return replace(
            self,
            iteration=self.iteration[some],
            runs=self.runs[some],
            positions=self.positions[some],
            rounds=self.rounds[some],
        )


class Points:
    """The recorded points of runs and the ends of runs.

    On the host every point is evaluated at once. On a device points are queued and evaluated
    together, so that the host need not wait for the device in every iteration.
    """

    def __init__(self, now: Carried, wishes: Wishes, started: float) -> None:
        self.now, self._wishes, self._started = now, wishes, started
        self.closed = now.done >= 1  # their last point is kept, or recorded
        self._kept: list[_Point] = []
        self._on_host = is_numpy(now.ledger.uplink_bits)
        self._next_look = 0
        self._passages: Passages | None = None
        self._others = np.arange(0)

    def watch(self, problem: Problem) -> None:
        """Record also where runs first reach a power of ten or an accuracy that is asked for.

        There the Lyapunov function is not known. Where no constants are, it is not done unless the
        run aims at an accuracy.
        """
        wishes, budget = self._wishes, self._wishes.budget
        problem = narrow(problem, np.array([0]))
        asked = [*wishes.record.accuracies, *([budget.accuracy] if budget.accuracy else [])]
        known = asked or smoothness_of(problem)
        if known and smoothness_is_known(problem):
            self._passages = Passages(budget.measure, np.unique([*POWERS, *asked]))

    @property
    def none_kept(self) -> bool:
        """Whether all points have been evaluated."""
        return not self._kept

    @property
    def all_closed(self) -> bool:
        """Whether no run goes on."""
        return bool(self.closed[self.now.active].all())

    def recordable(self, talking: NDArray[np.bool_], n: int) -> NDArray[np.intp]:
        """Return the active runs to be recorded: those due, and those at the end of a budget.

        Only those that communicate and those after their last iteration are asked.
        """
        now, budget = self.now, self._wishes.budget
        ended = now.iteration[now.active] >= budget.iterations
        asked = np.flatnonzero((talking | ended) & ~self.closed[now.active])
        runs, over = now.active[asked], ended[asked]
        if budget.bits is not None:
            over |= now.ledger.reached("uplink_bits", runs, budget.bits * n)
        if budget.gradients is not None:
            over |= now.ledger.reached("gradients", runs, budget.gradients * n)
        if budget.rounds is not None:
            over |= now.rounds[runs] >= budget.rounds
        self.closed[runs[over]] = True
        due = over | (now.rounds[runs] >= now.due[runs])
        self._others = asked[~due] if self._passages else self._others
        return asked[due]

    def note(self, positions: NDArray[np.intp], method: Method, problem: Problem) -> None:
        """Keep what some of the active runs have now, to be recorded at the next look."""
        others, self._others = self._others, self._others[:0]
        if others.size and self._passages:
            now, x = self.now, method.model(self.now.state)
            runs, kept = (
                now.active[others],
                HeldRound(x.copy() if is_numpy(x) else x, now.ledger.spent),
            )
            self._passages.hold(runs, others, now.iteration[runs], now.rounds[runs], kept)
            if self._passages.is_full:
                self.settle(method, problem)
        if not positions.size:
            return
        now, runs = self.now, self.now.active[positions]
        point = _Point(
            now.iteration[runs],
            runs,
            positions,
            now.rounds[runs],
            method.model(copied(now.state)),
            now.ledger.spent,
            self._lyapunov(positions, method, problem),
        )
        self._kept.append(point)
        now.due[runs] = self._wishes.record.following(now.rounds[runs])

    def is_time(self) -> bool:
        """Whether queued points are evaluated now: on the host at once, on a device later."""
        return bool(self._kept) and (
            self._on_host
            or self._wishes.callback is not None
            or len(self._kept) >= _POINTS
            or self.now.iteration.max() >= self._next_look
            or self.all_closed
        )

    def look(self, method: Method, problem: Problem) -> None:
        """Record all points that are kept, and find which runs have ended."""
        for point in self._kept:
            self._pass(
                dict(zip(point.runs.tolist(), point.rounds.tolist(), strict=True)), method, problem
            )
            going = self.now.done[point.runs] < 1
            if going.any():
                self._record(point if going.all() else point.among(going), method, problem)
        self._kept.clear()
        self.closed = self.now.done >= 1
        if not self._on_host:
            furthest = int(self.now.iteration.max())
            self._next_look = max(furthest + _LOOK, int(1.02 * furthest))

    def settle(self, method: Method, problem: Problem) -> None:
        """Look at all rounds between recorded points that are held, as before a checkpoint."""
        if self._passages:
            self._pass(dict.fromkeys(self._passages.runs, np.inf), method, problem)
            self.closed |= self.now.done >= 1

    def _pass(self, before: Mapping[int, float], method: Method, problem: Problem) -> None:
        """Record where some runs have first reached a level before a round."""
        now, budget = self.now, self._wishes.budget
        one = bool(now.rows) and now.rows[0]["lyapunov"].ndim == 1  # not several functions
        passages = self._passages if one else None
        if passages is None:
            return
        for run, number in before.items():
            lowest = float(now.lowest_measure[run])
            for found in passages.of(run, lowest, number, problem):
                if now.done[run] >= 1:
                    break
                position = np.flatnonzero(now.active == run)
                own = narrow(problem, position)
                missing = np.full_like(now.rows[0]["lyapunov"][:1], np.nan)
                row = self._row(np.array([run]), found, missing, own)
                now.rows.append(row)
                now.lowest_measure[run] = row[budget.measure][0]
                self._stagnation(row)  # it is progress
                if budget.accuracy is not None and now.lowest_measure[run] <= budget.accuracy:
                    now.done[run], now.ending[run] = 1.0, budget.measure
                    now.models[:, :, run] = host(found["x"])[:, :, 0]

    def _row(
        self, runs: NDArray[np.intp], found: Mapping[str, Any], lyapunov: Column, problem: Problem
    ) -> dict[str, Column]:
        """Return the columns of some runs as they were found: x, iteration, rounds, spent."""
        x, spent, n = found["x"], found["spent"], problem.n
        if min(spent["uplink_bits"].min(), spent["downlink_bits"].min()) < 0:
            raise Refusal(
                "bits are negative after a mask that the channel did not draw, whose positions are "
                "not counted on a device; choose the library numpy"
            )
        gap = host(problem.gap(x))
        if (gap < 0).any():
            require_no_negative_gap(gap, str(gap.dtype), abs(float(problem.f_star)))
        slope = np.full(x.shape[2], np.nan)
        if self._wishes.gradients:
            slope = host(squared_norm(whole_gradient(problem, x)))[0, 0]
        return {
            "run": runs,
            "iteration": found["iteration"],
            "rounds": found["rounds"],
            "gradients": spent["gradients"] / n,
            "uplink_bits": spent["uplink_bits"] / n,
            "busiest_bits": spent["busiest_bits"],
            "downlink_bits": spent["downlink_bits"] / n,
            "gap": gap,
            "synchronisations": spent["synchronisations"],
            "distance": host(squared_norm(x - problem.x_star))[0, 0],
            "squared_gradient": slope,
            "lyapunov": lyapunov,
        }

    def _record(self, point: _Point, method: Method, problem: Problem) -> None:
        """Record runs as they were at a point, and say which of them have ended."""
        now, runs = self.now, point.runs
        budget, callback = self._wishes.budget, self._wishes.callback
        everyone = runs.size == now.active.size
        if not everyone:
            method, problem = narrow(method, point.positions), narrow(problem, point.positions)
        x = point.x if everyone else taken(point.x, point.positions)
        spent = {name: host(column)[runs] for name, column in point.spent.items()}
        found = {"x": x, "iteration": point.iteration, "rounds": point.rounds, "spent": spent}
        row = self._row(runs, found, host(point.lyapunov)[point.positions], problem)
        gap = row["gap"]
        now.rows.append(row)
        if not point.iteration.any():
            first = row[budget.measure]
            now.first_measure[:] = now.best_measure[:] = now.lowest_measure[:] = first
        now.lowest_measure[runs] = np.fmin(now.lowest_measure[runs], row[budget.measure])
        budget.require_traffic(row)
        clock = np.full(runs.size, time.perf_counter() - self._started)
        used = {"stagnated": self._stagnation(row)}
        used |= budget.used(row | {"elapsed": clock}, now.first_measure[runs])
        used["diverged"] = 1.0 - np.isfinite(gap)
        if callback is not None and callback(row | {"x": copy_of(x)}):
            used["callback"] = np.ones(runs.size)
        now.done[runs] = done = reduce(np.maximum, used.values())
        ended = done >= 1
        if ended.any():
            now.models[:, :, runs[ended]] = host(x)[:, :, ended]
            for ending, fraction in used.items():
                for run in runs[fraction >= 1]:
                    now.ending[run] = ending

    def _stagnation(self, row: Mapping[str, Column]) -> NDArray[np.float64]:
        """Note which runs of a point make progress; return how near others are to being given up.

        An array with one number per run of the point, 1 and more where a run stagnates.
        """
        now, runs, measure = self.now, row["run"], row[self._wishes.budget.measure]
        work = np.fmax(row["iteration"], row["gradients"])
        progress = measure <= (1 - PROGRESS) * now.best_measure[runs]
        now.best_measure[runs[progress]] = measure[progress]
        now.since[runs[progress]] = work[progress]
        return self._wishes.budget.stagnation(work, now.since[runs])

    def _lyapunov(self, positions: NDArray[np.intp], method: Method, problem: Problem) -> Array:
        """Return the Lyapunov function of some of the active runs, NaN for others: (R,)."""
        potential, state = self._wishes.potential, self.now.state
        runs = self.now.active.size
        if potential is None:
            return np.full(runs, np.nan)
        if positions.size == runs or not self._on_host:
            return _by_run(potential(method, state, problem))
        some = take(state, positions)
        values = _by_run(potential(narrow(method, positions), some, narrow(problem, positions)))
        missing = np.full((runs, *values.shape[1:]), np.nan)
        missing[positions] = values
        return missing


def _by_run(values: Array) -> Array:
    """Return what a potential gives, (R,) or (1, 1, R), as (R,); and of K potentials (R, K)."""
    return values if values.ndim == 2 else array_namespace(values).reshape(values, (-1,))
