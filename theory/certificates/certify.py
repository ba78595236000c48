"""Certified factors and descents: the worst case over all functions and all compressors.

The potential is stated, or the best quadratic form of the state that is found.
"""

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
from certibit.solvers.simulation.experiment import Experiment, require_method
from certibit.theory.assumptions.assumption import is_constant
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.certificates.potential_family import Family
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import LocalPotential, Potential
from certibit.theory.proofs.programme.descent_programme import (
    CLOSE as SOLVED,
    NO_FACTOR,
    DescentProgramme,
    FactorProgramme,
)
from certibit.theory.proofs.proof import (
    NO_GROWTH,
    PSI,
    Descent,
    Measure,
    MeasureName,
    Proof,
    factor_step,
    movement,
    step_and_start,
    values_at_start,
    with_noises,
)
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.proofs.rational_step import RationalStep, combination
from certibit.theory.quadratic_potential import QuadraticPotential, Reweighted
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational, rationals
from certibit.theory.worlds.symbolic.step_outcomes import as_used, outcomes_found_once

LARGEST = 10**6
"""Form that is searched for at most, in sums of the squares of all parts of a state."""

CLOSE = 1e-7
"""Relative distance of c to its bound at which a search for a form ends, well inside."""

GIVEN_UP = 1e-7
"""Relative loss of decrease that is accepted for a form that can be read."""

SHORT = ((1e-3, 4), (1e-4, 6), (1e-6, 8))
"""The relative size of entries that are left out of a form, and its digits, tried in turn."""

MOST_CLASSES = 4
"""With more classes all clients have the same weights, as the form grows with their square."""


PARTS = (0.25, 0.5, 0.75, 0.9, 0.99)
"""Parts of the largest c for which the smallest e is looked for."""

NOTHING = rational(1e-9)
"""A c below this, divided by L, is none."""


def form_of_factor(method: Method, functions: FunctionClass) -> tuple[Family, FactorProgramme]:
    """Return all quadratic forms, and the programme of the one with the largest factor.

    Few classes of clients have weights of their own.
    """
    few = 1 < len(functions.kinds) <= MOST_CLASSES
    family = Family.largest(method, functions, functions.counts if few else ())
    step, _ = step_and_start(method, functions, family.start.spread(), PSI, trusted=True)
    step = replace(step.weighted, measured=(combination([ZERO], step.now[:1]),))
    count = len(step.now)
    sizes = list(map(rational, family.unit[-count:]))
    if functions.has_solution:
        return family, FactorProgramme(step, [ZERO] * count, range(count), sizes)
    unit = _unit_of_values(method, family)
    most = [LARGEST * unit * size for size in sizes]
    squares = range(1, count - len(family.start.points))
    return family, FactorProgramme(step, [unit, *[ZERO] * (count - 1)], squares, most)


def _unit_of_values(method: Method, family: Family) -> Rational:
    """Return the weight with which f - inf f at the model has weight 1."""
    if not family.start.values:
        raise Refusal(
            f"f at the model of {method.name} depends on what is drawn in its step, and no form "
            "with f - inf f is found; state a potential"
        )
    return 1 / rational(family.start.values)


def searched_potential(method: Method, functions: FunctionClass) -> QuadraticPotential:
    """Return the quadratic form of the state with nearly the largest decrease.

    It has as few entries and digits as lose at most ``GIVEN_UP`` of the decrease, where gradients
    are exact and functions have a solution.

    Raises
    ------
    Refusal
        If no such form can be certified.
    """
    family, programme = form_of_factor(method, functions)
    c, found = programme.best_form(CLOSE)
    if functions.has_variance or not functions.has_solution:
        if c <= 0:
            raise Refusal(NO_FACTOR)
        return family.of_weights(found)
    least = float(fraction(c)) - GIVEN_UP * abs(float(fraction(c)))
    weights = (*[0.0] * family.unused, *(float(fraction(w)) for w in found))
    for small, digits in SHORT:
        psi = family.potential(family.without_small(weights, small), signed=True).rounded(digits)
        own = family.rational(family.weights_of(psi))
        with suppress(Refusal):
            if DescentProgramme.of_factor(programme.step, own).constant(least) > least:
                return psi
    return family.of_weights(found)


