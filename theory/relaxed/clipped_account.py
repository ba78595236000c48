"""The certified decrease of one method beside its theorem, what is attained, and larger steps.

Published are conditions, steps and promises of methods that clip, with one step a round.
"""

import math
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy

from certibit.data.errors import Refusal
from certibit.data.problem import RelaxedConstants
from certibit.data.relaxed.families import Exponential, Extremal, Multiples, Shape
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import advance, simulated_world
from certibit.theory.card import Card
from certibit.theory.cards.clipped_sgd import ClippedGD
from certibit.theory.cards.episode import GENERAL, MAIN, Theorem1
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.certificates.largest_step import limits
from certibit.theory.certificates.summary import verdict
from certibit.theory.relaxed.certify_clipped import (
    ClippedCertificate,
    SlopeMeasure,
    certify_clipped,
)
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
from certibit.theory.theorem import Condition
from certibit.theory.verdict import ContradictionError


@dataclass(frozen=True)
class PublishedStep:
    """A theorem on a method, at some parameters.

    Attributes
    ----------
    title : str
        The theorem.
    conditions : tuple of Condition
        Its hypotheses on eta and gamma, evaluated.
    eta, gamma : float
        The largest that it allows.
    c : float
        The c of f(x+) <= f(x) - c M that it promises where its hypotheses hold; NaN if its promise
        is of another kind.
    promise : str
        What it promises.
    epsilon : float
        The largest accuracy of a theorem that is about one; NaN for others.
    """

    title: str
    conditions: tuple[Condition, ...]
    eta: float
    gamma: float
    c: float
    promise: str
    epsilon: float = math.nan

    @property
    def holds(self) -> bool:
        """Whether all hypotheses hold."""
        return all(condition.holds for condition in self.conditions)


def published_step(
    card: Card,
    functions: RelaxedFunctions,
    eta: float,
    gamma: float,
    constants: RelaxedConstants | None = None,
) -> PublishedStep | None:
    """Return the theorem on one step of a method, at eta and gamma of its M; None without one.

    ``constants`` are those of EPISODE for the f_i, by default L0 and L1 of f, kappa = 0 and rho =
    1, where the step that its theorem allows is largest. Its accuracy epsilon is the largest that
    it allows. With I local steps, eta and gamma are I times those of one.
    """
    theorem = next(iter(card.about("gradient_norm")), None)
    if isinstance(theorem, Theorem1):
        own = RelaxedConstants(functions.L0, functions.L1, 0.0, 1.0, functions.sigma)
        return _of_episode(functions, eta, gamma, constants or own)
    if theorem is None or functions.sigma:
        return None
    if theorem.equal and (functions.kappa, functions.rho) != (0, 1):
        return None
    limits = theorem.limits(functions.L0, functions.L1, eta, gamma)
    least, *others = (float(condition.right) for condition in limits)
    half = "" if theorem.c == ClippedGD.c else ", of whose steps these are at least the half"
    promise = f"f(x+) <= f(x) - M/{1 / theorem.c:g}"
    return PublishedStep(f"{theorem.title}{half}", limits, least, min(others), theorem.c, promise)


def _of_episode(
    functions: RelaxedFunctions, eta: float, gamma: float, c: RelaxedConstants
) -> PublishedStep | None:
    """Return Theorem 1 of EPISODE for I = 1; as printed where f has L0 and L1 of the f_i itself."""
    if not (c.L0 and c.L1):
        return None
    form = MAIN if (functions.L0, functions.L1) == (c.L0, c.L1) else GENERAL
    epsilon, c = form.largest_epsilon(c), replace(c, Delta=1.0)
    chosen = form.parameters(c, functions.n, 1, epsilon)
    limits = form.hypotheses(c, functions.n, 1, epsilon, eta, gamma, chosen.R)
    return PublishedStep(
        f"{form.title}, at epsilon = {epsilon:.4g}, kappa = {c.kappa:g}, rho = {c.rho:g}",
        tuple(one for one in limits if "eta" in one.statement and "R" not in one.statement),
        chosen.eta,
        chosen.gamma,
        math.nan,
        "the mean of |grad f(x)| over rounds r = 0..R is at most 3 epsilon from R = "
        "4 Delta/(epsilon^2 eta) on",
        epsilon,
    )


SLOPES = 241
"""Gradients that a step is measured at, from 1/1000 to 1000 times the kink of M."""


ACCURACY = 1e-2
"""Relative accuracy of step sizes that are searched for."""
MOST_STEPS = 12
"""How many step sizes are tried for the best one."""
AGREES = 1e-9
"""Relative distance to what is attained below which a c is called attained."""


@dataclass(frozen=True)
class _AttainedDecrease:
    """The smallest (f(x) - f(x+))/M that was measured, and the |grad f(x)| where it was."""

    c: float
    slope: float


def _extremal_problem(functions: RelaxedFunctions, slopes: np.ndarray) -> Multiples:
    """Return f_i = f, with f'' = L0 + L1 |f'| on the real line, from points with given |f'|.

    Its runs start at x with |f'(x)| = ``slopes``, (R,).
    """
    L0, L1 = functions.L0, functions.L1
    shape: Shape = Extremal(L0, L1) if L0 else Exponential(L1)
    if not L0:
        x = np.log(slopes / L1) / L1
    else:
        x = np.log1p(L1 * slopes / L0) / L1 if L1 else slopes / L0
    return Multiples.of(shape, (1.0,) * functions.n, x.reshape(1, 1, -1))


