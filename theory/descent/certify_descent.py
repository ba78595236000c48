"""Certified descents: the largest c with E[Psi+] <= Psi - c M over a class of functions."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import perf_counter
from typing import Literal, get_args

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.potential_family import Family
from certibit.theory.descent.descent_programme import Descent, DescentProgramme
from certibit.theory.descent.measure import Measure, MeasureName
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise
from certibit.theory.worlds.symbolic.exact_numbers import (
    fraction,
    rational,
)
from certibit.theory.worlds.symbolic.step_outcomes import as_used

SMALL = (1e-2, 1e-4, 1e-6, 0.0)
"""Relative size of entries that are left out of a form, if next to nothing of c is lost."""

GIVEN_UP = Fraction(1, 10**6)
"""Relative part of c that may be lost for a form that is easier to read."""

LARGEST = 10**6
"""Form that is searched for at most, in sums of the squares of all parts of a state."""

CLOSE = 1e-7
"""Relative distance of c to its bound at which a search for a form ends, well inside."""


@dataclass(frozen=True, repr=False)
class DescentCertificate:
    """A proof that E[Psi+] <= Psi - c M + e sigma^2 for all functions and compressors of a class.

    Then (1/T) sum_t E[M_t] <= Psi_0/(c T) + (e/c) sigma^2; e = 0 for exact gradients. The proof is
    in rational numbers.

    Attributes
    ----------
    method, functions, potential
        The method, the class, and the Lyapunov function Psi, with weight 1 of f - inf f.
    measure : Measure
        M.
    exact : Fraction
        The proved c.
    weights : tuple of Fraction
        Those of the terms of Psi.
    multipliers, below : mapping of Fraction
        The multipliers of the inequalities, by name, in the proofs of the descent and of Psi >= 0.
    free : mapping of Fraction
        The multipliers of what is 0 in the mean, by name, in the proof of the descent.
    bound : float
        An upper bound on the c that any multipliers prove with this Psi.
    exact_e : Fraction
        The proved coefficient of sigma^2, where gradients are stochastic.
    seconds : float
        Time from the method to the proof.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify_descent
    >>> proof = certify_descent(GD(gamma=0.5), FunctionClass.nonconvex(3, L=1.0))
    >>> proof
    Certificate of GD(gamma=0.5)
    over all functions with n = 3, mu = -1, L = 1, omega = 0
    E[Psi+] <= Psi - 0.4375 |grad f(x)|^2
    >>> round(proof.promise.rounds_to(0.01))
    229
    """

    method: Method
    functions: FunctionClass
    potential: Potential
    measure: Measure
    exact: Fraction
    weights: tuple[Fraction, ...]
    multipliers: Mapping[str, Fraction]
    below: Mapping[str, Fraction]
    free: Mapping[str, Fraction]
    bound: float
    exact_e: Fraction = Fraction(0)
    seconds: float = field(default=0.0, compare=False)

    @property
    def c(self) -> float:
        """The proved constant, rounded to a float."""
        return float(self.exact)

    @property
    def e(self) -> float:
        """The proved coefficient of sigma^2, rounded to a float."""
        return float(self.exact_e)

    @property
    def promise(self) -> DescentPromise:
        """What is proved, with the iterations that follow."""
        return DescentPromise(self.c, self.e)

    def verify(self) -> float:
        """Return the proved c, after the method was run on symbols anew; minus infinity if none."""
        step = RationalStep.of(self.method, self.functions, self.potential, measure=self.measure)
        multipliers, below, free = (
            {name: rational(y) for name, y in own.items()}
            for own in (self.multipliers, self.below, self.free)
        )
        weights = tuple(map(rational, self.weights))
        e = rational(self.exact_e)
        found = Descent(rational(self.exact), weights, multipliers, below, free, e)
        return self.c if found.holds(step) else -float("inf")

    def __repr__(self) -> str:
        noise = f" + {self.e:.6g} sigma^2" if self.functions.noise else ""
        return (
            f"Certificate of {self.method}\nover {self.functions.described}\n"
            f"E[Psi+] <= Psi - {self.c:.6g} {self.measure.symbol}{noise}"
        )


def certify_descent(
    method: Method,
    functions: FunctionClass | Setting,
    potential: Potential | Literal["search"] = "search",
    measure: MeasureName = "squared_gradient",
    kept: float = 0.9,
) -> DescentCertificate:
    """Return the largest provable c with E[Psi+] <= Psi - c M over a class.

    Where the class has stochastic gradients, with variance sigma^2, return the smallest e with
    E[Psi+] <= Psi - c M + e sigma^2 for a part of the largest c.

    Where the functions have a lower bound and no solution, f* is inf f. For a given method the best
    quadratic form Psi and all multipliers are one linear programme over semidefinite matrices; the
    step, the programme and the proof are in rational numbers.

    Parameters
    ----------
    potential : Potential or "search"
        Psi, or the best quadratic form with weight 1 of f - inf f at the model.
    measure : "squared_gradient" or "gap"
        M: |grad f(x)|^2 or f(x) - inf f at the model x before the step.
    kept : float
        The part of the largest c that is kept where gradients are stochastic.

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
    if measure not in get_args(MeasureName):
        raise Refusal(f"{measure!r} is no measure; take {' or '.join(get_args(MeasureName))}")
    if not 0 < kept < 1:
        raise Refusal(f"kept = {kept:g} is no part of c; give a number above 0 and below 1")
    functions, asked, part = _class_for(method, functions), Measure(measure), Fraction(kept)
    if not isinstance(potential, str):
        proof = _proof(method, functions, potential, asked, part)
    elif potential == "search":
        proof = _searched(method, functions, asked, part)
    else:
        raise Refusal(f"potential = {potential!r} is none; take 'search', or one of your own")
    return replace(proof, seconds=perf_counter() - start)


