"""The quadratic form of a state with the largest factor, and the best weights of given terms."""

from contextlib import suppress
from dataclasses import replace

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.potential_family import Family
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.measure import Measure
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.programme.factor_programme import FactorProgramme
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.proofs.rational_step import RationalStep, combination
from certibit.theory.proofs.start import step_and_start
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational

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


def form_of_factor(method: Method, functions: FunctionClass) -> tuple[Family, FactorProgramme]:
    """Return all quadratic forms, and the programme of the one with the largest factor.

    Few classes of clients have weights of their own.
    """
    few = 1 < len(functions.kinds) <= MOST_CLASSES
    family = Family.largest(method, functions, functions.counts if few else ())
    step, _ = step_and_start(
        method, functions, family.start.spread(), Measure("potential"), trusted=True
    )
    step = replace(step.weighted, measured=(combination([ZERO], step.now[:1]),))
    count = len(step.now)
    sizes = list(map(rational, family.unit[-count:]))
    if functions.has_solution:
        return family, FactorProgramme(step, [ZERO] * count, range(count), sizes)
    unit = unit_of_values(method, family)
    most = [LARGEST * unit * size for size in sizes]
    squares = range(1, count - len(family.start.points))
    return family, FactorProgramme(step, [unit, *[ZERO] * (count - 1)], squares, most)


def unit_of_values(method: Method, family: Family) -> Rational:
    """Return the weight with which f - inf f at the model has weight 1."""
    if not family.start.values:
        raise Refusal(
            f"f at the model of {method.name} depends on what is drawn in its step, and no form "
            "with f - inf f is found; state a potential"
        )
    return 1 / rational(family.start.values)


def searched_potential(method: Method, functions: FunctionClass) -> QuadraticPotential:
    """Return the quadratic form of the state with nearly the largest decrease.

    It has as few entries and digits as lose at most ``GIVEN_UP`` of the decrease.

    Raises
    ------
    Refusal
        If no such form can be certified.
    """
    family, programme = form_of_factor(method, functions)
    c, found = programme.best_form(CLOSE)
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
