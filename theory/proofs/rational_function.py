"""Rational functions of one unknown, with rational coefficients."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any, Self

import numpy as np
from flint import fmpq_poly

from certibit.data.errors import Refusal
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational
from certibit.theory.worlds.opaque.letters import Opaque


@dataclass(frozen=True, eq=False)
class RationalFunction:
    """num/den in lowest terms, den with leading coefficient 1.

    Examples
    --------
    >>> from certibit.theory.proofs.rational_function import VARIABLE
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
    def each_of(cls, x: Any) -> Any:
        """Return a number, or all numbers of an array, as ratios."""
        if isinstance(x, np.ndarray):
            return np.array([cls.of(entry) for entry in x.flat], dtype=object).reshape(x.shape)
        return cls.of(x)

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
        if isinstance(other, RationalFunction):
            return bool(self.num == other.num and self.den == other.den)
        if not isinstance(other, Real):
            return False
        if self.is_constant:
            return self == RationalFunction.of(other)
        raise Refusal(
            f"{self} is compared with {other}, which it equals for some values of its unknown; "
            "a proof for all of them needs a step that asks for none"
        )

    def __hash__(self) -> int:
        if self.is_constant:
            return hash(Fraction(int(self.num[0].p), int(self.num[0].q)))
        return hash((str(self.num), str(self.den)))

    def __bool__(self) -> bool:
        return bool(self.num)

    def __add__(self, other: Any) -> "RationalFunction":
        if isinstance(other, np.ndarray | Opaque):
            return NotImplemented
        o = RationalFunction.of(other)
        if self.den == o.den:
            return RationalFunction.reduced(self.num + o.num, self.den)
        return RationalFunction.reduced(self.num * o.den + o.num * self.den, self.den * o.den)

    def __mul__(self, other: Any) -> "RationalFunction":
        if isinstance(other, np.ndarray | Opaque):
            return NotImplemented
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

Real.register(RationalFunction)  # a number for every value of the unknown
