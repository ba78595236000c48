"""The promises of a theorem against what the code does: one list of verdicts.

Each check gives a number and its limit; the verdict follows from these two only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.data.quadratic import Quadratic
from bitbound.solvers.budget import Budget, Record
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.composition import Scaled
from bitbound.solvers.compressors.selection import RandK
from bitbound.solvers.engine import run
from bitbound.solvers.fit import fitting_view
from bitbound.solvers.method import Every, Method
from bitbound.solvers.trace import Trace
from bitbound.theory.expectation import one_step
from bitbound.theory.promise import promise, simulated_world
from bitbound.theory.quadratics import worst_case
from bitbound.theory.theorem import Condition, Entry, Setting, Theorem

FALSE_ALARM = 1e-6
"""Probability that the check of a whole run fails on correct code."""

TIGHT = 1e-6
"""A worst case within this relative distance of the promised factor counts as tight."""


@dataclass(frozen=True)
class Verdict:
    """A checked inequality ``value <= limit``.

    Attributes
    ----------
    check : str
        What was checked.
    value, limit : float
        What came out, and what was promised.
    note : str
        What a reader wants to know beside it.
    """

    check: str
    value: float
    limit: float
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the value stays within the limit, up to rounding; NaN does not."""
        return self.value <= self.limit + 1e-9 * abs(self.limit)


def unmet(theorem: Theorem, method: Method, setting: Setting) -> tuple[Condition, ...]:
    """Give the hypotheses of a theorem that fail."""
    return tuple(c for c in theorem.conditions(method, setting) if not c.holds)


def steps_along_a_run(
    theorem: Theorem,
    method: Method,
    problem: Any,
    compressor: Compressor | None = None,
    *,
    seed: int = 0,
    steps: Sequence[int] = (0, 1, 2, 5, 20, 100),
) -> Verdict:
    """Check E[Psi+]/Psi <= tau exactly, at states of a real run after so many iterations.

    States where Psi has fallen below 1e-16 of its start are left out: what is left is rounding.
    """
    setting = Setting.of(method, problem, compressor)
    view = fitting_view(method, problem)
    channel, oracle = simulated_world(method, view, compressor, seed)
    state = method.start(channel.template, oracle, channel)
    period = method.schedule.iterations if isinstance(method.schedule, Every) else 1
    done, factors, exact = 0, [], True
    first = one_step(method, problem, compressor, state).now
    for wanted in steps:
        while done < wanted:
            for _ in range(period):
                state = method.local_step(state, oracle, channel)
            if isinstance(method.schedule, Every) or channel.coin(method.schedule.p).item():
                state = method.communicate(state, oracle, channel)
            done += 1
        step = one_step(method, problem, compressor, state)
        if step.now < 1e-16 * first:
            break
        exact = exact and step.exact
        factors.append(step.factor)
    note = "exact" if exact else "upper bound on E[Psi+]"
    return Verdict("one step along a run", max(factors), theorem.rate(method, setting), note)


def worst_quadratic(
    theorem: Theorem,
    entry: Entry,
    rule: str | None = None,
    *,
    sizes: Sequence[tuple[int, int]] = ((2, 2), (3, 2)),
    kappas: Sequence[float] = (10.0, 200.0),
    seed: int = 0,
) -> Verdict:
    """Check the exact worst case over all states of small random quadratics.

    The parameters are those of a rule at each problem, the compressor is rand-1 (scaled to be a
    contraction where the method needs one). The value is the largest (worst case)/tau.

    Raises
    ------
    Refusal
        If the rule meets the theorem on none of the problems.
    """
    need = entry.method.needs.compressor
    chosen = {"unbiased": RandK(1), "contractive": Scaled(RandK(1)), None: None}[need]
    ratios = []
    for n, d in sizes:
        for kappa in kappas:
            problem = Quadratic.random(n, d, mu=1.0, L=kappa, seed=seed)
            method = entry.parameters(problem, chosen, rule)
            setting = Setting.of(method, problem, chosen)
            if not unmet(theorem, method, setting):
                rate = theorem.rate(method, setting)
                ratios.append(worst_case(method, problem, chosen) / rate)
    if not ratios:
        raise Refusal(f"the rule {rule!r} does not meet {theorem.title}; choose another rule")
    note = "tight" if max(ratios) > 1 - TIGHT else ""
    return Verdict("worst case on quadratics / tau", max(ratios), 1.0, note)


