"""Polynomials with rational coefficients, and a proof that one is at most 0 on a box.

The Bernstein coefficients of a polynomial on [0,1]^n bound it from both sides and equal it at the
corners (Bernstein form; see R. T. Farouki, "The Bernstein polynomial basis", 2012). Halving the
box tightens them. All arithmetic is in fractions, so a "proved" is a proof.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Exponents = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A polynomial in n variables: exponents with rational coefficients, none of them 0.

    Divided by a monomial, it may have negative exponents.
    """

    n: int
    terms: dict[Exponents, Fraction]

    @classmethod
    def variable(cls, n: int, j: int) -> "Polynomial":
        """Return the j-th variable."""
        return cls(n, {tuple(int(i == j) for i in range(n)): Fraction(1)})

    def _of(self, other: Any) -> "Polynomial":
        if isinstance(other, Polynomial):
            return other
        return Polynomial(self.n, {(0,) * self.n: Fraction(other)} if other else {})

    def __add__(self, other: Any) -> "Polynomial":
        if not isinstance(other, OPERANDS):
            return NotImplemented
        terms = dict(self.terms)
        for exponents, value in self._of(other).terms.items():
            terms[exponents] = terms.get(exponents, Fraction(0)) + value
        return Polynomial(self.n, {e: c for e, c in terms.items() if c})

    def __mul__(self, other: Any) -> "Polynomial":
        if not isinstance(other, OPERANDS):
            return NotImplemented
        terms: dict[Exponents, Fraction] = {}
        for e, a in self.terms.items():
            for f, b in self._of(other).terms.items():
                key = tuple(i + j for i, j in zip(e, f, strict=True))
                terms[key] = terms.get(key, Fraction(0)) + a * b
        return Polynomial(self.n, {e: c for e, c in terms.items() if c})

    def __neg__(self) -> "Polynomial":
        return Polynomial(self.n, {e: -c for e, c in self.terms.items()})

    def __sub__(self, other: Any) -> "Polynomial":
        return self + -self._of(other) if isinstance(other, OPERANDS) else NotImplemented

    def __rsub__(self, other: Any) -> "Polynomial":
        return -self + other

    def __truediv__(self, other: Any) -> "Polynomial":
        ((exponents, value),) = self._of(other).terms.items()  # a monomial
        return self * Polynomial(self.n, {tuple(-e for e in exponents): 1 / value})

    def __pow__(self, power: int) -> "Polynomial":
        out = self._of(1)
        for _ in range(power):
            out = out * self
        return out

    __radd__, __rmul__ = __add__, __mul__


OPERANDS = (Polynomial, int, float, Fraction, np.number)
"""What a polynomial is added to and multiplied by."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempted proof.

    Attributes
    ----------
    verdict : "proved", "refuted" or "open"
    largest : Fraction
        An upper bound of the polynomial if proved; its value at ``corner`` if refuted.
    corner : tuple of Fraction or None
        A point of [0,1]^n where the polynomial is positive.
    """

    verdict: Literal["proved", "refuted", "open"]
    largest: Fraction
    corner: tuple[Fraction, ...] | None = None


def at_most_zero(polynomial: Polynomial, boxes: int = 200) -> Outcome:
    """Decide whether a polynomial is at most 0 on [0,1]^n, halving at most ``boxes`` times."""
    used = [j for j in range(polynomial.n) if any(e[j] for e in polynomial.terms)]
    whole = tuple((Fraction(0), Fraction(1)) for _ in used)
    todo = [(_bernstein(polynomial, used), whole)]
    largest: Fraction | None = None
    for _ in range(boxes):
        if not todo:
            break
        coefficients, box = todo.pop()
        for corner in np.ndindex(*(2,) * len(used)):
            value = coefficients[tuple(-1 if side else 0 for side in corner)]
            if value > 0:
                point = dict(
                    zip(used, (b[s] for b, s in zip(box, corner, strict=True)), strict=True)
                )
                return Outcome(
                    "refuted", value, tuple(point.get(j, Fraction(0)) for j in range(polynomial.n))
                )
        bound = max(coefficients.ravel())
        if bound <= 0:
            largest = bound if largest is None else max(largest, bound)
            continue
        axis = max(
            range(len(used)), key=lambda j: (box[j][1] - box[j][0]) * (coefficients.shape[j] - 1)
        )
        low, high = box[axis]
        middle = (low + high) / 2
        halves = ((low, middle), (middle, high))
        for half, interval in zip(_halved(coefficients, axis), halves, strict=True):
            todo.append((half, (*box[:axis], interval, *box[axis + 1 :])))
    if todo:
        return Outcome("open", Fraction(0))
    return Outcome("proved", largest if largest is not None else Fraction(0))


def _bernstein(polynomial: Polynomial, used: list[int]) -> NDArray[np.object_]:
    degrees = [max((e[j] for e in polynomial.terms), default=0) for j in used]
    tensor = np.full([d + 1 for d in degrees], Fraction(0), dtype=object)
    for exponents, value in polynomial.terms.items():
        tensor[tuple(exponents[j] for j in used)] = value
    for axis, degree in enumerate(degrees):
        matrix = np.array(
            [
                [
                    Fraction(comb(i, k), comb(degree, k)) if k <= i else Fraction(0)
                    for k in range(degree + 1)
                ]
                for i in range(degree + 1)
            ],
            dtype=object,
        )
        tensor = np.moveaxis(np.tensordot(matrix, tensor, axes=(1, axis)), 0, axis)
    return np.asarray(tensor, dtype=object)


def _halved(
    coefficients: NDArray[np.object_], axis: int
) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """Split by de Casteljau's scheme at the middle of one axis."""
    rows = list(np.moveaxis(coefficients, axis, 0))
    left, right = [rows[0]], [rows[-1]]
    while len(rows) > 1:
        rows = [(a + b) / 2 for a, b in pairwise(rows)]
        left.append(rows[0])
        right.append(rows[-1])
    return np.moveaxis(np.array(left), 0, axis), np.moveaxis(np.array(right[::-1]), 0, axis)
