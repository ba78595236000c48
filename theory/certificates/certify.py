"""Certified factors and descents: the worst case over all functions and all compressors."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import one_thread
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.assumptions.assumption import is_constant
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.certificates.forms import (
    CLOSE,
    NOTHING,
    best_weights,
    class_of_proof,
    default_measure,
    forms_of_class,
    least_at_start,
    require_growth,
    searched_potential,
)
from certibit.theory.certificates.potential_family import Family
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import LocalPotential, Potential
from certibit.theory.proofs.programme.descent_programme import CLOSE as SOLVED
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.programme.factor_programme import NO_FACTOR
from certibit.theory.proofs.proof import Proof
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.proofs.rational_step import RationalStep, combination
from certibit.theory.proofs.start import (
    NO_GROWTH,
    PSI,
    Descent,
    Measure,
    MeasureName,
    factor_step,
    step_and_start,
    with_noises,
)
from certibit.theory.quadratic_potential import QuadraticPotential, Reweighted
from certibit.theory.setting import Setting
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational, rationals
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_found_once

Weights = Literal["fixed", "free"]

_SMALL = (1e-2, 1e-4, 1e-6, 0.0)
"""Relative size of entries that are left out of a form, if next to nothing of c is lost."""

_GIVEN_UP = Fraction(1, 10**6)
"""Relative part of c that may be lost for a Psi that is stated, or is easier to read."""

_KEPT = Fraction(9, 10)
"""Part of the largest c that is kept where gradients are stochastic and no c is given."""


@one_thread()
@outcomes_found_once()
def certify(
    method: Method,
    functions: FunctionClass | Setting,
    potential: Potential | Literal["search"] | None = None,
    measure: MeasureName | None = None,
    *,
    weights: Weights = "fixed",
    least: float | None = None,
    growth: float = 0.0,
    begin: Experiment[Any] | None = None,
) -> Proof:
    """Return a proof that E[Psi+] <= Psi - c M over a class, with a c as large as a search finds.

    This is performance estimation: Psi - c M - E[Psi+] minus nonnegative multiples of inequalities
    that all functions of the class (interpolation conditions) and all compressors satisfy is a sum
    of squares, and c is the largest value of a semidefinite programme. The step, the programme and
    the proof are in rational numbers, so that the result does not depend on the processor.

    With M = Psi, the default for strongly convex functions, it is a factor, E[Psi+] <= (1 - c) Psi.
    Where functions have a lower bound and no solution, f* is inf f, and f - inf f at the model has
    weight 1 in Psi. For M = f - f*, Psi at the state at rest about any x is at most |x - x*|^2, so
    that (1/T) sum_t E[M_t] <= |x_0 - x*|^2/(c T) for a run that starts there; the gradient
    estimates of such a state are the gradients at x. Where the class has stochastic gradients, with
    variance sigma^2, the least e found with E[Psi+] <= Psi - c M + e sigma^2 is returned, for a
    given c.

    Parameters
    ----------
    potential : Potential or "search", optional
        Psi, or the best quadratic form of the state; for M = f - f* a multiple of Psi. By default
        that of the method's first theorem for a factor with exact gradients, if there is one, and
        else "search". For such a factor a theorem's Psi is used unless the form proves more, by
        1e-6 of it. If the card moves the boundary between steps, the proof is about these steps.
    measure : "potential", "gap" or "squared_gradient", optional
        M: Psi itself, f(x) - f* or |grad f(x)|^2 at the model x before the step; by default Psi for
        mu > 0, else f(x) - f* where functions have a solution, else |grad f(x)|^2.
    weights : "fixed" or "free"
        Of a factor: whether the terms of Psi keep their weights, or get those with the best factor.
    least : float, optional
        The c of which e is the smallest, where gradients are stochastic; by default 9/10 of the
        largest. Where they are exact, the largest c is returned whatever this is.
    growth : float
        Prove E[Psi+] <= (1 + growth) Psi - c M + e sigma^2, which is all that holds where the
        variance of gradients grows with f - inf f (``GradientNoise.gap``), and M is not.
    begin : Experiment, optional
        The method on a problem, for functions without a solution and exact gradients: search for
        the form with nearly the least Psi_0/c at the start of its runs, which promises the fewest
        rounds, instead of the largest c.

    Raises
    ------
    Refusal
        If the method cannot be certified, or no finite factor or no descent is proved.

    Examples
    --------
    >>> from certibit import DIANA, GD, FunctionClass, certify
    >>> proof = certify(DIANA(gamma=0.02, alpha=0.1), FunctionClass(n=10, mu=1, L=10, omega=9))
    >>> proof.factor < 1 and proof.verify()
    True
    >>> proof = certify(GD(gamma=0.5), FunctionClass.nonconvex(3, L=1.0))
    >>> round(proof.c, 6), proof.verify()
    (0.4375, True)
    """
    start = perf_counter()
    if isinstance(functions, Setting):
        functions = FunctionClass.of(functions)
    _require_possible(potential, measure, weights, least, growth)
    asked = PSI if functions.mu > 0 else default_measure(functions)
    asked = Measure(measure) if measure else asked
    given = None if least is None else fraction(rational(least))
    grown = fraction(rational(growth))
    exact = asked.contracts and functions.has_solution and not functions.has_variance
    stated: Sequence[Potential] = card_of(method).about("potential") if exact else ()
    if exact and (potential is None or isinstance(potential, str)):
        cut = card_of(method).cut(method)
        if cut is not None:
            if potential is not None and isinstance(cut[1], LocalPotential):
                raise Refusal(
                    f"{method.name} is certified where its own Lyapunov function keeps it, and one "
                    "that is searched for may not; take the stated one"
                )
            method, stated, potential = cut[0], cut[1:], potential or cut[1]
    functions = class_of_proof(method, functions, asked.name)
    require_growth(functions, asked, grown)
    if potential is None:
        potential = stated[0] if stated else "search"
        stated = ()
    if not isinstance(potential, str) and asked.contracts:
        proof = proved_factor(method, functions, potential, weights, given)
    elif not isinstance(potential, str):
        proof = _descent_of(method, functions, potential, asked, given, grown)
    elif asked.contracts:
        proof = _searched_factor(method, functions, stated, given)
    else:
        proof = _searched_descent(method, functions, asked, given, grown, begin)
    if asked.contracts and functions.has_variance and functions.has_solution and proof.exact <= 0:
        raise Refusal(NO_FACTOR)
    return replace(proof, seconds=perf_counter() - start)


def _require_possible(
    potential: Any, measure: Any, weights: str, least: float | None, growth: float
) -> None:
    """Refuse choices that are none."""
    if weights not in get_args(Weights):
        raise Refusal(f"weights = {weights!r} is no choice; take 'fixed' or 'free'")
    if isinstance(potential, str) and potential != "search":
        raise Refusal(f"potential = {potential!r} is none; take 'search', or an object of your own")
    if measure is not None and measure not in get_args(MeasureName):
        raise Refusal(f"{measure!r} is no measure; take {' or '.join(get_args(MeasureName))}")
    if least is not None and not (is_constant(least) and least > 0):
        raise Refusal(f"least = {least!r} is no c of a descent; give a number above 0")
    if not is_constant(growth):
        raise Refusal(f"growth = {growth!r} is no part of Psi; give a number of at least 0")


# factors: M = Psi


def _programme_of_factor(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
    *,
    trusted: bool = False,
) -> tuple[DescentProgramme, tuple[float, ...]]:
    """Return the programme of the best factor with a potential, and the weights of its terms."""
    step = factor_step(method, functions, potential, trusted=trusted)
    own = best_weights(step) if weights == "free" else step.symbols.weights
    exactly = exact_weights(own, potential)
    step = with_noises(step, method, functions, potential, exactly)
    return DescentProgramme.of_factor(step, exactly), own


def proved_factor(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
    least: Fraction | None = None,
) -> Proof:
    """Return the best proof of a factor with a potential; with noise, of the smallest e."""
    programme, own = _programme_of_factor(method, functions, potential, weights)
    return _factor_by(programme, method, functions, potential, own, least)


def _factor_by(
    programme: DescentProgramme,
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: tuple[float, ...],
    least: Fraction | None = None,
) -> Proof:
    return Proof.of(method, functions, potential, PSI, _solved(programme, least), weights)


def proof_of_link(
    step: RationalStep,
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: tuple[float, ...],
    following: tuple[float, ...],
) -> Proof:
    """Return the best proof of a link of a chain, from weights of Psi to others of Psi+."""
    now = exact_weights(weights, potential, linked=True)
    programme = DescentProgramme.of_factor(step, now, tuple(map(rational, following)))
    found = programme.best()
    return Proof.of(method, functions, potential, PSI, found, weights, following=following)


def best_decrease(
    method: Method,
    functions: FunctionClass,
    potential: Potential | Literal["search"] | None = None,
    weights: Weights = "fixed",
    *,
    trusted: bool = True,
    least: float = -np.inf,
) -> float:
    """Return the decrease that :func:`certify` proves, or whether it is above the ``least``."""
    potential, weights = chosen_potential(method, functions, potential, weights)
    programme, _ = _programme_of_factor(method, functions, potential, weights, trusted=trusted)
    return programme.constant(least)


def exact_weights(
    weights: Sequence[float], potential: Potential, *, linked: bool = False
) -> tuple[Rational, ...]:
    """Return the weights of a Lyapunov function as rational numbers.

    Those of a form that was searched for, and those in a link of a chain, may be negative.

    Raises
    ------
    Refusal
        If a weight is infinite or NaN, or is negative and may not be.
    """
    form = potential.potential if isinstance(potential, Reweighted) else potential
    signed = linked or isinstance(form, QuadraticPotential)
    if not all(np.isfinite(weight) and (signed or weight >= 0) for weight in weights):
        raise Refusal(
            f"the weights {tuple(weights)} of the Lyapunov function are not all at least 0 and "
            "finite; take parameters for which it is defined"
        )
    return tuple(map(rational, weights))


def chosen_potential(
    method: Method,
    functions: FunctionClass,
    potential: Potential | Literal["search"] | None,
    weights: Weights = "fixed",
) -> tuple[Potential, Weights]:
    """Return the potential, by default that of a method's first theorem, or one that is searched.

    A potential that was searched for keeps its weights, which the search has optimised.
    """
    if potential is None:
        potential = next(iter(card_of(method).about("potential")), None)
    if potential is None or isinstance(potential, str):
        return searched_potential(method, functions), "fixed"
    return potential, weights


def _searched_factor(
    method: Method, functions: FunctionClass, stated: Sequence[Potential], least: Fraction | None
) -> Proof:
    """Return the best proof among a potential that is searched for and the stated potentials."""
    proofs: dict[Any, Proof] = {}
    for potential in stated:
        # where its hypotheses do not hold, a theorem may have no number for a weight, or no sense
        with suppress(Refusal, ArithmeticError, ValueError):
            programme, own = _programme_of_factor(method, functions, potential)
            key = own, tuple(programme.step.now[0].entries)
            if key not in proofs:  # theorems share Lyapunov functions
                proofs[key] = _factor_by(programme, method, functions, potential, own)
    best = max(proofs.values(), key=lambda proof: proof.exact, default=None)
    try:
        form = proved_factor(method, functions, searched_potential(method, functions), least=least)
    except Refusal:
        if best is None:
            raise
        return best
    enough = best.exact + _GIVEN_UP * abs(best.exact) if best else form.exact
    return form if best is None or form.exact > enough else best


# descents: other measures


def _descent_of(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    measure: Measure,
    least: Fraction | None,
    growth: Fraction = NO_GROWTH,
) -> Proof:
    """Return the best proof of a descent with a potential, or with a multiple of it."""
    step, start = step_and_start(method, functions, potential, measure, growth)
    weights = tuple(map(rational, step.symbols.weights))
    about = method, functions, potential, measure
    if start is None:
        found = _solved(DescentProgramme(step, weights), least)
        return Proof.of(*about, found, tuple(map(fraction, weights)), growth=growth)
    now, after, terms = (
        (combination(weights, forms),) for forms in (step.now, step.after, start.terms)
    )
    step, start = replace(step, now=now, after=after), replace(start, terms=terms)
    found = _solved(DescentProgramme(step, [ZERO], [0], start=start), least)
    (scale,) = found.weights
    scaled = tuple(fraction(scale * w) for w in weights)
    return Proof.of(*about, found, scaled, growth=growth, scale=fraction(scale))


def _solved(programme: DescentProgramme, least: Fraction | None, close: float = SOLVED) -> Descent:
    """Return the largest c or, where gradients are sampled, the smallest e for a c."""
    if programme.samples and least is not None:
        return programme.quietest(rational(least), close)
    best = programme.best(close)
    if programme.samples and best.c > 0:
        return replace(programme.quietest(rational(_KEPT) * best.c, close), bound=best.bound)
    return best


def _tidy(family: Family, programme: DescentProgramme, found: Descent) -> Descent:
    """Return a sum of squares with the least weights, if one has nearly the same c."""
    count = len(found.weights)
    squares = [rationals(own[-count:].astype(object)) for own in family.matrices]
    smallest = programme.smallest(found.c * (1 - rational(_GIVEN_UP) / 2), squares)
    return found if smallest is None else replace(smallest, bound=found.bound)


def _searched_descent(
    method: Method,
    functions: FunctionClass,
    measure: Measure,
    least: Fraction | None,
    growth: Fraction,
    begin: Experiment[Any] | None = None,
) -> Proof:
    """Return the proof with the best quadratic form, of which small parts are left out."""
    family, programme = forms_of_class(method, functions, measure, growth)
    if begin is None:
        found = _solved(programme, least, CLOSE)
    else:
        found = least_at_start(family, programme, functions, begin)
    if functions.has_solution and found.c < NOTHING / rational(functions.L):
        raise Refusal(
            "no descent is found that begins with |x - x*|^2: the largest c is 0; take other "
            "parameters, or state a potential"
        )
    if functions.has_solution and not functions.noise:
        found = _tidy(family, programme, found)
    rest = family.unused
    weights = whole = (*[0.0] * rest, *(float(fraction(w)) for w in found.weights))
    c, spent = fraction(found.c), found.spent(functions)
    enough, most = c - _GIVEN_UP * abs(c), spent * (1 + rational(_GIVEN_UP))
    size = 1.0 if functions.has_solution else whole[0] * family.start.values
    tried: list[tuple[float, ...]] = []
    for small in _SMALL:
        if functions.has_solution:
            weights = family.without_small_parts(whole, small)
        cut = family.without_small(weights, small)
        if cut in tried:
            continue
        tried.append(cut)
        psi = family.potential(cut, signed=True, size=size)
        with suppress(Refusal):
            proof = _descent_of(method, functions, psi, measure, least or enough, growth)
            if proof.exact >= enough and proof.spent <= most:
                return proof
    units = map(rational, programme.step.symbols.weights)
    own = [fraction(w * u) for w, u in zip(found.weights, units, strict=True)]
    own = own[: len(own) - len(family.start.points)]
    whole = (whole[0] * family.start.values, *whole[1 : rest + len(own)])
    psi = family.start.spread().weighted(whole)
    return Proof.of(method, functions, psi, measure, found, tuple(own), growth=growth)
