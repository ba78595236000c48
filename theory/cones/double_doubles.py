"""Matrices of numbers with twice the digits of floats, each the sum of two floats.

Products are sums of products of pieces with so few bits that floats compute them exactly.

Least squares for the directions of a path have columns of very different lengths.

Sources: Dekker, A floating-point technique for extending the available precision (1971); Ozaki,
Ogita, Oishi, Rump, Error-free transformations of matrix multiplication (2012).
"""

from dataclasses import dataclass, field
from math import ceil, log2
from typing import Any

import numpy as np
import scipy
from flint import arb_mat
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DEPENDENT = 1e-13
"""Relative length below which a column follows from others."""

ALMOST = 1e-5
"""Relative length below which other directions are taken, of which none almost follows."""


class DirectionEquations:
    """The equations rows' rows v = slopes + rows' pull, by a pivoted QR of columns of length 1.

    Parameters
    ----------
    rows : (N, m)
        What directions change.
    slopes : (m,)
        What they add to what is maximised.
    """

    def __init__(self, rows: Floats, slopes: Floats) -> None:
        norms = np.linalg.norm(rows, axis=0)
        self.rows, self.norms = rows, np.where(norms > 0, norms, 1.0)
        left, self.triangle, self.columns = scipy.linalg.qr(
            rows / self.norms, mode="economic", pivoting=True
        )
        self.lengths = np.abs(np.diag(self.triangle))
        rank = int(np.sum(self.lengths > DEPENDENT * self.lengths[0]))
        self.left, self.right = left[:, :rank], self.triangle[:rank, :rank]
        self.kept = self.columns[:rank]
        own = (slopes / self.norms)[self.kept]
        self.up = scipy.linalg.solve_triangular(self.right, own, trans="T", check_finite=False)

    def solve(self, pull: Floats) -> Floats:
        """Return v."""
        found = np.zeros(len(self.norms))
        right = self.up + self.left.T @ pull
        found[self.kept] = scipy.linalg.solve_triangular(self.right, right, check_finite=False)
        return found / self.norms

    def orthogonal(self) -> Floats | None:
        """Return combinations of columns that are almost orthogonal; None if they are already."""
        if self.lengths[-1] >= ALMOST * self.lengths[0]:
            return None
        floored = self.triangle.copy()
        small = self.lengths < DEPENDENT * self.lengths[0]
        floored[small, small] = DEPENDENT * self.lengths[0]
        change = np.zeros(floored.shape)
        change[self.columns] = scipy.linalg.solve_triangular(floored, np.eye(len(floored)))
        return change / self.norms[:, None]


PIECES = 5
"""Into how many pieces of about 21 bits numbers are cut."""

SPLITTER = 2.0**27 + 1
"""What cuts a float into two halves: Veltkamp's constant."""


@dataclass(frozen=True, eq=False)
class Doubles:
    """A matrix as the sum of a rounded one and of what was rounded off.

    Examples
    --------
    >>> import numpy as np
    >>> row, column = np.array([[1.0, 1.0, -1.0]]), np.array([[1.0], [2.0**-99], [1.0]])
    >>> (Doubles.of(row) @ Doubles.of(column)).whole.item() == 2.0**-99
    True
    """

    whole: Floats
    rest: Floats
    known: dict[tuple[int, int], list[Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, matrix: Floats) -> "Doubles":
        """Return a matrix of floats as what it is."""
        return cls(matrix, np.zeros(matrix.shape))

    @classmethod
    def rounded(cls, matrix: arb_mat) -> "Doubles":
        """Round a matrix to about 106 bits."""
        entries, shape = matrix.entries(), (matrix.nrows(), matrix.ncols())
        whole = [float(x) for x in entries]
        rest = [float(x - y) for x, y in zip(entries, whole, strict=True)]
        return cls(np.array(whole).reshape(shape), np.array(rest).reshape(shape))

    def __getitem__(self, places: Any) -> "Doubles":
        return Doubles(self.whole[places], self.rest[places])

    def scaled(self, powers: Floats) -> "Doubles":
        """Return the products with powers of 2, which are exact."""
        return Doubles(self.whole * powers, self.rest * powers)

    def __add__(self, other: "Doubles") -> "Doubles":
        total, lost = _sum(self.whole, other.whole)
        return Doubles(*_sum(total, lost + (self.rest + other.rest)))

    def __mul__(self, other: "Doubles") -> "Doubles":
        """Return the products of entries."""
        a, b = self.whole, other.whole
        total, (high, low), (more, less) = a * b, _halves(a), _halves(b)
        lost = ((high * more - total) + high * less + low * more) + low * less
        return Doubles(*_sum(total, lost + (a * other.rest + self.rest * b)))

    def __matmul__(self, other: "Doubles") -> "Doubles":
        """Return the product of matrices."""
        inner = max(len(other.whole), 1)
        bits = (51 - ceil(log2(PIECES * inner))) // 2
        left, right = self._pieces(bits, 1), other._pieces(bits, 0)
        total = Doubles.of(np.zeros((len(self.whole), other.whole.shape[1])))
        for count in range(PIECES, 0, -1):
            part = np.concatenate(left[:count], 1) @ np.concatenate(right[count - 1 :: -1])
            total += Doubles.of(part)
        return total

    def _pieces(self, bits: int, axis: int) -> list[Floats]:
        """Return what adds up to this: each of so many bits beside the largest along an axis."""
        if (bits, axis) in self.known:
            return self.known[bits, axis]
        whole, rest = self.whole, self.rest
        unit = np.exp2(np.frexp(np.abs(whole).max(axis, keepdims=True, initial=0.0))[1])
        found = []
        for _ in range(PIECES):
            unit = unit * 0.5**bits
            large = 1.5 * 2.0**52 * unit
            piece, more = (whole + large) - large, (rest + large) - large
            whole, rest = whole - piece, rest - more
            found.append(piece + more)
        self.known[bits, axis] = found
        return found


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b, rounded, and what was rounded off."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _halves(x: Floats) -> tuple[Floats, Floats]:
    large = SPLITTER * x
    high = large - (large - x)
    return high, x - high
