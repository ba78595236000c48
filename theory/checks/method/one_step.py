"""The one-step promise of a theorem against the exact expectation of what the code does.

At states of real runs, at the solution, at random states, and in the worst case over all states of
small quadratic problems.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.mini_batch import MiniBatch
from certibit.data.problem import Problem
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.backend import mean
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.simulation.iteration import simulated_world, theorem_step
from certibit.solvers.state import each, number_of_runs
from certibit.theory.card import Card
from certibit.theory.potential import value
from certibit.theory.setting import Setting
from certibit.theory.theorem import ContractionPromise, DescentPromise, NormPromise, Theorem
from certibit.theory.verdict import Verdict, largest, searched
from certibit.theory.worlds.fixed_points import at_rest, fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.linear_maps import unit_deviations, valid_deviations, worst_case
from certibit.theory.worlds.probing import OneStep, one_step
from certibit.theory.worlds.units import linear_compressor

SAMPLES = 1000
"""How many outcomes of a step are drawn where gradients are stochastic."""

SURE = 6.0
"""Standard errors that the mean of the outcomes is lowered by: a false alarm in 10^9 states."""

_SAMPLED = f"means of {SAMPLES} samples, less {SURE:g} standard errors"
NOT_KEPT = (
    "One step does not decrease the Lyapunov function as promised: look at signs and factors in "
    "the step, at the weights of the potential and at the rate of the theorem."
)


def noise_of(theorem: Theorem, experiment: ConvexExperiment) -> float:
    """Return e sigma^2 of a theorem on a problem; 0 for exact gradients, perhaps infinite."""
    view: Any = experiment.problem
    noise = view.noise
    e = theorem.noise(experiment.method, Setting.at(experiment))
    if not e or noise is None:
        return 0.0
    if theorem.noise_at_solution and isinstance(noise, MiniBatch):
        return e * float(np.mean(noise.variance_at(view, view.x_star)))
    return e * float(noise.largest_variance(view))


def noise_at_the_solution(
    theorem: Theorem, experiment: ConvexExperiment, *, seed: int = 0
) -> Verdict:
    """Check E[Psi+] <= e sigma^2 at the solution, where Psi is 0; Psi is 1 at the start of a run.

    E[Psi+] is the mean of drawn outcomes, less six standard errors.
    """
    ((_, first),) = _states(experiment, seed, (0,))
    start = _drawn_step(experiment, theorem, first, seed).now
    star = each(lambda x: x[..., :1], fixed_point(experiment.method, experiment.problem))
    found = _drawn_step(experiment, theorem, star, 1 + seed).expected / start
    limit = noise_of(theorem, experiment) / start + 1e-16  # what is left is rounding
    return Verdict("noise at the solution", found, limit, _SAMPLED, NOT_KEPT, **searched([found]))


def _states(
    experiment: ConvexExperiment, seed: int, steps: Sequence[int]
) -> Iterator[tuple[int, Any]]:
    """Yield numbers of iterations, and the states of a run after them."""
    channel, oracle = simulated_world(experiment, [seed])
    state, done = experiment.method.start(channel.template, oracle, channel), 0
    for wanted in steps:
        while done < wanted:
            state = theorem_step(experiment.method, state, oracle, channel)
            done += 1
        yield done, state


def steps_along_a_run(
    theorem: Theorem,
    experiment: ConvexExperiment,
    *,
    seed: int = 0,
    steps: Sequence[int] = (0, 1, 2, 5, 20, 100),
    limit: float | None = None,
) -> Verdict:
    """Check what a theorem promises of one step, at states of a real run after so many iterations.

    If a factor is promised, the value is the largest (E[Psi+] - e sigma^2)/Psi, and the limit is
    tau, or ``limit``. Else it is the largest (E[Psi+] - Psi - e sigma^2)/M, M being |grad f|^2 or
    f - f*, and the limit is -c. E[Psi+] is exact if gradients are and f is taken at points without
    noise; else it is the mean of drawn outcomes, less six standard errors, or of a factor with
    exact gradients an upper bound. States whose Psi is below 1e-16 of the first, or whose M is
    below 1e-12 of it, are left out, where the difference is rounding error.

    Where clients differ, by zeta^2 = (1/n) sum_i |grad f_i(x) - grad f(x)|^2 at the model of a
    state, its multiple in the promise is subtracted, too. Where a promise is about E|grad f|, M is
    eta |grad f|^2, and what E[Psi+] may be above Psi - c M by that promise is subtracted.
    """
    method, view = experiment.method, experiment.problem
    promise = theorem.promise(method, Setting.at(experiment))
    noise, factor = noise_of(theorem, experiment), theorem.measure == "potential"
    bound = factor and view.noise is None
    ratios, first, exact = [], None, True
    for done, state in _states(experiment, seed, steps):
        step = one_step(experiment, theorem, state) if bound else None
        step = step or _exact_step(experiment, theorem, state)
        step = step or _drawn_step(experiment, theorem, state, 1 + seed + SAMPLES * done)
        model = method.model(state)
        measured = step.now if factor else _measure(promise.measure, view, model)
        first = measured if first is None else first
        if measured < (1e-16 if factor else 1e-12) * first:
            break
        exact = exact and step.exact
        allowed = noise if factor else step.now + noise
        if isinstance(promise, DescentPromise):
            allowed += promise.growth * step.now
        if isinstance(promise, DescentPromise) and promise.dissimilarity:
            slopes = view.grad(model)
            zeta_squared = float(np.sum((slopes - mean(slopes)) ** 2)) / view.n
            allowed += promise.dissimilarity * zeta_squared
        if isinstance(promise, NormPromise):
            norm, measured = measured**0.5, promise.eta * measured
            allowed = step.now + promise.c * measured - promise.decrease(norm)
        ratios.append((step.expected - allowed) / measured)
    note = "exact" if exact else "upper bound on E[Psi+]" if bound else _SAMPLED
    name = "one step along a run" if factor else "descent along a run"
    if limit is None:
        limit = promise.factor if factor else -promise.c
    return Verdict(name, largest(ratios), limit, note, NOT_KEPT, **searched(ratios))


def _measure(name: str, problem: Problem, model: Array) -> float:
    """Return f - f* or |grad f|^2 at a model of one run."""
    if name == "gap":
        return float(problem.gap(model)[0])
    return float(np.sum(mean(problem.grad(model)) ** 2))


def _exact_step(experiment: ConvexExperiment, theorem: Theorem, state: Any) -> OneStep | None:
    """Return Psi and E[Psi+] if the latter is found exactly."""
    with suppress(Refusal):
        step = one_step(experiment, theorem, state)
        return step if step.exact else None
    return None


def _drawn_step(experiment: ConvexExperiment, theorem: Theorem, state: Any, seed: int) -> OneStep:
    """Return Psi and a lower confidence bound on E[Psi+], from samples of the step."""
    method, view = experiment.method, experiment.problem
    setting = Setting.at(experiment)
    measure = theorem.promise(method, setting).measure

    def psi(s: Any) -> Array:
        star = at_rest(measure, method, s, view)
        return value(theorem.lyapunov(method, s, star, setting, view), view)

    channel, oracle = simulated_world(experiment, range(seed, seed + SAMPLES))
    many = each(lambda x: np.repeat(x, SAMPLES, axis=2), state)
    found = psi(theorem_step(method, many, oracle, channel))
    error = float(np.std(found, ddof=1)) / SAMPLES**0.5
    return OneStep(float(psi(state)[0]), float(np.mean(found)) - SURE * error, exact=False)


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
