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
from certibit.solvers.method import Every, Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.trace import Column, Trace
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.theory.catalogue.covered_run import lyapunov_record
from certibit.theory.checks.compressor.moments import DEVIATIONS
from certibit.theory.checks.method.promise import Promise, promise
from certibit.theory.checks.method.round_cost import round_cost
from certibit.theory.setting import Setting
from certibit.theory.theorem import Theorem
from certibit.theory.verdict import Verdict

ITERATIONS = 20_000
"""The default limit of runs."""

_ENDED = ("gap", "diverged")
"""Endings of runs that no limit cut off."""

FALSE_ALARM = 1e-6
"""Probability that the check of a whole run fails on correct code."""


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
    return (rounds + DEVIATIONS * spread) * promised.cost.bits(downlink)


def _log_lyapunov(trace: Trace, psi: Column) -> NDArray[np.float64]:
    """Return log(Psi^t/Psi^0) at every recorded point."""
    run = trace.columns["run"]
    start = psi[np.searchsorted(run, np.arange(len(trace.seeds)))]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: NDArray[np.float64] = np.log(psi / start[run])
    return logs
