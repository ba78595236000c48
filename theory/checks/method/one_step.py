"""The one-step promise of a theorem against the exact expectation of what the code does.

At random states, and in the worst case over all states of small quadratic problems.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.state import each, number_of_runs
from certibit.theory.card import Card
from certibit.theory.checks.method.along_a_run import NOT_KEPT
from certibit.theory.setting import Setting
from certibit.theory.theorem import ContractionPromise, Theorem
from certibit.theory.verdict import Verdict, largest, searched
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.linear_maps import unit_deviations, valid_deviations, worst_case
from certibit.theory.worlds.probing import one_step
from certibit.theory.worlds.units import linear_compressor

TIGHT = 1e-6
"""A worst case within this relative distance of the promised factor counts as tight."""


def steps_at_random_states(
    theorem: Theorem, experiment: ConvexExperiment, *, seed: int = 0, states: int = 10
) -> Verdict:
    """Check E[Psi+]/Psi <= tau exactly, at random states of a small quadratic problem.

    The parts of a state deviate from the solution by very different amounts, some not at all.
    Cost: (size of a state)^2, since the states violate no invariant.
    """
    method, view = experiment.method, experiment.problem
    star = fixed_point(method, view)
    units = unit_deviations(star)
    allowed = valid_deviations(invariants(method, units, view), number_of_runs(units))
    generator = np.random.default_rng(seed)
    factors, exact = [], True
    for number in range(states):
        weights = allowed.T @ np.exp(generator.normal(scale=3.0, size=len(allowed)))
        signs = generator.choice([-1.0, 1.0], size=allowed.shape[1])
        deviation = allowed @ (signs * weights if number % 2 else generator.normal(size=len(signs)))
        state = each(partial(_combine, deviation), units, star)
        step = one_step(experiment, theorem, state)
        exact = exact and step.exact
        factors.append(step.factor)
    note = "exact" if exact else "upper bound on E[Psi+]"
    limit = theorem.rate(method, Setting.at(experiment))
    return Verdict(
        "one step at random states", largest(factors), limit, note, NOT_KEPT, **searched(factors)
    )


def _combine(deviation: NDArray[np.float64], units: Any, star: Any) -> Any:
    """Return the solution plus a combination of unit deviations, one run."""
    if star.dtype == bool:
        return star
    return star + ((units - star) @ deviation)[:, :, None]


def worst_quadratic(
    theorem: Theorem,
    card: Card,
    rule: str | None = None,
    *,
    sizes: Sequence[tuple[int, int]] = ((2, 2), (3, 2)),
    kappas: Sequence[float] = (10.0, 200.0),
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Verdict:
    """Check the exact worst case over all states of small random quadratics.

    The parameters are those of a rule at each problem, the compressor is rand-1 (scaled to be a
    contraction where the method needs one), or none where the theorem is met without only. The
    value is the largest (worst case)/tau, over the problems where the rule meets the theorem.

    Raises
    ------
    Refusal
        If the rule meets the theorem on none of these problems: then nothing is checked.
    """
    linear = linear_compressor(card.method)
    ratios: list[float] = []
    for chosen, (n, d), kappa in product(dict.fromkeys((linear, None)), sizes, kappas):
        if chosen is None and linear is not None and ratios:
            break  # without compression only what is not met with it
        for problem in _quadratics(n, d, kappa, seed, card.method.needs.shared_minimiser):
            try:
                method = card.parameters(problem, chosen, rule, **(options or {}))
            except Refusal:  # a rule without compression, or a cohort larger than n
                continue
            experiment = Experiment.of(method, problem, chosen)
            if not theorem.unmet(method, Setting.at(experiment)):
                ratios.append(_worst_ratio(theorem, experiment))
    if not ratios:
        raise Refusal(f"the rule {rule!r} meets {theorem.title} on no such problem; take another")
    worst = largest(ratios)
    note = "tight" if abs(worst - 1) <= TIGHT else ""
    return Verdict("worst case on quadratics / tau", worst, 1.0, note, NOT_KEPT, **searched(ratios))


def _quadratics(n: int, d: int, kappa: float, seed: int, shared: bool) -> Iterator[Quadratic]:
    """Return problems that are hard in different ways: alike clients, and unlike ones."""
    options: Any = {"shared_minimiser": shared, "seed": seed}
    yield Quadratic.random(n, d, 1.0, kappa, shared_eigenvectors=True, **options)
    yield Quadratic.random(n, d, 1.0, kappa, **options)
    yield Quadratic.random(n, d, 1.0, np.geomspace(kappa, np.sqrt(kappa), n), **options)


def worst_like(
    theorem: Theorem, experiment: Experiment[Any], *, seed: int = 0, limit: float | None = None
) -> Verdict:
    """Check the worst case over all states of small quadratics that are like a problem.

    For parameters that follow no rule: at most 3 clients, and a linear compressor with no more
    variance than the problem's, alone and averaged. If a factor is promised, the quadratics have
    the problem's mu and L, and the value is the largest (worst case)/tau; with a ``limit`` in the
    place of tau, the hypotheses are not looked at. Else they are convex, with the smoothness of the
    average of the problem for all clients, so that the hypotheses hold there, too; the value is the
    largest (E[Psi+] + c M)/Psi.

    Raises
    ------
    Refusal
        If the parameters fit no small problem, such as one value for each of many clients.
    """
    method, n = experiment.method, min(experiment.n, 3)
    factor, constants = theorem.measure == "potential", Setting.at(experiment).constants
    if factor:
        constants = experiment.problem.plain.constants
        ends = [(constants.mu, constants.L)]
    else:
        ends = [(constants.L_f / kappa, constants.L_f) for kappa in (1.0, 100.0)]
    linear = [None] if method.needs.compressor is None else [Identity(), *_SMALL]
    values = []
    for d, (mu, L), small in product((2, 3), ends, linear):
        if small is not None and not _milder(small, d, n, experiment):
            continue
        like = Quadratic.random(
            n,
            d,
            mu,
            L,
            shared_eigenvectors=not factor,
            shared_minimiser=method.needs.shared_minimiser,
            seed=seed,
        )
        with suppress(Refusal, ValueError):  # such as one parameter for each of more clients
            smaller = Experiment.of(method, like, small)
            if limit is not None:
                values.append(worst_case(smaller, theorem) / limit)
            elif not theorem.unmet(method, Setting.at(smaller)):
                values.append(_worst_ratio(theorem, smaller))
    if not values:
        raise Refusal(f"the parameters of {method.name} fit no problem of {n} clients")
    name = f"worst {'case' if factor else 'descent'} on small quadratics"
    note = f"n = {n}, d = 2 and 3"
    return Verdict(name, largest(values), 1.0, note, NOT_KEPT, **searched(values))


def _worst_ratio(theorem: Theorem, experiment: ConvexExperiment) -> float:
    """Return the largest ratio of one step on a quadratic problem, divided by the promised one.

    It is that of E[Psi+] and tau Psi, or of E[Psi+] + c M and Psi.
    """
    promise = theorem.promise(experiment.method, Setting.at(experiment))
    if isinstance(promise, ContractionPromise):
        return worst_case(experiment, theorem) / promise.factor
    return worst_case(experiment, theorem, promise.c, promise.measure)


_SMALL = (RandK(1), RandK(2), Scaled(RandK(1)), Scaled(RandK(2)))


def _milder(small: Compressor, d: int, n: int, experiment: ConvexExperiment) -> bool:
    """Whether a compressor of a small problem is covered by the one of the problem."""
    fitted = experiment.compressor
    try:
        if experiment.method.needs.by_variance:
            setting = Setting.at(experiment)
            own = replace(setting, compressor=small, n=n, d=d).bias_and_variance
            return all(map(float.__le__, own, setting.bias_and_variance))
        if experiment.method.needs.compressor == "contractive":
            return small.alpha(d) >= fitted.alpha(experiment.d)
        return small.omega(d) <= fitted.omega(experiment.d) and small.omega_av(
            d, n
        ) <= fitted.omega_av(experiment.d, experiment.n)
    except Refusal:
        return False
