"""Certified descents: the largest c with E[Psi+] <= Psi - c M over a class of functions."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from time import perf_counter
from typing import Any, Literal, get_args

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import one_thread
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.assumptions.assumption import is_constant
from certibit.theory.certificates.factor_form import CLOSE, form_of_factor
from certibit.theory.certificates.potential_family import Family, Weights
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.descent.descent_forms import (
    NOTHING,
    class_of_descent,
    default_measure,
    forms_of_class,
    least_at_start,
    require_growth,
)
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.descent import Descent
from certibit.theory.proofs.measure import Measure, MeasureName
from certibit.theory.proofs.programme.descent_programme import CLOSE as SOLVED
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.programme.factor_programme import NO_FACTOR
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.proofs.rational_step import combination
from certibit.theory.proofs.start import NONE, step_and_start
from certibit.theory.setting import Setting
from certibit.theory.worlds.opaque.exact_numbers import (
    fraction,
    rational,
    rationals,
)
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_found_once

SMALL = (1e-2, 1e-4, 1e-6, 0.0)
"""Relative size of entries that are left out of a form, if next to nothing of c is lost."""

GIVEN_UP = Fraction(1, 10**6)
"""Relative part of c that may be lost for a form that is easier to read."""

KEPT = Fraction(9, 10)
"""Part of the largest c that is kept where gradients are stochastic and no c is given."""


@one_thread()
@outcomes_found_once()
def certify_descent(
    method: Method,
    functions: FunctionClass | Setting,
    potential: Potential | Literal["search"] = "search",
    measure: MeasureName | None = None,
    least: float | None = None,
    growth: float = 0.0,
    begin: Experiment[Any] | Literal["rest"] | None = None,
) -> DescentCertificate:
    """Return a proved c with E[Psi+] <= Psi - c M over a class, as large as a search finds it.

    Where the class has stochastic gradients, with variance sigma^2, return the least e found with
    E[Psi+] <= Psi - c M + e sigma^2 for a given c.

    Where the functions have a lower bound and no solution, f* is inf f, and f - inf f at the model
    has weight 1 in Psi. Where they have a solution, Psi at the state at rest about any x is at most
    |x - x*|^2, so that (1/T) sum_t E[M_t] <= |x_0 - x*|^2/(c T) for a run that starts there; the
    gradient estimates of such a state are the gradients at x. For a given method the best quadratic
    form Psi and all multipliers are one linear programme over semidefinite matrices; the step, the
    programme and the proof are in rational numbers.

    Parameters
    ----------
    potential : Potential or "search"
        Psi, or the best quadratic form; a multiple of Psi where functions have a solution.
    measure : "squared_gradient", "gap" or "potential", optional
        M: |grad f(x)|^2, f(x) - f* at the model x before the step, or Psi itself, which makes a
        factor 1 - c, E[Psi+] <= (1 - c) Psi + e sigma^2, and has no |x - x*|^2 to compare with; by
        default f(x) - f* where functions have a solution, else |grad f(x)|^2.
    least : float, optional
        The c of which e is the smallest, where gradients are stochastic; by default 9/10 of the
        largest. Where they are exact, the largest c is returned whatever this is.
    growth : float
        Prove E[Psi+] <= (1 + growth) Psi - c M + e sigma^2, which is all that holds where the
        variance of gradients grows with f - inf f (``GradientNoise.gap``), and M is not.
    begin : Experiment or "rest", optional
        The method on a problem, for functions without a solution and exact gradients: search for
        the form with nearly the least Psi_0/c at the start of its runs, which promises the fewest
        rounds, instead of the largest c. With "rest" it is the largest c of a form that is
        f - inf f where a state is at rest, so that Psi_0 = f(x_0) - inf f for a run that starts
        there.

    Raises
    ------
    Refusal
        If the method cannot be certified, or no descent is proved.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify_descent
    >>> proof = certify_descent(GD(gamma=0.5), FunctionClass.nonconvex(3, L=1.0))
    >>> round(proof.c, 6), proof.c == proof.verify()
    (0.4375, True)
    """
    start = perf_counter()
    if measure is not None and measure not in get_args(MeasureName):
        raise Refusal(f"{measure!r} is no measure; take {' or '.join(get_args(MeasureName))}")
    if least is not None and not (is_constant(least) and least > 0):
        raise Refusal(f"least = {least!r} is no c of a descent; give a number above 0")
    if not is_constant(growth):
        raise Refusal(f"growth = {growth!r} is no part of Psi; give a number of at least 0")
    given = None if least is None else fraction(rational(least))
    functions = class_of_descent(method, functions, measure)
    asked = Measure(measure) if measure else default_measure(functions)
    grown = fraction(rational(growth))
    require_growth(functions, asked, grown)
    if not isinstance(potential, str):
        proof = _proof(method, functions, potential, asked, given, grown)
    elif potential == "search" and measure == "potential":
        proof = _contracting(method, functions, given)
    elif potential == "search":
        proof = _searched(method, functions, asked, given, grown, begin)
    else:
        raise Refusal(f"potential = {potential!r} is none; take 'search', or one of your own")
    if asked.name == "potential" and functions.has_solution and proof.exact <= 0:
        raise Refusal(NO_FACTOR)
    return replace(proof, seconds=perf_counter() - start)


def _proof(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    measure: Measure,
    least: Fraction | None,
    growth: Fraction = NONE,
) -> DescentCertificate:
    """Return the best certificate with a potential."""
    step, start = step_and_start(method, functions, potential, measure, growth)
    weights = tuple(map(rational, step.symbols.weights))
    programme = DescentProgramme(step, weights)
    if start:
        programme = DescentProgramme(
            replace(
                step,
                now=(combination(weights, step.now),),
                after=(combination(weights, step.after),),
            ),
            [ZERO],
            [0],
            start=replace(start, terms=(combination(weights, start.terms),)),
        )
    found = _solved(programme, least)
    if not start:
        proof = _certificate(method, functions, potential, measure, found)
        return replace(proof, growth=growth)
    (scale,) = found.weights
    found = replace(found, weights=tuple(scale * w for w in weights))
    proof = _certificate(method, functions, potential, measure, found)
    return replace(proof, scale=fraction(scale))


def _solved(programme: DescentProgramme, least: Fraction | None, close: float = SOLVED) -> Descent:
    """Return the largest c or, where gradients are sampled, the smallest e for a c."""
    if programme.samples and least is not None:
        return programme.quietest(rational(least), close)
    best = programme.best(close)
    if programme.samples and best.c > 0:
        return replace(programme.quietest(rational(KEPT) * best.c, close), bound=best.bound)
    return best


def _certificate(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    measure: Measure,
    found: Descent,
) -> DescentCertificate:
    multipliers, below, free, starting = (
        {name: fraction(y) for name, y in own.items()}
        for own in (found.multipliers, found.below, found.free, found.starting)
    )
    return DescentCertificate(
        method,
        functions,
        potential,
        measure,
        fraction(found.c),
        tuple(map(fraction, found.weights)),
        multipliers,
        below,
        free,
        starting,
        found.bound,
        fraction(found.e),
        fraction(found.dissimilarity),
    )


def _contracting(
    method: Method, functions: FunctionClass, least: Fraction | None
) -> DescentCertificate:
    """Return the certificate with M = Psi of the form with nearly the largest c.

    Where gradients are stochastic, e is the smallest for ``least`` with this form.
    """
    family, programme = form_of_factor(method, functions)
    c, weights = programme.best_form(CLOSE)
    if c <= 0:
        raise Refusal(NO_FACTOR)
    psi = family.of_weights(weights)
    return _proof(method, functions, psi, Measure("potential"), least)


def _tidy(family: Family, programme: DescentProgramme, found: Descent) -> Descent:
    """Return a sum of squares with the least weights, if one has nearly the same c."""
    count = len(found.weights)
    squares = [rationals(own[-count:].astype(object)) for own in family.matrices]
    smallest = programme.smallest(found.c * (1 - rational(GIVEN_UP) / 2), squares)
    return found if smallest is None else replace(smallest, bound=found.bound)


def _searched(
    method: Method,
    functions: FunctionClass,
    measure: Measure,
    least: Fraction | None,
    growth: Fraction,
    begin: Experiment[Any] | Literal["rest"] | None = None,
) -> DescentCertificate:
    """Return the certificate with the best quadratic form, of which small parts are left out."""
    at_rest = isinstance(begin, str)
    family, programme = forms_of_class(method, functions, measure, growth, at_rest)
    if begin is None or isinstance(begin, str):
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
    enough, most = c - GIVEN_UP * abs(c), spent * (1 + rational(GIVEN_UP))
    size = 1.0 if functions.has_solution else whole[0] * family.start.values
    tried: list[Weights] = []
    for small in SMALL:
        if functions.has_solution:
            weights = family.without_small_parts(whole, small)
        cut = family.without_small(weights, small)
        if cut in tried:
            continue
        tried.append(cut)
        psi = family.potential(cut, signed=True, size=size)
        with suppress(Refusal):
            proof = _proof(method, functions, psi, measure, least or enough, growth)
            if proof.exact >= enough and proof.descent.spent(functions) <= most:
                return proof
    units = map(rational, programme.step.symbols.weights)
    own = [w * u for w, u in zip(found.weights, units, strict=True)]
    own = own[: len(own) - len(family.start.points)]
    whole = (whole[0] * family.start.values, *whole[1 : rest + len(own)])
    psi = family.start.spread().weighted(whole)
    whole_proof = _certificate(method, functions, psi, measure, replace(found, weights=tuple(own)))
    return replace(whole_proof, growth=growth)
