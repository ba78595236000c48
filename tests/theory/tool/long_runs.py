"""Whole runs as a user gets them, compared with plain ones, at sizes where accelerations apply.

A user's run is compiled from some number of entries on. A plain run calls the functions of the
method one iteration after the other, on numpy arrays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.problem import is_strongly_convex, smoothness_is_known
from certibit.solvers.backend import mean
from certibit.solvers.method import Every, Method
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.points import RecordedPotential
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.verdict import Verdict, worst_of

_FEW, _PAYS, _MOST_RUNS = 2, 5, 1024
_LARGE = 1 << 14
"""Entries of vectors (n, d, R) from which on runs are compiled."""
_LEAST, _WORK, _WORK_OF_FEW, _WORK_OF_LONG = 6, 1_500_000, 4_000_000, 40_000_000
"""Iterations at least, and numbers of vectors (n, d, R) in all of their gradients at most."""
_MANY, _ROUNDS = 100, 300
"""Iterations that are compared, and rounds of long runs."""

_RELATIVE, _OF_ROOT, _OF_LARGEST = 1e-9, 1e-12, 1e-24
"""Rounding errors that a number may have: shares of it, of its root times that of the largest, of
that.

A quantity that is quadratic in x - x* changes by its root times the rounding error of x.
"""
_CONVERGED, _NONE = 1e-20, 1e-18
"""Shares of the largest from which on a run has converged, and a number may as well be 0."""
_MOVED, _ALLOWED, _LOST = 1e-12, 1e3, 1e-3
"""Rounding is seen from a start that is moved so little: so many times what this changes is
allowed, and where it changes this share of a number, nothing can be compared any more."""

_COUNTED = ("rounds", "gradients", "uplink_bits", "downlink_bits", "synchronisations")
_MEASURED = ("gap", "distance", "squared_gradient", "lyapunov")

Rows = dict[str, NDArray[np.float64]]
"""Columns of a trace, (points, R) each."""
Found = list[tuple[float, str]]


def runs_as_plain(
    experiment: ConvexExperiment, seed: int = 0, potential: RecordedPotential | None = None
) -> Verdict:
    """Check that whole runs are what the functions of the method do, and cost what these cost.

    All columns are compared in both directions, at the points that are recorded by default, and at
    the end of runs that are recorded there only: two runs, over some hundred iterations. Numbers
    that rounding dominates, such as those of converged runs, are not compared; their bits and
    rounds are.

    Parameters
    ----------
    experiment, seed
        What is run, and the first seed.
    potential : callable, optional
        The Lyapunov function that is recorded; by default, the sum of the squares of the whole
        state.
    """
    runs = _few(experiment)
    iterations = max(_LEAST, min(_MANY, _WORK_OF_FEW // (_work(experiment) * runs)))
    sizes = [(runs, iterations)]
    return _held("runs as plain ones", experiment, seed, sizes, potential or _all_squares)


def long_and_many_runs_as_plain(experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check the same for many runs, and for 300 rounds.

    None if both are too much work.
    """
    size, work, few = experiment.n * experiment.d, _work(experiment), _few(experiment)
    many = max(-(-_LARGE // size), _PAYS)
    sizes = [(many, min(_MANY, _WORK // (work * many)))] if many <= _MOST_RUNS else []
    long = math.ceil(_ROUNDS / max(_share_of_rounds(experiment), 1e-300))
    sizes.append((few, min(long, _WORK_OF_LONG // (work * few))))
    possible = [(runs, iterations) for runs, iterations in sizes if iterations >= _LEAST]
    name = "long and many runs as plain ones"
    return _held(name, experiment, seed, possible, _all_squares) if possible else None


def _held(
    name: str,
    experiment: ConvexExperiment,
    seed: int,
    sizes: Sequence[tuple[int, int]],
    potential: RecordedPotential,
) -> Verdict:
    """Hold so many runs of so many iterations against plain ones."""
    found: Found = []
    with use_extensions("always"):
        for runs, iterations in sizes:
            found += _compared(experiment, range(seed, seed + runs), iterations, potential)
    worst, what = worst_of(found)
    advice = f"{what}: look at compiled gradients and messages, and at the costs that are counted."
    longest = max(iterations for _, iterations in sizes)
    return Verdict(name, worst, 1.0, f"{longest} iterations", advice)


def _few(experiment: ConvexExperiment) -> int:
    """Return two runs, or one where two have vectors that are large."""
    return _FEW if _FEW * experiment.n * experiment.d < _LARGE else 1


def _work(experiment: ConvexExperiment) -> int:
    """Return how many numbers the gradients of one iteration of one run have.

    Of a network, whose constants are not known, every one takes each example.
    """
    method, problem = experiment.method, experiment.problem
    several = method.steps_of_a_round
    gradients = 1 + (getattr(method, several) if several else 0)
    examples = 1 if smoothness_is_known(problem) else getattr(problem, "m", 1)
    return experiment.n * experiment.d * gradients * examples


def _share_of_rounds(experiment: ConvexExperiment) -> float:
    """Return the share of the iterations that are rounds."""
    schedule = experiment.method.schedule
    return 1 / schedule.iterations if isinstance(schedule, Every) else float(np.min(schedule.p))


def _all_squares(method: Method, state: Any, problem: Any) -> Array:
    """Return the sum of the squares of all numbers of a state, (R,)."""
    fields = [np.asarray(x, dtype=float) for x in vars(state).values()]
    return np.sum([np.einsum("idr,idr->r", x, x) for x in fields], axis=0)


def _compared(
    experiment: ConvexExperiment,
    seeds: Sequence[int],
    iterations: int,
    potential: RecordedPotential,
) -> Found:
    """Return how far runs are from plain ones, as shares of what is allowed, and where."""
    budget, found = Budget(iterations=iterations), Found()
    traces = [
        simulate(
            experiment, seeds=seeds, budget=budget, record=record, potential=potential,
            library="numpy",
        )
        for record in (Record(), Record(ratio=1, every=iterations))
    ]  # fmt: skip
    points = np.unique(np.concatenate([trace.columns["iteration"] for trace in traces]))
    groups = [[seed] for seed in seeds] if len(seeds) <= _FEW else [list(seeds)]
    plain = [_Plain.of(experiment, group, points, potential) for group in groups]
    for name in (*_COUNTED, *_MEASURED):
        right, allowed = (
            np.concatenate([getattr(group, kind)[name] for group in plain], axis=1)
            for kind in ("rows", "allowed")
        )
        for trace in traces:
            columns = trace.columns
            place = np.searchsorted(points, columns["iteration"]), columns["run"]
            said, true = columns[name], right[place]
            with np.errstate(invalid="ignore", divide="ignore"):
                off = np.where(said == true, 0.0, abs(said - true) / allowed[place])
            off[np.isnan(said) & np.isnan(true)] = 0.0
            off[~np.isfinite(true) & ~np.isfinite(said)] = 0.0
            if name == "lyapunov" and len(said) > 1 and np.isfinite(said[0]):
                off[np.isnan(said) & np.isfinite(columns["gap"])] = 0.0  # an accuracy is reached
            worst = int(np.argmax(np.nan_to_num(off, nan=np.inf)))
            text = (
                f"at iteration {columns['iteration'][worst]} of run {columns['run'][worst] + 1} of "
                f"{len(seeds)} the trace says {name} = {said[worst]:.8g}, and a plain run "
                f"{true[worst]:.8g}"
            )
            found.append((float(off[worst]), text))
    for trace in traces:
        short = [
            (run, end) for run, end in enumerate(trace.final("iteration"))
            if trace.ending[run] == "iterations" and end != iterations
        ]  # fmt: skip
        found += [(np.inf, f"run {run + 1} ends at iteration {end:g}") for run, end in short]
    return found


@dataclass(frozen=True)
class _Plain:
    """The columns of plain runs, and what other runs may be off."""

    rows: Rows
    allowed: Rows

    @classmethod
    def of(
        cls,
        experiment: ConvexExperiment,
        seeds: Sequence[int],
        points: NDArray[np.int64],
        potential: RecordedPotential,
    ) -> "_Plain":
        """Run so many seeds, and the first one again with its start moved."""
        rows = _plain_rows(experiment, [*seeds, seeds[0]], points, potential)
        moved = {name: column[:, -1:] for name, column in rows.items()}
        rows = {name: column[:, :-1] for name, column in rows.items()}
        allowed: Rows = {}
        lost = np.zeros(rows["gap"].shape, dtype=bool)
        with np.errstate(invalid="ignore"):
            for name in _MEASURED:
                plain, change = abs(rows[name]), abs(moved[name] - rows[name][:, :1])
                largest = np.max(plain, axis=0, initial=0.0, where=np.isfinite(plain))
                allowed[name] = (
                    _RELATIVE * plain
                    + _OF_ROOT * np.sqrt(plain * largest)
                    + _OF_LARGEST * largest
                    + _ALLOWED * np.nan_to_num(change, posinf=0.0)
                )
                lost |= change > _LOST * (plain + _NONE * largest)[:, :1]
                if name in ("gap", "distance"):
                    lost |= plain < _CONVERGED * largest
        lost = np.logical_or.accumulate(lost, axis=0)
        allowed["gap"] += _RELATIVE**2 * 1e4 * abs(experiment.problem.f_star)
        for name in _MEASURED:
            allowed[name][lost] = np.inf
        for name in _COUNTED:
            other = np.logical_or.accumulate(moved[name] != rows[name][:, :1], axis=0)
            unknown = lost | other if name == "gradients" else other | np.zeros_like(lost)
            allowed[name] = np.where(unknown, np.inf, _RELATIVE * abs(rows[name]) + 1e-300)
        return cls(rows, allowed)


def _plain_rows(
    experiment: ConvexExperiment,
    seeds: Sequence[int],
    points: NDArray[np.int64],
    potential: RecordedPotential,
) -> Rows:
    """Return the columns of plain runs at some iterations; the start of the last is moved."""
    method, problem, n = experiment.method, experiment.problem, experiment.n
    channel, oracle = simulated_world(experiment, seeds)
    template = np.array(channel.template)
    away = template[:, :, -1] - problem.x_star[:, :, 0]
    template[:, :, -1] += _MOVED * np.nan_to_num(away, nan=1.0)
    state = method.start(template, oracle, channel)
    rounds = np.zeros(len(seeds))
    rows = []
    for iteration in range(int(points[-1]) + 1):
        if iteration:
            state, talking = advance(method, state, oracle, channel, iteration)
            rounds += talking
        if iteration in points:
            x, spent = method.model(state), channel.ledger.spent
            gradient = np.full(len(seeds), np.nan)
            if not (method.needs.strongly_convex and is_strongly_convex(problem)):
                gradient = np.sum(mean(problem.grad(x)) ** 2, axis=(0, 1))
            rows.append(
                {
                    "rounds": rounds.copy(),
                    "gradients": spent["gradients"] / n,
                    "uplink_bits": spent["uplink_bits"] / n,
                    "downlink_bits": spent["downlink_bits"] / n,
                    "synchronisations": spent["synchronisations"],
                    "gap": problem.gap(x),
                    "distance": np.sum((x - problem.x_star) ** 2, axis=(0, 1)),
                    "squared_gradient": gradient,
                    "lyapunov": np.ravel(potential(method, state, problem)),
                }
            )
    return {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}