@dataclass(frozen=True)
class RunsCheck:
    """Whole runs against a promise.

    Attributes
    ----------
    lyapunov : Verdict
        log of sup_t Psi^t/(tau^t Psi^0) over all runs, against what it exceeds with probability
        ``FALSE_ALARM`` at most.
    bits : Verdict
        Median bits to the accuracy, against the promised bits to 1/100 of it. A run is above 100
        times the bound on its mean with probability 1/100 at most, so half of 5 runs hardly ever.
    measured, error : float
        Mean of log(Psi^T/Psi^0)/T over the runs and half its 95 % confidence interval.
    promised : float
        log tau. measured/promised says how loose the theorem is on this problem.
    promised_bits : float
        Promised bits to the accuracy.
    """

    lyapunov: Verdict
    bits: Verdict
    measured: float
    error: float
    promised: float
    promised_bits: float

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The two inequalities."""
        return self.lyapunov, self.bits


def whole_runs(
    theorem: Theorem,
    method: Method,
    problem: Any,
    compressor: Compressor | None = None,
    *,
    seeds: int | Sequence[int] = 5,
    accuracy: float = 1e-6,
    iterations: int = 20_000,
) -> RunsCheck:
    """Check whole runs: Lyapunov values, rate and bits to an accuracy.

    Psi^t/tau^t is a non-negative supermartingale, so by Ville's inequality it ever exceeds
    R/delta times its start in one of R runs with probability at most delta = ``FALSE_ALARM``.

    Raises
    ------
    Refusal
        If a hypothesis of the theorem fails.
    """
    promised = promise(theorem, method, problem, compressor)
    budget = Budget(gap=accuracy, iterations=iterations)
    trace = run(method, problem, compressor, seeds=seeds, budget=budget, record=Record(ratio=1.02))
    steps = trace.columns["rounds" if isinstance(method.schedule, Every) else "iteration"]
    logs = _log_lyapunov(trace)
    finite = np.where(np.isnan(logs), np.inf, logs - steps * np.log(promised.rate))
    last = np.flatnonzero(np.diff(trace.columns["run"], append=-1))
    slopes = logs[last] / np.maximum(steps[last], 1)
    runs = len(slopes)
    error = 0.0
    if runs > 1:
        error = float(scipy.stats.sem(slopes) * scipy.stats.t.ppf(0.975, runs - 1))
    bits = np.sort(np.nan_to_num(trace.bits_to(accuracy), nan=np.inf))[runs // 2]
    unfinished = "iterations" in trace.ending
    return RunsCheck(
        Verdict(
            "Psi^t/(tau^t Psi^0) (log)",
            float(np.max(finite)),
            float(np.log(runs / FALSE_ALARM)),
            f"false alarm {FALSE_ALARM:g}",
        ),
        Verdict(
            "median bits to the accuracy",
            0.0 if unfinished else float(bits),
            promised.bits_to(accuracy / 100),
            "not reached in the iterations allowed" if unfinished else "",
        ),
        float(np.mean(slopes)),
        error,
        float(np.log(promised.rate)),
        promised.bits_to(accuracy),
    )


def _log_lyapunov(trace: Trace) -> NDArray[np.float64]:
    """Give log(Psi^t/Psi^0) at every recorded point."""
    psi, run = trace.columns["lyapunov"], trace.columns["run"]
    start = psi[np.searchsorted(run, np.arange(len(trace.seeds)))]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: NDArray[np.float64] = np.log(psi / start[run])
    return logs
