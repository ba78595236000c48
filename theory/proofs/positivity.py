"""Proofs in rational numbers that a rational function is nonnegative on an interval.

A polynomial is nonnegative on an interval where its Bernstein coefficients are, and on a half-line
from a where its coefficients in powers of (x - a) are. Where they are not, the interval is cut in
two: the list of the cuts is the proof, and to check it is to look at signs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import Any, Self

from flint import fmpq_poly

from certibit.theory.worlds.opaque.exact_numbers import Rational, rational


@dataclass(frozen=True, eq=False)
class RationalFunction:
    """num/den in lowest terms, den with leading coefficient 1.

    Examples
    --------
    >>> from certibit.theory.proofs.positivity import VARIABLE
    >>> step = 2 * VARIABLE / (VARIABLE + 3)
    >>> step, step.at(1), step.at_infinity
    ((2*x)/(x + 3), 1/2, 2)
    """

    num: Any
    den: Any

    @classmethod
    def of(cls, x: Any) -> Self:
        """Return a number, or a ratio itself, as a ratio."""
        return x if isinstance(x, cls) else cls(fmpq_poly([rational(x)]), _ONE)

    @classmethod
    def reduced(cls, num: Any, den: Any) -> Self:
        """Return num/den in lowest terms."""
        if den.degree() == 0:
            return cls(num / den[0], _ONE)
        common = num.gcd(den)
        num, den = num // common, den // common
        lead = den.leading_coefficient()
        return cls(num / lead, den / lead)

    def __repr__(self) -> str:
        return str(self.num) if self.den == _ONE else f"({self.num})/({self.den})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RationalFunction):
            return False
        return bool(self.num == other.num and self.den == other.den)

    def __hash__(self) -> int:
        return hash((str(self.num), str(self.den)))

    def __bool__(self) -> bool:
        return bool(self.num)

    def __add__(self, other: Any) -> "RationalFunction":
        o = RationalFunction.of(other)
        if self.den == o.den:
            return RationalFunction.reduced(self.num + o.num, self.den)
        return RationalFunction.reduced(self.num * o.den + o.num * self.den, self.den * o.den)

    def __mul__(self, other: Any) -> "RationalFunction":
        o = RationalFunction.of(other)
        return RationalFunction.reduced(self.num * o.num, self.den * o.den)

    def __truediv__(self, other: Any) -> "RationalFunction":
        o = RationalFunction.of(other)
        return RationalFunction.reduced(self.num * o.den, self.den * o.num)

    def __neg__(self) -> "RationalFunction":
        return RationalFunction(-self.num, self.den)

    def __sub__(self, other: Any) -> "RationalFunction":
        return self + -other

    def __rsub__(self, other: Any) -> "RationalFunction":
        return RationalFunction.of(other) - self

    def __rtruediv__(self, other: Any) -> "RationalFunction":
        return RationalFunction.of(other) / self

    def __pow__(self, power: int) -> "RationalFunction":
        return RationalFunction(self.num**power, self.den**power)

    __radd__ = __add__
    __rmul__ = __mul__

    def at(self, x: Any) -> Rational:
        """Return the value at a rational number that is no pole."""
        x = rational(x)
        return self.num(x) / self.den(x)

    def polynomial(self, factors: Sequence[Rational]) -> "RationalFunction":
        """Return the sum of factors[k] times the k-th power of this ratio."""
        num, power = fmpq_poly([0]), _ONE
        for factor in reversed(factors):
            num, power = num * self.num + factor * power, power * self.den
        return RationalFunction.reduced(num * self.den, power)

    @property
    def at_infinity(self) -> Rational | None:
        """The limit at infinity; None if it is infinite."""
        if self.num.degree() > self.den.degree():
            return None
        return self.num[self.den.degree()]

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return bool(self.den == _ONE and self.num.degree() < 1)


_ONE = fmpq_poly([1])
VARIABLE = RationalFunction(fmpq_poly([0, 1]), _ONE)
"""The unknown itself."""

DEPTH = 12
"""How often an interval is halved at most."""

POINTS = 16
"""Parts of an interval, at the ends of which a value below 0 is looked for first."""


@dataclass(frozen=True)
class Span:
    """The numbers from ``low`` to ``high``, both included; to infinity if ``high`` is None."""

    low: Rational
    high: Rational | None

    @property
    def is_point(self) -> bool:
        """Whether it has one number only."""
        return bool(self.low == self.high)

    def pieces(self, cuts: Sequence[Rational]) -> "list[Span]":
        """Return the spans between cuts that increase inside of it."""
        ends = [self.low, *map(rational, cuts), self.high]
        return [Span(*pair) for pair in pairwise(ends)]


def coefficients(polynomial: Any, span: Span) -> list[Rational]:
    """Return the Bernstein coefficients, or those in powers of (x - low) on a half-line."""
    if span.is_point:
        return [polynomial(span.low)]
    if span.high is None:
        return list(polynomial(fmpq_poly([span.low, 1])).coeffs()) or [rational(0)]
    moved = polynomial(fmpq_poly([span.low, span.high - span.low]))
    degree = max(moved.degree(), 0)
    own = [moved[k] / comb(degree, k) for k in range(degree + 1)]
    return [
        sum((comb(k, i) * own[i] for i in range(k + 1)), rational(0)) for k in range(degree + 1)
    ]


def _positive_by_signs(ratio: RationalFunction, span: Span) -> bool:
    """Whether the signs of the coefficients show that a ratio without poles is nonnegative."""
    below = coefficients(ratio.den, span)
    whole = min(below) >= 0 and below[0] > 0 and below[-1] > 0
    return whole and min(coefficients(ratio.num, span)) >= 0


def holds_with_cuts(ratio: RationalFunction, span: Span, cuts: Sequence[Any]) -> bool:
    """Whether cuts prove that a ratio is nonnegative on a span.

    Examples
    --------
    >>> from certibit.theory.proofs.positivity import VARIABLE
    >>> bowl = (VARIABLE - 1) ** 2 + rational(0.01)
    >>> span = Span(rational(0), rational(3))
    >>> holds_with_cuts(bowl, span, ()), holds_with_cuts(bowl, span, cuts_for(bowl, span))
    (False, True)
    """
    return all(
        (piece.high is None or piece.low <= piece.high) and _positive_by_signs(ratio, piece)
        for piece in span.pieces(cuts)
    )


def cuts_for(
    ratio: RationalFunction, span: Span, depth: int = DEPTH
) -> tuple[Rational, ...] | None:
    """Return cuts that prove that a ratio is nonnegative on a span; None if none are found."""
    if _positive_by_signs(ratio, span):
        return ()
    if depth == DEPTH and any(ratio.den(x) and ratio.at(x) < 0 for x in _inside(span)):
        return None
    ends = [span.low] if span.high is None else [span.low, span.high]
    negative = any(ratio.den(x) == 0 or ratio.at(x) < 0 for x in ends)
    if not depth or span.is_point or negative:
        return None
    middle = (2 * span.low or rational(1)) if span.high is None else (span.low + span.high) / 2
    lower = cuts_for(ratio, Span(span.low, middle), depth - 1)
    if lower is None:
        return None
    upper = cuts_for(ratio, Span(middle, span.high), depth - 1)
    return None if upper is None else (*lower, middle, *upper)


def _inside(span: Span) -> list[Rational]:
    """Return points of a span, where a ratio that is negative is seen before anything is cut."""
    parts = [rational(k) / POINTS for k in range(1, POINTS)]
    if span.high is None:
        return [span.low + part / (1 - part) for part in parts]
    return [span.low + (span.high - span.low) * part for part in parts]
