"""The one-step promise of a theorem against the exact expectation of what the code does.

At states of real runs, at random states, and in the worst case over all states of small quadratic
problems. Each check gives a number and its limit; the verdict follows from these two only.
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
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.solvers.state import each, number_of_runs
from certibit.theory.card import Card
from certibit.theory.setting import Setting
from certibit.theory.theorem import Theorem
from certibit.theory.verdict import Verdict, largest, searched
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.linear_maps import unit_deviations, valid_deviations, worst_case
from certibit.theory.worlds.linearity import linear_compressor
from certibit.theory.worlds.probing import one_step

TIGHT = 1e-6
"""A worst case within this relative distance of the promised factor counts as tight."""
NOT_KEPT = (
    "One step does not decrease the Lyapunov function as promised: look at signs and factors in "
    "the step, at the weights of the potential and at the rate of the theorem."
)


def steps_along_a_run(
    theorem: Theorem,
    experiment: ConvexExperiment,
    *,
    seed: int = 0,
    steps: Sequence[int] = (0, 1, 2, 5, 20, 100),
    limit: float | None = None,
) -> Verdict:
    """Check E[Psi+]/Psi <= tau exactly, at states of a real run after so many iterations.

    States with Psi below 1e-16 of its start are left out, because Psi is then rounding error.
    ``limit`` replaces the factor of the theorem.
    """
    method = experiment.method
    channel, oracle = simulated_world(experiment, [seed])
    state = method.start(channel.template, oracle, channel)
    done, factors, exact = 0, [], True
    first = one_step(experiment, theorem, state).now
    for wanted in steps:
        while done < wanted:
            state = theorem_step(method, state, oracle, channel)
            done += 1
        step = one_step(experiment, theorem, state)
        if step.now < 1e-16 * first:
            break
        exact = exact and step.exact
        factors.append(step.factor)
    note = "exact" if exact else "upper bound on E[Psi+]"
    limit = theorem.rate(method, Setting.at(experiment)) if limit is None else limit
    return Verdict(
        "one step along a run", largest(factors), limit, note, NOT_KEPT, **searched(factors)
    )


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
            setting = Setting.at(experiment)
            if not theorem.unmet(method, setting):
                rate = theorem.rate(method, setting)
                ratios.append(worst_case(experiment, theorem) / rate)
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
    theorem: Theorem, experiment: ConvexExperiment, *, seed: int = 0, limit: float | None = None
) -> Verdict:
    """Check the worst case over all states of small quadratics that are like a problem.

    For parameters that follow no rule: the quadratics have the problem's mu and L, at most 3
    clients, and a linear compressor with no more variance than the problem's, alone and averaged.
    With a ``limit``, in the place of the promised factor, the hypotheses are not looked at.

    Raises
    ------
    Refusal
        If the parameters fit no small problem, such as one value for each of many clients.
    """
    method, n = experiment.method, min(experiment.n, 3)
    constants = experiment.problem.plain.constants
    linear = [None] if method.needs.compressor is None else [Identity(), *_SMALL]
    values = []
    for d, small in product((2, 3), linear):
        if small is not None and not _milder(small, d, n, experiment):
            continue
        shared = method.needs.shared_minimiser
        like = Quadratic.random(n, d, constants.mu, constants.L, shared_minimiser=shared, seed=seed)
        try:
            smaller = Experiment.of(method, like, small)
            setting = Setting.at(smaller)
            if limit is None and theorem.unmet(method, setting):
                continue
            promised = theorem.rate(method, setting) if limit is None else limit
            values.append(worst_case(smaller, theorem) / promised)
        except (Refusal, ValueError):  # such as one parameter for each of more clients
            continue
    if not values:
        raise Refusal(f"the parameters of {method.name} fit no problem of {n} clients")
    note = f"n = {n}, d = 2 and 3"
    return Verdict(
        "worst case on small quadratics", largest(values), 1.0, note, NOT_KEPT, **searched(values)
    )


def worst_descent(theorem: Theorem, experiment: Experiment[Any], *, seed: int = 0) -> Verdict:
    """Check a descent of |grad f|^2 in the worst case over all states of small quadratics.

    The quadratics are convex and their gradients exact, with the smoothness of the average of the
    problem for all clients, so that with its parameters the hypotheses hold there, too; compressors
    as in :func:`worst_like`.
    The value is the largest (E[Psi+] + c |grad f|^2)/Psi.

    Raises
    ------
    Refusal
        If the parameters fit no small problem.
    """
    method, n = experiment.method, min(experiment.n, 3)
    L_f = Setting.at(experiment).constants.L_f
    linear = [None] if method.needs.compressor is None else [Identity(), *_SMALL]
    values = []
    for d, kappa, small in product((2, 3), (1.0, 100.0), linear):
        if small and not _milder(small, d, n, experiment):
            continue
        like = Quadratic.random(
            n,
            d,
            L_f / kappa,
            L_f,
            shared_eigenvectors=True,
            shared_minimiser=method.needs.shared_minimiser,
            seed=seed,
        )
        with suppress(Refusal, ValueError):  # such as one parameter for each of more clients
            smaller = Experiment.of(method, like, small)
            if not theorem.unmet(method, setting := Setting.at(smaller)):
                c = theorem.promise(method, setting).c
                values.append(worst_case(smaller, theorem, c, theorem.measure))
    if not values:
        raise Refusal(f"the parameters of {method.name} fit no problem of {n} clients")
    note = f"n = {n}, d = 2 and 3"
    return Verdict(
        "worst descent on small quadratics",
        largest(values),
        1.0,
        note,
        NOT_KEPT,
        **searched(values),
    )


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
