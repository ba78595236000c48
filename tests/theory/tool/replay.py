"""A trace against a short run by plain loops, point by point, and its end against its budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tool.plain import PlainChannel, PlainLedger, PlainOracle

from certibit import Budget, DamagedFileError, Record, Trace, masked, mean
from certibit.data.problem import is_strongly_convex
from certibit.solvers.method import Method, Needs, WithProbability
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.simulation.iteration import method_at
from certibit.solvers.simulation.ledger import Ledger
from certibit.theory.checks.channel.walk import EXACT
from certibit.theory.verdict import Verdict, worst_of

MOST, LEAST, WORK = 40, 6, 400_000
"""Iterations: as many as have so many numbers in gradients that are asked for one by one."""

Row = dict[str, float]
"""A recorded point, without the run."""

Found = list[tuple[float, str]]
"""An error and its description."""


@dataclass(frozen=True)
class _Wandering:
    x: Any
    time: Any


@dataclass(frozen=True)
class Wander(Method):
    """A method that goes nowhere, so that what is recorded rises and falls, and waits twice."""

    name, needs = "wander", Needs(strongly_convex=False)
    schedule = WithProbability(0.5)

    def start(self, x: Any, problem: Any, channel: Any) -> _Wandering:
        return _Wandering(x + 1.0, 0 * x)

    def local_step(self, s: _Wandering, problem: Any, channel: Any) -> _Wandering:
        return _Wandering(s.x + np.cos(s.time), s.time + 1.0)

    def communicate(self, s: _Wandering, problem: Any, channel: Any) -> _Wandering:
        everyone = np.repeat(s.x, channel.n, axis=0)
        chosen = channel.cohort(1)
        problem.grad(s.x, chosen)
        channel.send(everyone, chosen)
        channel.send(everyone)
        channel.broadcast(s.x, chosen & channel.coin(0.5))
        tossed = channel.client_coins([0.5] * channel.n) | channel.coin(0.5)
        owned = channel.ownership(2) if channel.n > 1 else tossed
        moved = mean(masked(owned, channel.send(everyone, owned & tossed)))
        return _Wandering(channel.broadcast(moved - s.x), s.time)


def recorded(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a trace holds what plain loops count, and ends by the budget that is met first.

    It is tried for the method, and for a method that does not move. The latter also has a callback,
    so that no iterations are done at once. f - f* is held against the difference of the two values,
    whose rounding is larger.
    """
    wanderer = Experiment.of(Wander(), experiment.problem.plain)
    n, d = experiment.n, experiment.d
    iterations = max(LEAST, min(MOST, WORK // (n * n * d)))
    found = [
        *_compared(experiment, seed, iterations),
        *_compared(wanderer, seed, iterations),
        *_compared(wanderer, seed, iterations, callback=lambda row: False),
        *_endings(wanderer, seed, iterations),
        _saved(wanderer, seed),
        _large_counts(),
    ]
    worst, what = worst_of(found)
    advice = f"{what}: look at the recorded points, at the ledger and at the stopping rules."
    return Verdict("recorded as run", worst, EXACT, f"{iterations} iterations", advice)


def plain_rows(experiment: ConvexExperiment, seed: int, iterations: int) -> list[Row]:
    """Run a method by plain loops and return what a trace records at every iteration."""
    method, view, ledger = experiment.method, experiment.problem, PlainLedger()
    channel: Any = PlainChannel(experiment, seed, ledger)
    oracle: Any = PlainOracle(experiment, channel)
    state = method.start(channel.template, oracle, channel)
    rows, rounds = [], 0
    for iteration in range(iterations + 1):
        if iteration:
            step = method_at(method, iteration)
            state = step.local_step(state, oracle, channel)
            if channel.talking(step.schedule, iteration):
                state = step.communicate(state, oracle, channel)
                rounds += 1
        x = method.model(state)
        away = [float(a - b) for a, b in zip(x.ravel(), np.ravel(view.x_star), strict=True)]
        rows.append(
            {
                "iteration": iteration,
                "rounds": rounds,
                "gap": float(view.value(x)[0]) - view.f_star,
                "distance": sum(step * step for step in away),
                "squared_gradient": _squared_gradient(experiment, x),
                "uplink_bits": ledger.uplink_bits / view.n,
                "busiest_bits": ledger.busiest_bits,
                "downlink_bits": ledger.downlink_bits / view.n,
                "gradients": ledger.gradients / view.n,
                "synchronisations": ledger.synchronisations,
            }
        )
    return rows


def _squared_gradient(experiment: ConvexExperiment, x: Any) -> float:
    """Return |grad f(x)|^2 where theorems may bound it, else NaN."""
    if experiment.method.needs.strongly_convex and is_strongly_convex(experiment.problem):
        return float("nan")
    gradients = experiment.problem.grad(x)
    return sum(float(sum(column) / experiment.n) ** 2 for column in gradients[:, :, 0].T)


def _compared(experiment: ConvexExperiment, seed: int, iterations: int, **options: Any) -> Found:
    """Return how far a trace of two runs is from the plain one, and where."""
    seeds, every = [seed, seed + 1], Record(every=1)
    budget = Budget(iterations=iterations)
    trace = simulate(experiment, seeds=seeds, budget=budget, record=every, **options)
    found: Found = []
    for run, own in enumerate(seeds):
        rows, columns = plain_rows(experiment, own, iterations), trace.run(run)
        scales = _scales(rows, experiment.problem.f_star)
        diverged = [t for t, row in enumerate(rows) if not np.isfinite(row["gap"])]
        rows = rows[: diverged[0] if diverged else None]
        place = {int(t): number for number, t in enumerate(columns["iteration"])}
        rounds = -1.0
        for t, row in enumerate(rows):
            if t in place:
                for name, value in row.items():
                    said = float(columns[name][place[t]])
                    text = f"at iteration {t} the trace says {name} = {said:.6g}, a plain loop"
                    off = abs(said - value) / (abs(value) + scales[name])
                    none = not np.isfinite(value) and repr(said) == repr(value)
                    found.append((0.0 if none else off, f"{text} {value:.6g}"))
            elif row["rounds"] > rounds or t == iterations:
                found.append((np.inf, f"iteration {t} of a run is not recorded"))
            rounds = row["rounds"]
        ending = "diverged" if diverged else "iterations"
        wrong = 0.0 if trace.ending[run] == ending else np.inf
        text = f"a run that ends by {ending} says that it ended by {trace.ending[run]}"
        found.append((wrong, text))
    return found


def _scales(rows: Sequence[Row], f_star: float) -> Row:
    """Return the size that differences of every column are held against, in its own unit.

    Counts are held against 1, and f - f* against what rounding does to the two values.
    """
    scales = {
        name: max(1e-300, *(abs(row[name]) for row in rows if np.isfinite(row[name])), 0.0)
        for name in ("gap", "distance", "squared_gradient")
    }
    return dict.fromkeys(rows[0], 1.0) | scales | {"gap": scales["gap"] + abs(f_star)}


def _endings(experiment: ConvexExperiment, seed: int, iterations: int) -> Found:
    """Return how far runs with other budgets end from where the plain one meets them."""
    every = plain_rows(experiment, seed, iterations)
    rows = [every[0], *(b for a, b in pairwise(every) if b["rounds"] > a["rounds"])]
    middle, gap = rows[len(rows) // 2], _between([row["gap"] for row in rows])
    met = {
        "rounds": [row for row in rows if row["rounds"] >= middle["rounds"]],
        "bits": [row for row in rows if row["uplink_bits"] >= middle["uplink_bits"]],
        "gradients": [row for row in rows if row["gradients"] >= middle["gradients"]],
        "gap": [row for row in rows if row["gap"] <= gap],
    }
    most = 2 * iterations  # what is not counted is never met
    seldom = Record(every=max(2, len(rows) // 2 - 1))
    budgets = {
        "rounds": Budget(iterations=most, rounds=int(middle["rounds"])),
        "bits": Budget(iterations=most, bits=middle["uplink_bits"]),
        "gradients": Budget(iterations=most, gradients=middle["gradients"]),
        "gap": Budget(iterations=most, gap=gap),
    }
    found: Found = []
    for name, record in product(budgets, (Record(every=1), seldom)):
        if name == "gap" and record is seldom:
            continue  # looked at where the run is recorded
        trace = simulate(experiment, seeds=[seed], budget=budgets[name], record=record)
        last, right = float(trace.final("iteration")[0]), met[name][0]["iteration"]
        off = 0.0 if (*trace.ending, last) == (name, right) else np.inf
        text = f"a run with a budget of {name} ends by {trace.ending[0]} at iteration {last:g}"
        found.append((off, f"{text}, and meets its budget at {right:g}"))
    return found


def _saved(experiment: ConvexExperiment, seed: int) -> tuple[float, str]:
    """Return whether a trace is read as it was written, bit for bit."""
    trace = simulate(experiment, seeds=[seed, seed + 1], budget=Budget(iterations=LEAST))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        try:
            read = Trace.load(path)
        except DamagedFileError as damage:
            return np.inf, f"a trace that was saved cannot be read ({damage})"
    for name, column in trace.columns.items():
        other = read.columns[name]
        if (column.dtype, column.tobytes()) != (other.dtype, other.tobytes()):
            return np.inf, f"the column {name} of a trace differs after it is saved and loaded"
    same = (trace.ending, trace.seeds) == (read.ending, read.seeds)
    return (
        0.0 if same else np.inf,
        "a trace has other seeds or endings after it is saved and loaded",
    )


def _between(gaps: Sequence[float]) -> float:
    """Return an accuracy that fewer than half meet, and none so nearly that rounding decides."""
    lower = np.sort(gaps)[: len(gaps) // 2 + 1]
    widest = int(np.argmax(np.diff(lower, append=lower[-1])))
    return float(np.mean(lower[widest : widest + 2]))


def _large_counts() -> tuple[float, str]:
    """Return whether a ledger goes on above 2^31, and to the unit above 2^53."""
    ledger, others, run = Ledger(1), Ledger(1), np.array([0])
    counts = (2**31 - 1, 2**31 - 1, 2**53, 1)
    try:
        for count in counts:
            ledger.up(run, count, count)
            ledger.down(run, count)
            others.gradients[run] += count
            others.synchronisations[run] += count
    except OverflowError as error:
        return np.inf, f"the ledger cannot count to {sum(counts)} ({error})"
    columns = ledger.uplink_bits, ledger.downlink_bits, others.gradients, others.synchronisations
    wrong = max((int(x[0]) for x in columns), key=lambda count: abs(count - sum(counts)))
    off = float(abs(wrong - sum(counts)))
    return off, f"the ledger counts {wrong} where {sum(counts)} were spent"