def attained_decrease(
    method: Method, functions: RelaxedFunctions, measure: SlopeMeasure
) -> _AttainedDecrease:
    """Run one step, without noise, on the extremal function from many points.

    No c above the result is true.
    """
    slopes = float(measure.kink) * np.logspace(-3, 3, SLOPES)
    problem = _extremal_problem(functions, slopes)
    experiment = Experiment.of(method, problem)
    channel, oracle = simulated_world(experiment, seeds=range(SLOPES))
    before = channel.template
    state, _ = advance(method, method.start(before, oracle, channel), oracle, channel)
    fallen = problem.gap(before) - problem.gap(method.model(state))
    ratios = fallen / [measure.at(slope) for slope in slopes]
    worst = int(np.argmin(ratios))
    return _AttainedDecrease(float(ratios[worst]), float(slopes[worst]))


@dataclass(frozen=True)
class ClippedAccount:
    """The published and the certified decrease of a method, with step sizes.

    Attributes
    ----------
    published : PublishedStep or None
        The theorem, if there is one.
    certificate : ClippedCertificate
        The proof of the certified c.
    lemma_5 : float
        The c that Lemma 5 of EPISODE with C = 1 proves; NaN if none.
    attained : _AttainedDecrease or None
        The c of the extremal function, without noise: no larger one is true.
    largest : float
        The factor by which eta and gamma may grow at most with a certified c > 0; NaN if the
        method has neither.
    best, best_c : float
        The factor with the largest certified c M that was found, and c there.
    """

    published: PublishedStep | None
    certificate: ClippedCertificate
    lemma_5: float
    attained: _AttainedDecrease | None
    largest: float
    best: float
    best_c: float

    @property
    def is_attained(self) -> bool:
        """Whether a function attains the certified c."""
        one = self.attained
        return one is not None and one.c <= self.certificate.c * (1 + AGREES)

    @property
    def verdict(self) -> str:
        """In words: tight, loose by which factor, or what else."""
        one = self.published
        return verdict(one.c if one and one.holds else math.nan, self.certificate.c)


def clipped_account(
    method: Method, functions: RelaxedFunctions, constants: RelaxedConstants | None = None
) -> ClippedAccount:
    """Certify the decrease of a method, compare with its theorem, and search for step sizes.

    Raises
    ------
    Refusal
        If the method cannot be certified, or no decrease is proved.
    ContradictionError
        If a function decreases less than is certified: an error of certibit.
    """
    proof = certify_clipped(method, functions)
    attained = None
    if not functions.sigma:
        attained = attained_decrease(method, functions, proof.measure)
        if proof.c > attained.c * (1 + AGREES):
            raise ContradictionError(
                f"c = {proof.c} is certified of {method}, and {attained.c} attained at |grad f(x)| "
                f"= {attained.slope}"
            )
    by_lemma = math.nan
    with suppress(Refusal):
        by_lemma = certify_clipped(method, functions, "lemma-5").c
    eta, gamma = float(proof.measure.eta), float(proof.measure.gamma)
    published = published_step(card_of(method), functions, eta, gamma, constants)
    return ClippedAccount(published, proof, by_lemma, attained, *_steps(method, functions))


def _steps(method: Method, functions: RelaxedFunctions) -> tuple[float, float, float]:
    """Return the largest factor of all steps, the best one, and its c; NaN if none has a name."""
    if not _step_names(method):
        return math.nan, math.nan, math.nan
    low, high = limits(lambda t: _certified(method, functions, t) > 0, 1.0, ACCURACY)
    found = scipy.optimize.minimize_scalar(
        lambda t: -t * _certified(method, functions, t),
        bounds=(0.0, low),
        method="bounded",
        options={"maxiter": MOST_STEPS, "xatol": ACCURACY * low},
    )
    best = float(found.x)
    largest = high if high == math.inf else low
    return largest, best, _certified(method, functions, best)


def scaled(method: Method, factor: float) -> Method:
    """Return a method with its eta, and the gamma of a method that has both, times a factor."""
    changes: Any = {name: factor * getattr(method, name) for name in _step_names(method)}
    return replace(method, **changes)


def _step_names(method: Method) -> set[str]:
    return {one.name for one in fields(method)} & {"eta", "gamma"}


def _certified(method: Method, functions: RelaxedFunctions, factor: float) -> float:
    """Return the certified c of larger steps; 0 if there is none."""
    with suppress(Refusal):
        return certify_clipped(scaled(method, factor), functions).c
    return 0.0


def parameters_of(
    card: Card, functions: RelaxedFunctions, constants: RelaxedConstants | None = None
) -> Method:
    """Return a method with the largest parameters of its theorem.

    Raises
    ------
    Refusal
        If there is no such theorem, or no way to make the method from eta and a threshold.
    """
    found = published_step(card, functions, 1.0, 1.0, constants)
    if found is None or not card.threshold or not math.isfinite(found.eta * found.gamma):
        equal = ", or kappa = 0 and rho = 1 if all f_i are equal" * (card.name == "celgc")
        raise Refusal(
            f"no theorem on {card.name} has parameters for {functions.described}; give each "
            f"yourself{equal}"
        )
    return card.method(**card.steps(found.eta, found.gamma / found.eta))
