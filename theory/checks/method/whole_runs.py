"""Whole runs against a promise: Lyapunov values, rate, and bits to an accuracy."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.problems.selector import strongly_convex_problem
from certibit.solvers.method import Every, Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.trace import Column, Trace
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.simulation.iteration import simulated_world, theorem_step
from certibit.theory.card import Card
from certibit.theory.catalogue.covered_run import lyapunov_record
from certibit.theory.checks.compressor.compression import DEVIATIONS
from certibit.theory.checks.method.one_step import SURE, steps_along_a_run
from certibit.theory.checks.method.promise import Promise, promise, round_cost, value_at_start
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise, RunPromise, Theorem
from certibit.theory.verdict import Verdict, largest, searched

ITERATIONS = 20_000
"""The default limit of runs."""

_ENDED = ("gap", "diverged")
"""Endings of runs that no limit cut off."""

FALSE_ALARM = 1e-6
"""Probability that the check of a whole run fails on correct code."""

HUBER_STEPS = (1, 3, 10, 30)
"""Lengths of runs for each of which one Huber function is hard."""

RUNS, RUN_STEPS = 200, (1, 2, 5, 10, 20, 50, 100)
"""How many random runs are drawn, and after how many steps they are looked at."""

FLAT = 1e9
"""Condition number of a Huber function with a ridge, so that it has one solution."""

TIGHT = 1e-3
"""Relative distance of a measured ratio to the bound at which the bound counts as tight."""

_BROKEN = (
    "What a theorem about convex functions promises is broken: look at signs and factors in the "
    "step, at the hypotheses of the theorem and at the constants of its bound."
)


@dataclass(frozen=True)
class RunsCheck:
    """Whole runs against a promise.

    Attributes
    ----------
    lyapunov : Verdict
        log of sup_t Psi^t/(tau^t Psi^0) over all runs, against what it exceeds with probability
        ``FALSE_ALARM`` at most.
    bits : Verdict
        Median bits to the accuracy, against the promised bits to 1/k of it; with a weight of the
        downlink, total bits. By Markov's inequality a run is above k times the bound on its mean
        with probability 1/k at most, and k is such that half of the runs are with probability
        ``FALSE_ALARM`` at most. If a coin decides the rounds, their number may exceed its mean by 7
        standard deviations. Not tested where a limit ends a run before the accuracy, unless it has
        spent too much by then.
    measured, error : float
        Mean of log(Psi^T/Psi^0)/T over the runs and half its 95 % confidence interval.
    promised : float
        log tau. measured/promised says how loose the theorem is on this problem.
    promised_bits : float
        Promised bits to the accuracy.
    downlink : float
        The weight of a bit received in the bits.
    """

    lyapunov: Verdict
    bits: Verdict
    measured: float
    error: float
    promised: float
    promised_bits: float
    downlink: float = 0.0

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The two inequalities."""
        return self.lyapunov, self.bits


def whole_runs(
    theorem: Theorem,
    experiment: ConvexExperiment,
    *,
    seeds: int | Sequence[int] = 5,
    accuracy: float = 1e-6,
    iterations: int = ITERATIONS,
    downlink: float = 0.0,
) -> RunsCheck:
    """Check whole runs against one theorem; see :func:`runs_of_theorems`."""
    budget = Budget(gap=accuracy, iterations=iterations)
    (found,) = runs_of_theorems([theorem], experiment, budget, seeds=seeds, downlink=downlink)
    return found


