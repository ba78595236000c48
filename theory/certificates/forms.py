"""All quadratic forms of a method over a class, and the best of them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.certificates.potential_family import Family
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.programme.factor_programme import NO_FACTOR, FactorProgramme
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.proofs.rational_step import RationalStep, combination
from certibit.theory.proofs.start import (
    NO_GROWTH,
    PSI,
    Descent,
    Measure,
    MeasureName,
    movement,
    step_and_start,
    values_at_start,
)
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational
from certibit.theory.worlds.symbolic.step_outcomes import as_used

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


def best_weights(step: RationalStep) -> tuple[float, ...]:
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


def require_growth(functions: FunctionClass, measure: Measure, growth: Fraction) -> None:
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


def forms_of_class(
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


def least_at_start(
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
    >>> from certibit.theory.certificates.forms import has_descent
    >>> [has_descent(GD(gamma), FunctionClass.nonconvex(3, L=1.0)) for gamma in (1.9, 2.1)]
    [True, False]
    """
    functions = class_of_proof(method, functions, measure)
    asked = Measure(measure) if measure else default_measure(functions)
    least = NOTHING / rational(functions.L) if functions.has_solution else ZERO
    _, programme = forms_of_class(method, functions, asked, Fraction(growth))
    return bool(programme.best(CLOSE, enough=least).c > least)


def largest_constant(method: Method, functions: FunctionClass) -> float:
    """Return the largest c of any quadratic form Psi, for the default M of the class.

    Raises
    ------
    Refusal
        As :func:`~certibit.theory.certificates.certify.certify`.
    """
    functions = class_of_proof(method, functions)
    _, programme = forms_of_class(method, functions, default_measure(functions))
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
    require_growth(functions, default_measure(functions), grown)
    _, programme = forms_of_class(method, functions, default_measure(functions), grown)
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
    family, programme = forms_of_class(method, functions, default_measure(functions))
    found = least_at_start(family, programme, functions, begin)
    values = values_at_start(family.start.spread(), begin, functions)
    start = sum(float(fraction(w)) * q for w, q in zip(found.weights, values, strict=True))
    return start / float(fraction(found.c)) if found.c > 0 else float("inf")
