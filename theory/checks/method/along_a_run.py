"""What a theorem promises of one step, at states of real runs and at the solution."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.mini_batch import MiniBatch
from certibit.data.problem import Problem
from certibit.solvers.backend import mean
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import simulated_world, theorem_step
from certibit.solvers.state import each
from certibit.theory.potential import value
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise, NormPromise, Theorem
from certibit.theory.verdict import Verdict, largest, searched
from certibit.theory.worlds.fixed_points import at_rest, fixed_point
from certibit.theory.worlds.probing import OneStep, one_step

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