def _best_weights(step: RationalStep) -> tuple[float, ...]:
    """Return the weights of the terms of a step with the largest decrease."""
    given = step.symbols.weights
    used = [place for place, weight in enumerate(given) if weight]
    one = step.weighted
    now, after = (tuple(forms[k] for k in used) for forms in (one.now, one.after))
    nothing = (combination([ZERO], now[:1]),)
    one = replace(one, now=now, after=after, measured=nothing, equalities={})
    ones = [rational(1)] * len(used)
    _, found = FactorProgramme(one, [ZERO] * len(used), range(len(used)), ones).best_form(CLOSE)
    weights = [0.0] * len(given)
    for place, w in zip(used, found, strict=True):
        weights[place] = given[place] * max(float(fraction(w)), 0.0)
    return tuple(weights)


def default_measure(functions: FunctionClass) -> Measure:
    """Return f - f* where functions have a solution, else |grad f(x)|^2."""
    return Measure("gap" if functions.has_solution else "squared_gradient")


def class_of_proof(
    method: Method, functions: FunctionClass | Setting, measure: MeasureName | None = None
) -> FunctionClass:
    """Return the class over which a descent of a method is certified."""
    if isinstance(functions, Setting):
        functions = FunctionClass.of(functions)
    if method.needs.composite and not (measure == "potential" and functions.has_solution):
        raise Refusal(
            f"{method.name} solves min f + g with a strongly convex g; no descent is certified of "
            "such a method"
        )
    noise = functions.noise
    if noise and noise.expected is not None and not functions.has_solution:
        raise Refusal(
            f"{noise!r} compares noises with those at a solution, which these functions need not "
            "have; give difference or gap"
        )
    if functions.has_solution and functions.noise and functions.noise.relative:
        raise Refusal(
            f"{functions.noise!r} grows with the gradients of the f_i, which are not bounded by "
            "f - f* where these differ at the solution; take relative = 0"
        )
    return as_used(method, functions)


def _require_growth(functions: FunctionClass, measure: Measure, growth: Fraction) -> None:
    """Refuse a descent that cannot be for a noise that grows with f - inf f."""
    noise = functions.noise
    if growth and (functions.has_solution or measure.name != "squared_gradient"):
        raise Refusal(
            f"growth = {float(growth):g} is of descents of |grad f(x)|^2 of functions without a "
            "solution; leave it out"
        )
    if noise and noise.gap and not growth and measure.name == "squared_gradient":
        raise Refusal(
            f"{noise!r} grows with f - f*, and Psi with it; give the growth that is allowed, such "
            "as growth=0.001"
        )


def _forms_of_class(
    method: Method,
    functions: FunctionClass,
    measure: Measure,
    growth: Fraction = NO_GROWTH,
) -> tuple[Family, DescentProgramme]:
    """Return all quadratic forms, and the programme of the best of them."""
    family = Family.largest(method, functions)
    if functions.has_solution:
        family = family.without_points()
    spread = family.start.spread()
    step, start = step_and_start(method, functions, spread, measure, growth, trusted=True)
    step, start = step.weighted, start and start.weighted(step)
    count = len(step.now)
    sizes = list(map(rational, family.unit[-count:]))
    squares = range(count - len(family.start.points))
    if start:
        along = movement(step.symbols, 0)
        if not any(along):
            raise Refusal(
                f"Psi is not compared with |x - x*|^2: where {method.name} is at rest about x is "
                "known up to rounding only; take other parameters, or state a potential"
            )
        unit = 1 / (along @ combination(sizes, step.now).blocks[0] @ along)
        most = [LARGEST * unit * size for size in sizes]
        return family, DescentProgramme(step, [ZERO] * count, squares, most, start)
    unit = _unit_of_values(method, family)
    most = [LARGEST * unit * size for size in sizes]
    return family, DescentProgramme(step, [unit, *[ZERO] * (count - 1)], squares[1:], most)


def _least_at_start(
    family: Family, programme: DescentProgramme, functions: FunctionClass, begin: Experiment[Any]
) -> Descent:
    """Return the descent with nearly the least Psi_0/c at the start of runs of an experiment."""
    if functions.has_solution or programme.samples:
        raise Refusal(
            "a start is known of descents over functions without a solution, with exact gradients; "
            "leave begin out"
        )
    values = values_at_start(family.start.spread(), begin, functions)
    return programme.cheapest(list(map(rational, values)), CLOSE)