def runs_of_theorems(
    theorems: Sequence[Theorem],
    experiment: ConvexExperiment,
    budget: Budget,
    *,
    seeds: int | Sequence[int] = 5,
    downlink: float = 0.0,
) -> list[RunsCheck]:
    """Check whole runs: Lyapunov values, rate and bits to an accuracy, with a weight in total.

    Psi^t/tau^t is a non-negative supermartingale, so by Ville's inequality it ever exceeds
    R/delta times its start in one of R runs with probability at most delta = ``FALSE_ALARM``.
    All theorems are held against the same runs.

    Parameters
    ----------
    theorems, experiment
        What is promised, and about what.
    budget : Budget
        The accuracy f - f* that the runs are to reach, and the limits at which they end before.
    seeds, downlink
        The run seeds, or how many; the weight of a bit received.

    Raises
    ------
    Refusal
        If a hypothesis of a theorem fails, or the budget has no accuracy.
    """
    if budget.gap is None:
        raise Refusal("whole runs are checked up to an accuracy; give a budget with a gap")
    cost, setting = round_cost(experiment), Setting.at(experiment)
    promises = [promise(theorem, experiment, cost) for theorem in theorems]
    records = [lyapunov_record(theorem, setting) for theorem in theorems]

    def potentials(method: Method, state: Any, problem: Any) -> Array:
        values = [record(method, state, problem) for record in records]
        xp = array_namespace(values[0])
        return xp.stack([xp.reshape(psi, (-1,)) for psi in values], axis=1)

    trace = simulate(
        experiment,
        seeds=seeds,
        budget=budget,
        record=Record(ratio=1.02),
        potential=potentials,
    )
    every = isinstance(experiment.method.schedule, Every)
    steps = trace.columns["rounds" if every else "iteration"]
    return [
        _checked(promised, trace, steps, psi, budget.gap, downlink)
        for promised, psi in zip(promises, trace.columns["lyapunov"].T, strict=True)
    ]


def largest_share(
    theorem: Theorem, promise: RunPromise, experiment: ConvexExperiment, budget: Budget
) -> tuple[float, str]:
    """Return the largest E[f(x_t) - f*]/bound after the start of runs, and how it was found.

    Runs that are alike are held against the bound at the points of one; of random ones the mean of
    ``RUNS`` runs is, less six standard errors, after at most 100 steps.

    Raises
    ------
    Refusal
        If a run has no step.
    """
    start = value_at_start(theorem, experiment)
    trace = simulate(experiment, seeds=2, budget=budget, record=Record(ratio=1.02))
    every = isinstance(experiment.method.schedule, Every)
    columns = (trace.columns[name] for name in ("rounds" if every else "iteration", "gap"))
    runs = [[column[trace.columns["run"] == run][1:] for run in (0, 1)] for column in columns]
    if not min(map(len, runs[0])):
        raise Refusal("a run ended before its first step; allow it more time")
    if all(np.array_equal(*pair) for pair in runs):
        (steps, _), (gaps, _), note = *runs, "exact"
    else:
        steps = [t for t in RUN_STEPS if t <= max(int(runs[0][0][-1]), 1)]
        gaps = _mean_gaps(experiment, steps)
        note = f"means of {RUNS} runs, less {SURE:g} standard errors"
    return largest(gap / promise.bound(t, start) for t, gap in zip(steps, gaps, strict=True)), note


def _mean_gaps(experiment: ConvexExperiment, steps: Sequence[int]) -> list[float]:
    """Return lower confidence bounds of E[f(x_t) - f*] after some steps of random runs."""
    method, view = experiment.method, experiment.problem
    channel, oracle = simulated_world(experiment, range(RUNS))
    state, done, found = method.start(channel.template, oracle, channel), 0, []
    for wanted in steps:
        for number in range(done, wanted):
            state = theorem_step(method, state, oracle, channel, number)
        done, gaps = wanted, view.gap(method.model(state))
        found.append(float(np.mean(gaps) - SURE * np.std(gaps, ddof=1) / RUNS**0.5))
    return found


def bounded_run(theorem: Theorem, experiment: ConvexExperiment, budget: Budget) -> Verdict:
    """Check E[f(x_t)] - f* <= Psi_0/w(t) along runs on a problem; see :func:`largest_share`."""
    promise: Any = theorem.promise(experiment.method, Setting.at(experiment))
    share, note = largest_share(theorem, promise, experiment, budget)
    return Verdict("f - f* along a run / bound", share, 1.0, note, _BROKEN)


