"""The one-step promise of a theorem against the exact expectation of what the code does.

At states of real runs, at random states, and in the worst case over all states of small quadratic
problems. Each check gives a number and its limit; the verdict follows from these two only.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.data.problem import StronglyConvexProblem
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.composition import Scaled
from bitbound.solvers.compressors.identity import Identity
from bitbound.solvers.compressors.selection import RandK
from bitbound.solvers.fit import fitting_compressor, fitting_view
from bitbound.solvers.method import Every, Method
from bitbound.solvers.state import each, number_of_runs
from bitbound.theory.checks.promise import simulated_world
from bitbound.theory.theorem import Card, Condition, Setting, Theorem
from bitbound.theory.verdict import Verdict
from bitbound.theory.worlds.linear_maps import unit_deviations, valid_deviations, worst_case
from bitbound.theory.worlds.probing import one_step

TIGHT = 1e-6
"""A worst case within this relative distance of the promised factor counts as tight."""


def unmet(theorem: Theorem, method: Method, setting: Setting) -> tuple[Condition, ...]:
    """Return the hypotheses of a theorem that fail."""
    return tuple(c for c in theorem.conditions(method, setting) if not c.holds)


def steps_along_a_run(
    theorem: Theorem | None,
    method: Method,
    problem: StronglyConvexProblem,
    compressor: Compressor | None = None,
    *,
    seed: int = 0,
    steps: Sequence[int] = (0, 1, 2, 5, 20, 100),
) -> Verdict:
    """Check E[Psi+]/Psi <= tau exactly, at states of a real run after so many iterations.

    States where Psi has fallen below 1e-16 of its start are left out: what is left is rounding.
    Without a theorem the limit is 1.
    """
    view = fitting_view(method, problem)
    channel, oracle = simulated_world(method, view, compressor, [seed])
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
    limit = promised_factor(theorem, method, problem, compressor)
    return Verdict("one step along a run", float(np.max(factors)), limit, note)


def steps_at_random_states(
    theorem: Theorem | None,
    method: Method,
    problem: Quadratic,
    compressor: Compressor | None = None,
    *,
    seed: int = 0,
    states: int = 10,
) -> Verdict:
    """Check E[Psi+]/Psi <= tau exactly, at random states of a small quadratic problem.

    The parts of a state deviate from the solution by very different amounts, some not at all.
    Cost: (size of a state)^2, since the states violate no invariant.
    """
    view = fitting_view(method, problem)
    units = unit_deviations(method.fixed_point(view))
    allowed = valid_deviations(method.invariants(units, view), number_of_runs(units))
    generator = np.random.default_rng(seed)
    factors, exact = [], True
    for number in range(states):
        weights = allowed.T @ np.exp(generator.normal(scale=3.0, size=len(allowed)))
        signs = generator.choice([-1.0, 1.0], size=allowed.shape[1])
        deviation = allowed @ (signs * weights if number % 2 else generator.normal(size=len(signs)))
        state = each(partial(_combine, deviation), units, method.fixed_point(view))
        step = one_step(method, problem, compressor, state)
        exact = exact and step.exact
        factors.append(step.factor)
    note = "exact" if exact else "upper bound on E[Psi+]"
    limit = promised_factor(theorem, method, problem, compressor)
    return Verdict("one step at random states", float(np.max(factors)), limit, note)


def _combine(deviation: NDArray[np.float64], units: Any, star: Any) -> Any:
    """Return the solution plus a combination of unit deviations, one run."""
    if star.dtype == bool:
        return star
    return star + ((units - star) @ deviation)[:, :, None]


def promised_factor(
    theorem: Theorem | None,
    method: Method,
    problem: StronglyConvexProblem,
    compressor: Compressor | None = None,
) -> float:
    """Return tau, or 1 without a theorem: what every Lyapunov function keeps."""
    if theorem is None:
        return 1.0
    return theorem.rate(method, Setting.of(method, problem, compressor))


def worst_quadratic(
    theorem: Theorem,
    entry: Card,
    rule: str | None = None,
    *,
    sizes: Sequence[tuple[int, int]] = ((2, 2), (3, 2)),
    kappas: Sequence[float] = (10.0, 200.0),
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Verdict:
    """Check the exact worst case over all states of small random quadratics.

    The parameters are those of a rule at each problem, the compressor is rand-1 (scaled to be a
    contraction where the method needs one). The value is the largest (worst case)/tau, over the
    problems where the rule meets the theorem.

    Raises
    ------
    Refusal
        If the rule meets the theorem on none of these problems: then nothing is checked.
    """
    need = entry.method.needs.compressor
    chosen = {"unbiased": RandK(1), "contractive": Scaled(RandK(1)), None: None}[need]
    ratios = []
    for (n, d), kappa in product(sizes, kappas):
        for problem in _quadratics(n, d, kappa, seed):
            try:
                method = entry.parameters(problem, chosen, rule, **(options or {}))
            except Refusal:  # a rule without compression, or a cohort larger than n
                continue
            setting = Setting.of(method, problem, chosen)
            if not unmet(theorem, method, setting):
                rate = theorem.rate(method, setting)
                ratios.append(worst_case(method, problem, chosen) / rate)
    if not ratios:
        raise Refusal(f"the rule {rule!r} meets {theorem.title} on no such problem; take another")
    note = "tight" if max(ratios) > 1 - TIGHT else ""
    return Verdict("worst case on quadratics / tau", max(ratios), 1.0, note)


def _quadratics(n: int, d: int, kappa: float, seed: int) -> Iterator[Quadratic]:
    """Return problems that are hard in different ways: alike clients, and unlike ones."""
    yield Quadratic.random(n, d, 1.0, kappa, shared_eigenvectors=True, seed=seed)
    yield Quadratic.random(n, d, 1.0, kappa, seed=seed)
    yield Quadratic.random(n, d, 1.0, np.geomspace(kappa, np.sqrt(kappa), n), seed=seed)


def worst_like(
    method: Method,
    problem: StronglyConvexProblem,
    compressor: Compressor | None = None,
    *,
    theorem: Theorem | None = None,
    seed: int = 0,
) -> Verdict:
    """Check the worst case over all states of small quadratics that are like a problem.

    For parameters that follow no rule: the quadratics have the problem's mu and L, at most 3
    clients, and a linear compressor with no more variance than the problem's, alone and averaged.

    Raises
    ------
    Refusal
        If the parameters fit no small problem, such as one value for each of many clients.
    """
    constants, n = problem.plain.constants, min(problem.n, 3)
    fitted = fitting_compressor(method, compressor, problem.d)
    linear = [None] if method.needs.compressor is None else [Identity(), *_SMALL]
    values = []
    for d, small in product((2, 3), linear):
        if small is not None and not _milder(method, small, d, n, fitted, problem):
            continue
        like = Quadratic.random(n, d, constants.mu, constants.L, seed=seed)
        try:
            limit = 1.0
            if theorem is not None:
                setting = Setting.of(method, like, small)
                if unmet(theorem, method, setting):
                    continue
                limit = theorem.rate(method, setting)
            values.append(worst_case(method, like, small) / limit)
        except (Refusal, ValueError):  # such as one parameter for each of more clients
            continue
    if not values:
        raise Refusal(f"the parameters of {method.name} fit no problem of {n} clients")
    return Verdict("worst case on small quadratics", max(values), 1.0, f"n = {n}, d = 2 and 3")


_SMALL = (RandK(1), RandK(2), Scaled(RandK(1)), Scaled(RandK(2)))


def _milder(
    method: Method,
    small: Compressor,
    d: int,
    n: int,
    fitted: Compressor,
    problem: StronglyConvexProblem,
) -> bool:
    """Whether a compressor of a small problem is covered by the one of the problem."""
    try:
        if method.needs.compressor == "contractive":
            return small.alpha(d) >= fitted.alpha(problem.d)
        return small.omega(d) <= fitted.omega(problem.d) and small.omega_av(
            d, n
        ) <= fitted.omega_av(problem.d, problem.n)
    except Refusal:
        return False
