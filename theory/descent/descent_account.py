"""The certified descent of one method beside its theorem, its largest and its best step size."""

import math
from contextlib import suppress
from dataclasses import dataclass

import scipy

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import one_thread
from certibit.solvers.method import Method
from certibit.theory.assumptions.bounded_dissimilarity import BoundedDissimilarity
from certibit.theory.card import Card
from certibit.theory.certificates.largest_step import limits, steps_of
from certibit.theory.certificates.summary import verdict
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.descent.descent_forms import has_descent, largest_constant, noise_frontier
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise, RunTheorem, Theorem

ACCURACY = 1e-2
"""Relative accuracy of step sizes that are searched for."""

ROUNDED = 1e-9
"""Part of a published c that is left to rounding where the smallest e is looked for."""

MOST_STEPS = 12
"""How many step sizes are tried for the best one."""


@dataclass(frozen=True)
class DescentAccount:
    """The published and the certified descent of a method, with step sizes.

    Attributes
    ----------
    method, setting
        What it is about.
    title : str or None
        The theorem with the largest c of those that apply.
    published, noise, unlike : float
        Its c, e and e', NaN if none applies; where functions have a solution, times the factor with
        which its Psi is at most |x - x*|^2 at the state at rest about x.
    stated : DescentCertificate or None
        The best certificate with its Psi; None without a theorem.
    certificate : DescentCertificate
        The proof of the certified c.
    step_name : str or None
        The parameter that is the step size.
    largest_step : float
        The largest step size with a certified descent, the other parameters as they are.
    best_step, best : float
        The step size with the largest certified c that was found, and this c; NaN where e > 0.
    frontier : tuple of DescentPromise
        With stochastic gradients, the smallest e for parts of the largest c; of a factor, for c.
    """

    method: Method
    setting: Setting
    title: str | None
    published: float
    noise: float
    stated: DescentCertificate | None
    certificate: DescentCertificate
    step_name: str | None
    largest_step: float
    best_step: float
    best: float
    frontier: tuple[DescentPromise, ...] = ()
    unlike: float = 0.0

    @property
    def verdict(self) -> str:
        """In words: tight, loose by which factor, or what else; of 1/(e + zeta^2 e') if that is."""
        weight = self.certificate.functions.zeta**2
        stated = self.noise + weight * self.unlike
        proved = self.certificate.e + weight * self.certificate.dissimilarity
        if stated > 0 and proved > 0:
            return verdict(1 / stated, 1 / proved)
        return verdict(self.published, self.certificate.c)


@dataclass(frozen=True)
class StatedDescent:
    """The theorem with the largest c of those that apply to a method.

    Attributes
    ----------
    theorem : Theorem
        It.
    certificate : DescentCertificate
        The best certificate with its Psi.
    c, e, unlike : float
        What it states, before M, sigma^2 and zeta^2; where functions have a solution, times the
        factor with which its Psi is at most |x - x*|^2 at the state at rest about x.
    least : float or None
        The c of which the smallest e is certified, where gradients are stochastic.
    """

    theorem: Theorem
    certificate: DescentCertificate
    c: float
    e: float
    least: float | None
    unlike: float = 0.0


def stated_descent(
    card: Card, method: Method, where: Setting, functions: FunctionClass
) -> StatedDescent | None:
    """Return the strongest theorem of a card about a descent over a class; None if none applies.

    Raises
    ------
    Refusal
        If the method cannot be certified with its Psi.
    """
    noise = functions.noise
    stated = card.about("gap" if functions.has_solution else "squared_gradient")
    if noise and (noise.relative or noise.gap or noise.expected):  # that no theorem knows
        return None
    unlike = [one for one in functions.assumptions if isinstance(one, BoundedDissimilarity)]
    zeta = min((one.zeta for one in unlike if one.B <= 1), default=math.inf)
    held = [
        one
        for one in stated
        if not isinstance(one, RunTheorem)
        and not one.unmet(method, where)
        and (noise is None or one.allows_noise(method, where))
    ]
    if not held:
        return None
    theorem = max(held, key=lambda one: one.descent(method, where))
    promise = theorem.promise(method, where)
    c, e = promise.c, promise.e if noise or not functions.has_variance else 0.0
    if promise.dissimilarity and math.isinf(zeta):  # clients may differ by any zeta
        return None
    apart = promise.dissimilarity * (zeta / functions.zeta) ** 2 if promise.dissimilarity else 0.0
    least = c * (1 - ROUNDED) if functions.has_variance else None
    proof = certify_descent(method, functions, theorem, least=least)
    scale = float(proof.scale)
    return StatedDescent(theorem, proof, scale * c, scale * e, least, scale * apart)


