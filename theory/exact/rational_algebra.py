"""Symmetric matrices of rational numbers: whether they are positive, and their factors."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rationals = NDArray[Any]
"""A matrix of :class:`~fractions.Fraction`."""


def ldl(matrix: Rationals) -> tuple[Rationals, list[Fraction]] | None:
    """Return L and D with matrix = L D L', L being unit lower triangular; None if it is not >= 0.

    A pivot of 0 is allowed where the rest of its column is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> L, D = ldl(np.array([[Fraction(4), Fraction(2)], [Fraction(2), Fraction(1)]]))
    >>> D
    [Fraction(4, 1), Fraction(0, 1)]
    >>> ldl(np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(1)]])) is None
    True
    """
    size = len(matrix)
    rest = matrix.copy()
    lower = np.full((size, size), Fraction(0), dtype=object)
    pivots: list[Fraction] = []
    for k in range(size):
        pivot, column = rest[k, k], rest[k + 1 :, k]
        if pivot < 0 or (pivot == 0 and any(column)):
            return None
        pivots.append(pivot)
        lower[k, k] = Fraction(1)
        if pivot:
            lower[k + 1 :, k] = column / pivot
            rest[k + 1 :, k + 1 :] = rest[k + 1 :, k + 1 :] - np.outer(lower[k + 1 :, k], column)
    return lower, pivots


def whitening(lower: Rationals, pivots: list[Fraction]) -> Rationals:
    """Return T of rounded entries with T' (L D L') T close to the identity where D is not 0."""
    size = len(pivots)
    inverse = np.full((size, size), Fraction(0), dtype=object)
    for k in range(size):
        inverse[k, k] = Fraction(1)
        for i in range(k + 1, size):
            inverse[i, k] = -sum((lower[i, j] * inverse[j, k] for j in range(k, i)), Fraction(0))
    kept = [k for k, pivot in enumerate(pivots) if pivot]
    scaled = np.full((size, len(kept)), Fraction(0), dtype=object)
    for column, k in enumerate(kept):
        root = Fraction(float(pivots[k]) ** -0.5)
        for i in range(size):
            scaled[i, column] = Fraction(float(inverse[k, i] * root))
    return scaled


def rounded_down(number: Fraction, digits: int) -> Fraction:
    """Return the largest decimal number of so many digits that is not larger.

    Examples
    --------
    >>> rounded_down(Fraction(2, 3), 4)
    Fraction(3333, 5000)
    """
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    return Fraction(context.divide(Decimal(number.numerator), Decimal(number.denominator)))


def congruent(matrix: Rationals, outer: Rationals) -> Rationals:
    """Return outer' matrix outer, without a common divisor being searched for at every product."""
    (a, first), (t, second) = _integers(matrix), _integers(outer)
    return _fractions(t.T @ (a @ t), first * second**2)


@dataclass(frozen=True, eq=False)
class Stack:
    """Matrices of one shape as integers, (count, k, k), over one denominator."""

    integers: Rationals
    denominator: int

    @classmethod
    def of(cls, matrices: Sequence[Rationals]) -> "Stack":
        """Return the stack of some matrices."""
        return cls(*_integers(np.array(matrices, dtype=object)))

    def combined(self, factors: Rationals) -> Rationals:
        """Return the sum of multiples of the matrices."""
        numbers, denominator = _integers(factors)
        total = np.tensordot(numbers, self.integers, axes=1)
        return _fractions(total, denominator * self.denominator)

    def scaled(self, outer: Rationals) -> NDArray[np.float64]:
        """Return outer' matrix outer of all matrices in floats, rounded at the end only."""
        t, denominator = _integers(outer)
        products = t.T @ (self.integers @ t)
        return np.array(products / (self.denominator * denominator**2), dtype=float)


def _fractions(integers: Rationals, denominator: int) -> Rationals:
    result: Rationals = np.full(integers.shape, Fraction(0), dtype=object)
    for place, entry in np.ndenumerate(integers):
        common = gcd(entry, denominator)
        result[place] = Fraction(entry // common, denominator // common)
    return result


def _integers(matrix: Rationals) -> tuple[Rationals, int]:
    denominator = lcm(*(x.denominator for x in matrix.flat)) if matrix.size else 1
    integers = [x.numerator * (denominator // x.denominator) for x in matrix.flat]
    return np.array(integers, dtype=object).reshape(matrix.shape), denominator