def has_descent(
    method: Method,
    functions: FunctionClass,
    measure: MeasureName | None = None,
    growth: float = 0.0,
) -> bool:
    """Whether some c > 0 is proved; the search ends at the first.

    Raises
    ------
    Refusal
        As :func:`~certibit.theory.certificates.certify.certify`.

    Examples
    --------
    >>> from certibit import GD, FunctionClass
    >>> from certibit.theory.certificates.certify import has_descent
    >>> [has_descent(GD(gamma), FunctionClass.nonconvex(3, L=1.0)) for gamma in (1.9, 2.1)]
    [True, False]
    """
    functions = class_of_proof(method, functions, measure)
    asked = Measure(measure) if measure else default_measure(functions)
    least = NOTHING / rational(functions.L) if functions.has_solution else ZERO
    _, programme = _forms_of_class(method, functions, asked, Fraction(growth))
    return bool(programme.best(CLOSE, enough=least).c > least)


def largest_constant(method: Method, functions: FunctionClass) -> float:
    """Return the largest c of any quadratic form Psi, for the default M of the class.

    Raises
    ------
    Refusal
        As :func:`~certibit.theory.certificates.certify.certify`.
    """
    functions = class_of_proof(method, functions)
    _, programme = _forms_of_class(method, functions, default_measure(functions))
    return float(fraction(programme.best(CLOSE).c))


def noise_frontier(
    method: Method,
    functions: FunctionClass | Setting,
    parts: Sequence[float] = PARTS,
    growth: float = 0.0,
) -> tuple[DescentPromise, ...]:
    """Return proved promises with the smallest e for some parts of the largest c; () without noise.

    Where clients differ by zeta, e + zeta^2 e' is the smallest. M is the default one of the class,
    and each promise has its own quadratic form Psi.

    Raises
    ------
    Refusal
        As :func:`~certibit.theory.certificates.certify.certify`.

    Examples
    --------
    >>> from certibit import SGD, FunctionClass, GradientNoise, noise_frontier
    >>> functions = FunctionClass.nonconvex(10, L=1.0, noise=GradientNoise())
    >>> few, many = noise_frontier(SGD(gamma=0.3), functions, parts=(0.5, 0.99))
    >>> few.c < many.c and few.e < many.e
    True
    """
    functions, grown = class_of_proof(method, functions), Fraction(growth)
    _require_growth(functions, default_measure(functions), grown)
    _, programme = _forms_of_class(method, functions, default_measure(functions), grown)
    largest = programme.best(CLOSE).c
    if not programme.samples or largest <= 0:
        return ()
    found = (programme.quietest(rational(part) * largest, CLOSE) for part in parts)
    proved = ([float(fraction(x)) for x in (one.c, one.e, one.dissimilarity)] for one in found)
    return tuple(DescentPromise(c, e, growth, dissimilarity=unlike) for c, e, unlike in proved)


def fewest_rounds(method: Method, functions: FunctionClass, begin: Experiment[Any]) -> float:
    """Return nearly the least Psi_0/c at the start of the runs of an experiment; else infinity.

    Raises
    ------
    Refusal
        As :func:`~certibit.theory.certificates.certify.certify`.
    """
    functions = class_of_proof(method, functions)
    family, programme = _forms_of_class(method, functions, default_measure(functions))
    found = _least_at_start(family, programme, functions, begin)
    values = values_at_start(family.start.spread(), begin, functions)
    start = sum(float(fraction(w)) * q for w, q in zip(found.weights, values, strict=True))
    return start / float(fraction(found.c)) if found.c > 0 else float("inf")


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
    that (1/T) sum_t E[M_t] <= |x_0 - x*|^2/(c T) for a run that starts there. In such a state,
    which the command line writes out, an estimate of a client's gradient is that at x; one that is
    found, of a single client or shared by all, is 0. Where the class has stochastic gradients, with
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
    require_method(method)
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
    _require_growth(functions, asked, grown)
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
    own = _best_weights(step) if weights == "free" else step.symbols.weights
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
    family, programme = _forms_of_class(method, functions, measure, growth)
    if begin is None:
        found = _solved(programme, least, CLOSE)
    else:
        found = _least_at_start(family, programme, functions, begin)
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
