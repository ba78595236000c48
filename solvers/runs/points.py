"""Recorded points of runs, the budget at these points, and first rounds of accuracies between."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import zip_longest
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


def smoothness_of(problem: Problem) -> Constants | None:
    """Return the constants of a smooth problem, None for those of (L0, L1)-smooth ones."""
    constants = None if hasattr(problem, "relaxed") else problem.constants
    return constants if isinstance(constants, Constants) else None


@dataclass(frozen=True)
class RunPoint:
    """Some runs, each at an iteration, before anybody has looked at them.

    The models (1, d, R), what is spent and the Lyapunov function are those of all runs, on their
    device; the runs are at ``positions`` among them.
    """

    iteration: NDArray[np.int64]
    runs: NDArray[np.intp]
    positions: NDArray[np.intp]
    rounds: NDArray[np.int64]
    x: Array
    spent: Mapping[str, Array]
    lyapunov: Array

    def among(self, some: NDArray[Any]) -> "RunPoint":
        """Leave out the other runs."""
        return replace(
            self,
            iteration=self.iteration[some],
            runs=self.runs[some],
            positions=self.positions[some],
            rounds=self.rounds[some],
        )

    @property
    def fetched(self) -> "RunPoint":
        """The same without other runs, what is spent and the Lyapunov function on the host."""
        return replace(
            self,
            positions=np.arange(self.runs.size),
            x=taken(self.x, self.positions),
            spent={name: host(column)[self.runs] for name, column in self.spent.items()},
            lyapunov=host(self.lyapunov)[self.positions],
        )


def _together(points: Sequence[RunPoint]) -> RunPoint:
    """Return what was fetched of several points as one."""
    first, each = points[0], [vars(point) for point in points]
    joined: Any = {
        name: np.concatenate([one[name] for one in each])
        for name in ("iteration", "runs", "rounds", "lyapunov")
    }
    return RunPoint(
        **joined,
        positions=np.arange(joined["runs"].size),
        x=array_namespace(first.x).concat([point.x for point in points], axis=2),
        spent={
            name: np.concatenate([point.spent[name] for point in points]) for name in first.spent
        },
    )


class Passages:
    """The rounds between recorded points, which are evaluated only where a level may be reached.

    Between two levels nothing is recorded. With a point z that was evaluated, f(x) - f* is at
    least f(z) - f* + <grad f(z), x - z> - (nu/2) |x - z|^2, where f + (nu/2) |.|^2 is convex, and
    |grad f(x)| at least |grad f(z)| - L_f |x - z|: where this is above the next level, no value is
    computed. If no such constant is known, all are. All runs are evaluated together.

    Parameters
    ----------
    measure : str
        What has to reach the levels.
    levels : (K,) array
        Increasing.
    d, runs : int
        Features, and runs.
    """

    def __init__(self, measure: str, levels: NDArray[np.float64], d: int, runs: int) -> None:
        self.measure, self.levels = measure, levels
        self._held: list[RunPoint] = []
        self._near: dict[int, list[tuple[RunPoint, float]]] = {}
        self._x = np.full((d, runs), np.nan)  # the z of every run, with its measure and gradient
        self._gradient = self._x.copy()
        self._value = np.full(runs, np.nan)

    def hold(self, point: RunPoint) -> None:
        """Hold the models of some runs after a round."""
        self._held.append(point)

    @property
    def is_full(self) -> bool:
        """Whether so much is held that it is to be looked at."""
        return sum(point.x.shape[1] * point.x.shape[2] for point in self._held) > _HELD

    def reached(self, measure: Any) -> Any:
        """Return how many of the levels a measure has reached; none if it is not a number."""
        return self.levels.size - np.searchsorted(self.levels, measure)

    def evaluate(
        self, before: Column, lowest: Column, places: NDArray[np.intp], problem: Problem
    ) -> None:
        """Find the rounds in which runs may have reached a level, among those that are held.

        Parameters
        ----------
        before : (R,) array
            Of every run, the round before which this is done.
        lowest : (R,) array
            The least measure of every run before.
        places : (R,) array
            Where the runs are in the problem; -1 where they are no more, and nothing is found.
        problem : Problem
            The problem of the active runs.
        """
        parts, held = [], list[RunPoint]()
        for point in self._held:
            due = point.rounds < before[point.runs]
            asked = due & (places[point.runs] >= 0)
            if asked.any():
                parts.append(point.among(asked))
            if not due.all():
                held.append(point.among(~due) if due.any() else point)
        self._held = held
        if not parts:
            return
        X = np.concatenate([host(part.x)[0][:, part.positions] for part in parts], axis=1)
        runs, like_of = np.concatenate([part.runs for part in parts]), parts[0].x
        levels = self.levels[np.searchsorted(self.levels, lowest[runs]) - 1]
        columns = np.flatnonzero(self._bound(X, runs, problem) <= levels)
        if columns.size:
            some = np.unique(runs[columns])
            last = X.shape[1] - 1 - np.array([np.argmax(runs[::-1] == run) for run in some])
            own = narrow(problem, places[some])
            self._x[:, some] = X[:, last]
            self._value[some] = self._measured(X[:, last], own, like_of)
            x = like(like_of, np.ascontiguousarray(X[None][:, :, last]))
            self._gradient[:, some] = host(whole_gradient(own, x))[0]
            bound = self._bound(X[:, columns], runs[columns], problem)
            columns = columns[bound <= levels[columns]]
        ends = np.cumsum([part.runs.size for part in parts])
        width = max(_AT_ONCE, like_of.shape[2])
        for first in range(0, columns.size, width):
            some = columns[first : first + width]
            own = narrow(problem, places[runs[some]])
            for column, measure in zip(some, self._measured(X[:, some], own, like_of), strict=True):
                part = int(np.searchsorted(ends, column, side="right"))
                within = np.array([column - ends[part] + parts[part].runs.size])
                near = self._near.setdefault(int(runs[column]), [])
                near.append((parts[part].among(within), float(measure)))

    def of(self, run: int, before: float, lowest: float) -> list[RunPoint]:
        """Return where a run has first reached a level, before a round: what is recorded there."""
        near, found, aim = self._near.pop(run, []), [], self.reached(lowest)
        later = [one for one in near if one[0].rounds[0] >= before]
        if later:
            self._near[run] = later
        for point, measure in near[: len(near) - len(later)]:
            if self.reached(measure) > aim:
                aim = self.reached(measure)
                found.append(point)
        return found

    def _measured(self, X: NDArray[np.float64], problem: Problem, like_of: Array) -> Any:
        x = like(like_of, np.ascontiguousarray(X)[None])
        if self.measure == "gap":
            return host(problem.gap(x))
        return host(squared_norm(whole_gradient(problem, x)))[0, 0]

    def _bound(self, X: NDArray[np.float64], runs: NDArray[np.intp], problem: Problem) -> Any:
        """Return a lower bound of the measure at models (d, K) of some runs, (K,)."""
        constants = smoothness_of(problem)
        if constants is None:
            return np.full(runs.size, -np.inf)
        way, value = X - self._x[:, runs], self._value[runs]
        squares = np.sum(way * way, axis=0)
        if self.measure == "gap":
            slope = np.sum(self._gradient[:, runs] * way, axis=0)
            bend = min(constants.mu, 0.0) / 2 * squares
            bound = value + slope + bend
            bound -= _ROUNDING * (abs(value) + np.abs(slope) + np.abs(bend))
        else:
            L = constants.L_f + constants.ridge
            least = np.sqrt(value) - (1 + _ROUNDING) * L * np.sqrt(squares)
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


class Points:
    """The recorded points of runs and the ends of runs.

    On the host every point is evaluated at once. On a device points are queued and evaluated
    together, so that the host need not wait for the device in every iteration.
    """

    def __init__(self, now: Carried, wishes: Wishes, started: float) -> None:
        self.now, self._wishes, self._started = now, wishes, started
        self.closed = now.done >= 1  # their last point is kept, or recorded
        self._kept: list[RunPoint] = []
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
            levels = np.unique([*POWERS, *asked])
            self._passages = Passages(budget.measure, levels, problem.d, self.now.done.size)

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
        now, others, self._others = self.now, self._others, self._others[:0]
        if others.size and self._passages:
            point = self._point(others, method.model(now.state), self._no_lyapunov)
            if self._on_host:  # where the state is written to
                here, x = np.arange(others.size), taken(point.x, others)
                point = replace(point, positions=here, x=x)
            self._passages.hold(point)
            if self._passages.is_full:
                self.settle(method, problem)
        if positions.size:
            lyapunov = self._lyapunov(positions, method, problem)
            point = self._point(positions, method.model(copied(now.state)), lyapunov)
            self._kept.append(point)
            now.due[point.runs] = self._wishes.record.following(point.rounds)

    def _point(self, positions: NDArray[np.intp], x: Array, lyapunov: Array) -> RunPoint:
        """Return some of the active runs as they are now."""
        now, runs = self.now, self.now.active[positions]
        places = now.iteration[runs], runs, positions, now.rounds[runs]
        return RunPoint(*places, x, now.ledger.spent, lyapunov)

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
        if self._kept:
            runs, rounds = (
                np.concatenate([getattr(point, name) for point in self._kept])
                for name in ("runs", "rounds")
            )
            self._evaluate(runs, rounds, problem)
        for point in self._kept:
            self._pass(point.runs, point.rounds, problem)
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
            runs = np.arange(self.now.done.size)
            rounds = np.full(runs.size, np.inf)
            self._evaluate(runs, rounds, problem)
            self._pass(runs, rounds, problem)
            self.closed |= self.now.done >= 1

    @property
    def _places(self) -> NDArray[np.intp]:
        """Where each run is among the active ones, -1 where it is not or has ended, (R,)."""
        places = np.full(self.now.done.size, -1)
        places[self.now.active] = np.arange(self.now.active.size)
        places[self.now.done >= 1] = -1
        return places

    def _evaluate(self, runs: NDArray[np.intp], rounds: Column, problem: Problem) -> None:
        """Find where some runs, a round of each given, may have reached a level before."""
        if self._passages:
            before = np.full(self.now.done.size, -np.inf)
            np.maximum.at(before, runs, rounds)
            self._passages.evaluate(before, self.now.lowest_measure, self._places, problem)

    def _pass(self, runs: NDArray[np.intp], rounds: Column, problem: Problem) -> None:
        """Record where some runs have first reached a level before a round of each."""
        now, budget = self.now, self._wishes.budget
        if self._passages is None or not now.rows or now.rows[0]["lyapunov"].ndim > 1:
            return  # with several Lyapunov functions
        found = [
            self._passages.of(run, before, now.lowest_measure[run])
            for run, before in zip(runs.tolist(), rounds.tolist(), strict=True)
        ]
        for some in zip_longest(*found):
            points = [point for point in some if point and now.done[point.runs[0]] < 1]
            if not points:
                continue
            point = _together([point.fetched for point in points])
            row = self._row(point, narrow(problem, self._places[point.runs]))
            now.rows.append(row)
            now.lowest_measure[point.runs] = measure = row[budget.measure]
            self._stagnation(row)  # it is progress
            if budget.accuracy is not None:
                for run in point.runs[measure <= budget.accuracy]:
                    now.done[run], now.ending[run] = 1.0, budget.measure
                ended = measure <= budget.accuracy
                now.models[:, :, point.runs[ended]] = host(point.x)[:, :, ended]

    def _row(self, found: RunPoint, problem: Problem) -> dict[str, Column]:
        """Return the columns of some runs, of what was fetched of them."""
        x, spent, n = found.x, found.spent, problem.n
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
            "run": found.runs,
            "iteration": found.iteration,
            "rounds": found.rounds,
            "gradients": spent["gradients"] / n,
            "uplink_bits": spent["uplink_bits"] / n,
            "busiest_bits": spent["busiest_bits"],
            "downlink_bits": spent["downlink_bits"] / n,
            "gap": gap,
            "synchronisations": spent["synchronisations"],
            "distance": host(squared_norm(x - problem.x_star))[0, 0],
            "squared_gradient": slope,
            "lyapunov": found.lyapunov,
        }

    def _record(self, point: RunPoint, method: Method, problem: Problem) -> None:
        """Record runs as they were at a point, and say which of them have ended."""
        now, runs = self.now, point.runs
        budget, callback = self._wishes.budget, self._wishes.callback
        everyone = runs.size == now.active.size
        if not everyone:
            method, problem = narrow(method, point.positions), narrow(problem, point.positions)
        point = point.fetched
        row, x = self._row(point, problem), point.x
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

    @property
    def _no_lyapunov(self) -> Array:
        return np.full(self.now.active.size, np.nan)

    def _lyapunov(self, positions: NDArray[np.intp], method: Method, problem: Problem) -> Array:
        """Return the Lyapunov function of some of the active runs, NaN for others: (R,)."""
        potential, state = self._wishes.potential, self.now.state
        runs = self.now.active.size
        if potential is None:
            return self._no_lyapunov
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
