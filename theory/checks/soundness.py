"""What must hold for every method, whatever its theorem: checks that are exact up to rounding.

They need no promise, so they serve a method that has no theorem yet. Each gives a verdict: the
largest error found, and what rounding allows.
"""

from typing import Any

import numpy as np

from bitbound.data.problem import Problem
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.fit import fitting_view
from bitbound.solvers.method import Every, Method, Squares
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.engine import simulate, value
from bitbound.solvers.state import each
from bitbound.theory.checks.bills import costs
from bitbound.theory.checks.promise import simulated_world
from bitbound.theory.checks.traffic import accounts, unsent
from bitbound.theory.checks.walk import EXACT, RUNS, difference, distance, size, walk
from bitbound.theory.verdict import Verdict


def soundness(
    method: Method, problem: Problem, compressor: Compressor | None = None, seed: int = 0
) -> tuple[Verdict, ...]:
    """Make all checks of this module."""
    checks = (
        fixed_point,
        lyapunov_at_solution,
        invariants,
        purity,
        independence,
        accounts,
        unsent,
        schedule,
    )
    with np.errstate(all="ignore"):
        verdicts = [check(method, problem, compressor, seed) for check in checks]
        billed = costs(method, problem, compressor)
    return tuple(verdict for verdict in (*verdicts, billed) if verdict)


def fixed_point(
    method: Method, problem: Problem, compressor: Compressor | None = None, seed: int = 0
) -> Verdict:
    """Check that a run that starts at the solution stays there, and that its model is x*."""
    view = fitting_view(method, problem)
    star = method.fixed_point(view)
    start = each(lambda x: np.repeat(x, RUNS, axis=2), star)
    worst = distance(method.model(star), view.x_star)
    for state, _, _ in walk(method, view, compressor, seed, start):
        worst = max(worst, difference(_numbers(state), _numbers(start)))
    return Verdict("stays at the solution", worst / (1 + size(start)), EXACT)


def lyapunov_at_solution(
    method: Method, problem: Problem, compressor: Compressor | None = None, seed: int = 0
) -> Verdict:
    """Check that the Lyapunov function is 0 at the solution and has no negative weight."""
    view = fitting_view(method, problem)
    star = method.fixed_point(view)
    _, oracle = simulated_world(method, view, compressor)
    terms = method.lyapunov(star, star, oracle)
    sizes = [float(np.max(np.abs(t.vectors))) for t in terms if isinstance(t, Squares)]
    psi = float(np.max(np.abs(value(terms, view))))
    negative = (max(0.0, -float(term.weight)) for term in terms)
    return Verdict("Psi at the solution", max(*sizes, psi, *negative) / (1 + size(star)), EXACT)


def invariants(
    method: Method, problem: Problem, compressor: Compressor | None = None, seed: int = 0
) -> Verdict:
    """Check that what the method calls invariant is 0 in every state of a run."""
    view = fitting_view(method, problem)
    worst, largest = 0.0, 1.0
    for state, oracle, _ in walk(method, view, compressor, seed):
        largest = max(largest, size(state))
        worst = max((worst, *(float(np.max(np.abs(x))) for x in method.invariants(state, oracle))))
    return Verdict("invariants", worst / largest, EXACT)


def purity(
    method: Method, problem: Problem, compressor: Compressor | None = None, seed: int = 0
) -> Verdict:
    """Check that a step writes into nothing and gives the same for the same random numbers."""
    view = fitting_view(method, problem)
    worst = 0.0
    for (state, _, _), (again, _, before) in zip(
        walk(method, view, compressor, seed), walk(method, view, compressor, seed), strict=True
    ):
        worst = max(worst, difference(state, again), difference(*before))
    return Verdict("pure steps", worst, 0.0)


def independence(
    method: Method, problem: Problem, compressor: Compressor | None = None, seed: int = 0
) -> Verdict:
    """Check that a run is the same alone and in a batch."""
    budget, record = Budget(rounds=6, iterations=500), Record(every=1)
    options: dict[str, Any] = {"budget": budget, "record": record}
    batch = simulate(method, problem, compressor, seeds=[seed + 7, seed, seed + 3], **options).run(
        1
    )
    alone = simulate(method, problem, compressor, seeds=[seed], **options).run(0)
    worst = 0.0
    for name, column in alone.items():
        if name != "run":
            if column.shape != batch[name].shape:
                return Verdict("alone as in a batch", np.inf, EXACT)
            worst = max(worst, float(np.max(np.abs(column - batch[name]) / (1 + np.abs(column)))))
    return Verdict("alone as in a batch", worst, EXACT)


def schedule(
    method: Method, problem: Problem, compressor: Compressor | None = None, seed: int = 0
) -> Verdict:
    """Check how often a method communicates: exactly, or within 7 standard errors."""
    runs, iterations = 25, 80
    trace = simulate(
        method,
        problem,
        compressor,
        seeds=range(seed, seed + runs),
        budget=Budget(iterations=iterations),
        record=Record(every=iterations),
    )
    rounds, draws = float(np.mean(trace.final("rounds"))), float(np.sum(trace.final("iteration")))
    timing = method.schedule
    if isinstance(timing, Every):
        off = abs(rounds - float(np.mean(trace.final("iteration") // timing.iterations)))
        return Verdict("communicates as scheduled", off, 0.0)
    off = abs(rounds * runs / draws - timing.p)
    allowed = 7 * float(np.sqrt(timing.p * (1 - timing.p) / draws)) + EXACT
    return Verdict("communicates as scheduled", off, allowed, f"probability {timing.p:.4g}")


def _numbers(state: Any) -> Any:
    """Replace what is true or false, such as who is active, by 0."""
    return each(lambda x: 0.0 * x if x.dtype == bool else x, state)