@one_thread()
def descent_account(
    card: Card,
    method: Method,
    where: Setting,
    functions: FunctionClass | None = None,
    growth: float = 0.0,
) -> DescentAccount:
    """Certify the descent of a method, compare with its theorem, and search for step sizes.

    Psi may grow by a part ``growth`` of itself, which theorems of cards do not use.

    Raises
    ------
    Refusal
        If the method cannot be certified, or no descent is proved.
    """
    functions = functions or FunctionClass.of(where)
    told = stated_descent(card, method, where, functions)
    stated = told.certificate if told else None
    least = told.least if told else None
    try:
        proof = certify_descent(method, functions, least=least, growth=growth)
    except Refusal:
        if stated is None:
            raise
        proof = stated
    spent = [one.descent.spent(functions) for one in (stated, proof) if one]
    if stated is not None and (spent[0], -stated.c) < (spent[1], -proof.c):
        proof = stated
    name, psi = card.step_size, told.theorem if told and proof is stated else None
    largest, best_step, best = math.nan, math.nan, math.nan
    if name is not None:
        largest = descent_limit(method, name, functions, growth=growth, psi=psi)
        if math.isfinite(largest) and not spent[-1]:
            best_step, best = _best_step(method, name, functions, largest, psi)
    return DescentAccount(
        method,
        where,
        told.theorem.title if told else None,
        told.c if told else math.nan,
        told.e if told else math.nan,
        stated,
        proof,
        name,
        largest,
        best_step,
        best,
        noise_frontier(method, functions, growth=growth) if functions.has_variance else (),
        told.unlike if told else math.nan,
    )


def descent_limit(
    method: Method,
    name: str,
    functions: FunctionClass,
    accuracy: float = ACCURACY,
    growth: float = 0.0,
    psi: Potential | None = None,
) -> float:
    """Return the largest value of a step size with a certified descent, searched from its own.

    NaN if none is found in 40 halvings, infinity if all are certified in 40 doublings. The values
    with a descent are assumed to be an interval from 0. ``psi`` is tried beside all forms: f in it
    may be at another point than the model.

    Examples
    --------
    >>> from certibit import GD, FunctionClass
    >>> found = descent_limit(GD(gamma=1.0), "gamma", FunctionClass.nonconvex(2, L=1.0), 1e-3)
    >>> round(found, 2)
    2.0
    """
    change = steps_of(method, name)

    def descends(step: float) -> bool:
        with suppress(Refusal):
            if has_descent(change(step), functions, growth=growth):
                return True
        return _constant(change(step), functions, psi, growth) > 0

    low, high = limits(descends, getattr(method, name), accuracy)
    return high if high == math.inf else low


def _constant(
    method: Method, functions: FunctionClass, psi: Potential | None, growth: float = 0.0
) -> float:
    """Return the certified c of a Psi; 0 if there is none."""
    if psi is not None:
        with suppress(Refusal):
            return certify_descent(method, functions, psi, growth=growth).c
    return 0.0


def _best_step(
    method: Method,
    name: str,
    functions: FunctionClass,
    largest: float,
    psi: Potential | None = None,
) -> tuple[float, float]:
    """Return a step size with a large c, and c; it is searched below the largest step."""
    tried: dict[float, float] = {}
    change = steps_of(method, name)

    def lost(part: float) -> float:
        step = float(part * largest)
        found = [_constant(change(step), functions, psi)] if psi else []
        with suppress(Refusal):
            found.append(largest_constant(change(step), functions))
        if not found:
            return largest
        tried[step] = max(found)
        return -tried[step]

    scipy.optimize.minimize_scalar(
        lost,
        bounds=(0.0, 1.0),
        method="bounded",
        options={"maxiter": MOST_STEPS, "xatol": ACCURACY},
    )
    return max(tried.items(), key=lambda pair: pair[1], default=(math.nan, math.nan))