def on_huber_functions(theorem: Theorem, card: Card, rule: str | None = None) -> Verdict:
    """Check a theorem about convex functions where gradient descent is slowest.

    These are Huber functions of one feature, equal for all clients, with the threshold 1/(2 T + 1)
    for a start at distance 1 and T steps. The value is a measured ratio divided by its bound: of
    E[Psi+] + c (f - f*) and Psi, or of f - f* after T steps.

    Raises
    ------
    Refusal
        If the rule meets the theorem on none of them.
    """
    ratios = []
    for steps in HUBER_STEPS:
        huber = strongly_convex_problem(
            np.ones((2, 1)),
            y=np.ones(2),
            clients=2,
            loss=f"huber:{1 / (2 * steps + 1)}",
            kappa=FLAT,
        )
        experiment = Experiment.of(card.parameters(huber.plain, None, rule), huber.plain)
        setting = Setting.at(experiment)
        if theorem.unmet(experiment.method, setting):
            continue
        promise = theorem.promise(experiment.method, setting)
        if isinstance(promise, DescentPromise):
            found = steps_along_a_run(theorem, experiment, steps=range(steps))
            ratios.append(found.limit / found.value if found.value < 0 else np.inf)
        elif isinstance(promise, RunPromise):
            ratios.append(largest_share(theorem, promise, experiment, Budget(iterations=steps))[0])
    if not ratios:
        raise Refusal(f"the rule {rule!r} meets {theorem.title} on no Huber function")
    worst = largest(ratios)
    note = "tight" if abs(worst - 1) <= TIGHT else ""
    return Verdict("Huber functions / bound", worst, 1.0, note, _BROKEN, **searched(ratios))


def _checked(
    promised: Promise, trace: Trace, steps: Column, psi: Column, accuracy: float, downlink: float
) -> RunsCheck:
    """Hold runs, with steps and Lyapunov values of their points, against a promise."""
    logs = _log_lyapunov(trace, psi)
    finite = np.where(np.isnan(logs), np.inf, logs - steps * np.log(promised.rate))
    last = np.flatnonzero(np.diff(trace.columns["run"], append=-1))
    slopes = logs[last] / np.maximum(steps[last], 1)
    runs = len(slopes)
    error = 0.0
    if runs > 1:
        with np.errstate(invalid="ignore"):  # of runs that diverge
            spread = float(np.std(slopes, ddof=1))
        error = spread / math.sqrt(runs) * float(scipy.special.stdtrit(runs - 1, 0.975))
    reached = trace.bits_to(accuracy, downlink)
    unfinished = [ending not in _ENDED for ending in trace.ending]
    least = np.where(unfinished, trace.final_bits(downlink), np.nan_to_num(reached, nan=np.inf))
    bits = float(np.sort(np.where(np.isnan(reached), least, reached))[runs // 2])
    allowed = _allowed_bits(promised, accuracy, runs, downlink)
    return RunsCheck(
        Verdict(
            "Psi^t/(tau^t Psi^0) (log)",
            float(np.max(finite)),
            float(np.log(runs / FALSE_ALARM)),
            f"false alarm {FALSE_ALARM:g}",
            "Along whole runs the Lyapunov function falls more slowly than the theorem promises.",
        ),
        Verdict(
            "median bits to the accuracy",
            bits,
            allowed,
            "at least: not reached within the limits"
            if any(unfinished)
            else f"false alarm {FALSE_ALARM:g}",
            "The accuracy costs more bits than promised: look at the rate and at the bill.",
            tested=not any(unfinished),
        ),
        float(np.mean(slopes)),
        error,
        float(np.log(promised.rate)),
        promised.bits_to(accuracy, downlink),
        downlink,
    )


def _allowed_bits(promised: Promise, accuracy: float, runs: int, downlink: float) -> float:
    """Return what the median of the bits of so many runs exceeds hardly ever."""
    upper = runs - runs // 2
    k = (math.comb(runs, upper) / FALSE_ALARM) ** (1 / upper)
    rounds = promised.rounds_to(accuracy / k)
    spread = math.sqrt(rounds * (1 - 1 / promised.steps_per_round))
    return promised.cost.bits_of(rounds + DEVIATIONS * spread, downlink)


def _log_lyapunov(trace: Trace, psi: Column) -> NDArray[np.float64]:
    """Return log(Psi^t/Psi^0) at every recorded point."""
    run = trace.columns["run"]
    start = psi[np.searchsorted(run, np.arange(len(trace.seeds)))]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: NDArray[np.float64] = np.log(psi / start[run])
    return logs
