"""How a method conducts itself, whatever its theorem: checks that are exact up to rounding.

Each gives a verdict: the largest error found, and what rounding allows.
"""

from typing import Any

import numpy as np

from bitbound.data.arrays import Array
from bitbound.data.errors import Refusal
from bitbound.solvers.method import Every
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.engine import simulate
from bitbound.solvers.state import each
from bitbound.solvers.world.experiment import ConvexExperiment
from bitbound.theory.card import Card
from bitbound.theory.checks.channel.walk import EXACT, RUNS, difference, distance, size, walk
from bitbound.theory.checks.method.promise import round_cost
from bitbound.theory.potential import Squares, value
from bitbound.theory.setting import Setting
from bitbound.theory.verdict import Verdict, largest
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.invariants import invariants


def stays_at_solution(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a run that starts at the solution stays there, and that its model is x*."""
    method, view = experiment.method, experiment.problem
    try:
        star = fixed_point(method, view)
    except Refusal as refusal:
        return Verdict("stays at the solution", np.inf, EXACT, str(refusal))
    start = each(lambda x: np.repeat(x, RUNS, axis=2), star)
    worst = distance(method.model(star), view.x_star)
    for state, _, _ in walk(experiment, seed, start):
        worst = max(worst, difference(_numbers(state), _numbers(start)))
    advice = (
        f"Started at its fixed point the method leaves it, or its model is not x*: it is off by "
        f"{worst:.3g}. Look at what each line of the step gives when all gradients are those at x*."
    )
    return Verdict("stays at the solution", worst / (1 + size(start)), EXACT, advice=advice)


def potential_at_solution(card: Card, experiment: ConvexExperiment) -> Verdict | None:
    """Check that the Lyapunov functions are 0 at the solution and have no negative weight.

    None without a theorem.
    """
    method, view, setting = experiment.method, experiment.problem, Setting.at(experiment)
    if not card.theorems:
        return None
    star = fixed_point(method, view)
    worst = 0.0
    for theorem in card.theorems:
        terms = theorem.lyapunov(method, star, star, setting, view)
        sizes = [float(np.max(np.abs(t.vectors))) for t in terms if isinstance(t, Squares)]
        psi = float(np.max(np.abs(value(terms, view))))
        negative = (max(0.0, -float(term.weight)) for term in terms)
        worst = largest((worst, *sizes, psi, *negative))
    advice = (
        f"A potential is not 0 at the fixed point, or has a negative weight ({worst:.3g}): look at "
        "lyapunov and at fixed_point."
    )
    return Verdict("Psi at the solution", worst / (1 + size(star)), EXACT, advice=advice)


def bill_check(card: Card, experiment: ConvexExperiment) -> Verdict | None:
    """Check that a round costs what the published accounting says; None without a bill."""
    n, d = experiment.n, experiment.d
    if card.bill is None:
        return None
    spent = round_cost(experiment)
    up, down = card.bill(experiment.method, n, 32 * d, experiment.compressor.bits(d))
    off = max(abs(spent.uplink_bits - up), abs(spent.downlink_bits - down))
    note = f"{up:,.6g} up, {down:,.6g} down"
    advice = (
        f"A round spends {spent.uplink_bits:,.6g} bits up and {spent.downlink_bits:,.6g} down per "
        "client, which is not the published bill: look at what communicate sends, and to whom."
    )
    return Verdict("bits of a round as published", off / (1 + max(up, down)), EXACT, note, advice)


def keeps_invariants(experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check that what is invariant is 0 in every state of a run; None where nothing is."""
    method = experiment.method
    worst, scale = 0.0, 1.0
    kept: tuple[Array, ...] = ()
    for state, oracle, _ in walk(experiment, seed):
        scale = max(scale, size(state))
        kept = invariants(method, state, oracle)
        worst = largest((worst, *(np.max(np.abs(x)) for x in kept)))
    if not kept:
        return None
    advice = (
        f"What should stay 0 along a run becomes {worst:.3g}: look at the lines of communicate "
        "that update what invariants names, such as the sum of the control variates."
    )
    return Verdict("invariants", worst / scale, EXACT, advice=advice)


def does_not_grow(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that f - f* is not larger after 300 iterations than at the start."""
    trace = simulate(
        experiment, seeds=[seed, seed + 1], budget=Budget(iterations=300), record=Record(every=300)
    )
    first, last = trace.columns["gap"][trace.columns["iteration"] == 0], trace.final("gap")
    growth = np.max(np.where(np.isfinite(last), last, np.inf) / first)
    advice = "f - f* grows: look for a sign error in the step, or take a smaller step size."
    return Verdict("f - f* does not grow", float(growth), 1.0, "300 iterations", advice)


def purity(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a step writes into nothing and gives the same for the same random numbers."""
    worst = 0.0
    for (state, _, _), (again, _, before) in zip(
        walk(experiment, seed), walk(experiment, seed), strict=True
    ):
        worst = max(worst, difference(state, again), difference(*before))
    advice = (
        "A step changes its arguments, or gives another result when it is repeated: look for "
        "operations in place, such as +=, and for random numbers that are not the channel's."
    )
    return Verdict("pure steps", worst, 0.0, advice=advice)


def independence(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a run is the same alone and in a batch."""
    budget, record = Budget(rounds=6, iterations=500), Record(every=1)
    options: dict[str, Any] = {"budget": budget, "record": record}
    batch = simulate(experiment, seeds=[seed + 7, seed, seed + 3], **options).run(1)
    alone = simulate(experiment, seeds=[seed], **options).run(0)
    worst = max(_apart(column, batch[name]) for name, column in alone.items() if name != "run")
    advice = (
        "A run depends on the runs beside it: look for a sum, mean or norm over the last axis, "
        "which is that of the runs."
    )
    return Verdict("alone as in a batch", worst, EXACT, advice=advice)


def schedule(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check how often a method communicates: exactly, or within 7 standard errors."""
    runs, iterations = 25, 80
    trace = simulate(
        experiment,
        seeds=range(seed, seed + runs),
        budget=Budget(iterations=iterations),
        record=Record(every=iterations),
    )
    rounds, draws = float(np.mean(trace.final("rounds"))), float(np.sum(trace.final("iteration")))
    timing = experiment.method.schedule
    advice = "It does not communicate as its schedule says: look at schedule and at the channel."
    if isinstance(timing, Every):
        off = abs(rounds - float(np.mean(trace.final("iteration") // timing.iterations)))
        return Verdict("communicates as scheduled", off, 0.0, advice=advice)
    off = abs(rounds * runs / draws - timing.p)
    allowed = 7 * float(np.sqrt(timing.p * (1 - timing.p) / draws)) + EXACT
    note = f"probability {timing.p:.4g}"
    return Verdict("communicates as scheduled", off, allowed, note, advice)


def _apart(column: Array, other: Array) -> float:
    """Return the largest relative difference; infinity if they have not NaN at the same places."""
    if column.shape != other.shape or np.any(np.isnan(column) != np.isnan(other)):
        return np.inf
    return float(np.nanmax(np.abs(column - other) / (1 + np.abs(column)), initial=0.0))


def _numbers(state: Any) -> Any:
    """Replace what is true or false, such as who is active, by 0."""
    return each(lambda x: 0.0 * x if x.dtype == bool else x, state)