def has_descent(method: Method, functions: FunctionClass) -> bool:
    """Whether some c > 0 is proved with M = |grad f(x)|^2; the search ends at the first.

    Raises
    ------
    Refusal
        As :func:`certify_descent`.

    Examples
    --------
    >>> from certibit import GD, FunctionClass
    >>> from certibit.theory.descent.certify_descent import has_descent
    >>> [has_descent(GD(gamma), FunctionClass.nonconvex(3, L=1.0)) for gamma in (1.9, 2.1)]
    [True, False]
    """
    _, programme = _forms(method, _class_for(method, functions), Measure())
    return programme.best(CLOSE, enough=ZERO).c > 0


def _class_for(method: Method, functions: FunctionClass | Setting) -> FunctionClass:
    """Return the class over which a descent of a method is certified."""
    if isinstance(functions, Setting):
        functions = FunctionClass.of(functions)
    if functions.has_solution:
        raise Refusal(
            f"a descent is certified over functions that need not be convex, and mu = "
            f"{functions.mu:g} is not below 0; certify a factor, or take mu = -L"
        )
    if method.needs.composite:
        raise Refusal(
            f"{method.name} solves min f + g with a strongly convex g; over functions that need "
            "not be convex no such method is certified"
        )
    return as_used(method, functions)


def _proof(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    measure: Measure,
    kept: Fraction,
    least: Fraction | None = None,
) -> DescentCertificate:
    """Return the best certificate with a potential; with noise, with a c of at least ``least``."""
    step = RationalStep.of(method, functions, potential, measure=measure)
    programme = DescentProgramme(step, tuple(map(rational, step.symbols.weights)))
    if least is None or functions.noise is None:
        found = _quiet(programme, programme.best(), kept)
    else:
        found = programme.quietest(rational(least))
    return _certificate(method, functions, potential, measure, found)


def _quiet(programme: DescentProgramme, best: Descent, kept: Fraction) -> Descent:
    """Return the smallest e with the kept part of the best c, where gradients are stochastic."""
    if programme.step.variance and best.c > 0:
        return replace(programme.quietest(rational(kept) * best.c), bound=best.bound)
    return best


def _certificate(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    measure: Measure,
    found: Descent,
) -> DescentCertificate:
    multipliers, below, free = (
        {name: fraction(y) for name, y in own.items()}
        for own in (found.multipliers, found.below, found.free)
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
        found.bound,
        fraction(found.e),
    )


def _forms(
    method: Method, functions: FunctionClass, measure: Measure
) -> tuple[Family, DescentProgramme]:
    """Return all quadratic forms, and the programme of the best of them."""
    family = Family.largest(method, functions)
    if not family.start.values:
        raise Refusal(
            f"f at the model of {method.name} depends on what is drawn in its step, and no form "
            "with f - inf f is found; state a potential"
        )
    spread = family.start.spread()
    step = RationalStep.of(method, functions, spread, trusted=True, measure=measure).weighted
    free = range(1, len(step.now) - len(family.start.points))
    unit = 1 / rational(family.start.values)
    weights = [unit, *[ZERO] * (len(step.now) - 1)]
    most = [LARGEST * unit * rational(w) for w in family.unit]
    return family, DescentProgramme(step, weights, free, most)


def _searched(
    method: Method, functions: FunctionClass, measure: Measure, kept: Fraction
) -> DescentCertificate:
    """Return the certificate with the best quadratic form, of which small parts are left out."""
    family, programme = _forms(method, functions, measure)
    found = _quiet(programme, programme.best(CLOSE), kept)
    unit = rational(family.start.values)
    weights = tuple(float(fraction(w * unit)) for w in found.weights)
    c, e = fraction(found.c), fraction(found.e)
    least = c - GIVEN_UP * abs(c)
    for small in SMALL:
        psi = family.potential(family.without_small(weights, small), signed=True)
        mean_weights, apart_weights = (
            tuple(weight / psi.values for weight in own)
            for own in (psi.mean_weights, psi.apart_weights)
        )
        psi = replace(psi, values=1.0, mean_weights=mean_weights, apart_weights=apart_weights)
        with suppress(Refusal):
            proof = _proof(method, functions, psi, measure, kept, least)
            if proof.exact >= least and proof.exact_e <= e * (1 + GIVEN_UP):
                return proof
    units = map(rational, programme.step.symbols.weights)
    own = [w * u for w, u in zip(found.weights, units, strict=True)]
    own = own[: len(own) - len(family.start.points)]
    psi = family.start.spread().weighted(tuple(float(fraction(w)) for w in own))
    return _certificate(method, functions, psi, measure, replace(found, weights=tuple(own)))
