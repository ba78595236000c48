"""Semidefinite programmes with rational data, and search directions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq
from numpy.typing import NDArray

from certibit.theory.cones.double_doubles import Doubles, Floats


@lru_cache
def triangle_places(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return row and column of every entry of the triangle of a (k, k) matrix."""
    columns, rows = np.tril_indices(k)
    return rows, columns


@lru_cache
def triangle_weights(k: int) -> Floats:
    """Return 1 for every entry of a triangle that is once in its matrix, else the root of 2."""
    rows, columns = triangle_places(k)
    return np.where(rows == columns, 1.0, 2**0.5)


@lru_cache
def _square_of(k: int) -> NDArray[np.intp]:
    """Return where each entry of a (k, k) matrix is in its triangle."""
    found = np.zeros((k, k), dtype=int)
    rows, columns = triangle_places(k)
    found[rows, columns] = found[columns, rows] = np.arange(len(rows))
    return found


def order_of(length: int) -> int:
    """Return k of the matrices whose triangles have so many entries."""
    return (isqrt(8 * length + 1) - 1) // 2


def triangle(matrices: Floats) -> Floats:
    """Return the triangles of matrices, (..., k, k), with the same inner products.

    Entries that are twice in a matrix are multiplied by the square root of 2.

    Examples
    --------
    >>> import numpy as np
    >>> triangle(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3).tolist()
    [1.0, 2.828, 3.0]
    """
    rows, columns = triangle_places(matrices.shape[-1])
    found: Floats = matrices[..., rows, columns] * triangle_weights(matrices.shape[-1])
    return found


def from_triangle(triangles: Floats) -> Floats:
    """Return the matrices, (..., k, k), with such triangles."""
    k = order_of(triangles.shape[-1])
    found: Floats = triangles[..., _square_of(k)] * np.where(np.eye(k), 1.0, 0.5**0.5)
    return found


def changed(turn: Floats, triangles: Floats) -> Floats:
    """Return the triangles of T' X T for those of X, in columns; no entry is multiplied."""
    rows, columns = triangle_places(len(turn))
    return (turn.T @ triangles.T[:, _square_of(len(turn))] @ turn)[:, rows, columns].T


def plain_square(entries: Sequence[arb]) -> arb_mat:
    """Return the matrix whose triangle has these entries."""
    k = order_of(len(entries))
    return arb_mat(k, k, [entries[place] for place in _square_of(k).ravel().tolist()])


def upper(matrix: NDArray[Any], kept: Sequence[int]) -> NDArray[Any]:
    """Return the entries of the triangle of a symmetric matrix, of kept rows and columns."""
    rows, columns = (np.array(kept, dtype=int)[places] for places in triangle_places(len(kept)))
    return matrix[rows, columns]


def precisely_changed(turn: Floats, triangles: Doubles) -> Floats:
    """Return :func:`changed`, computed with twice the digits."""
    rows, columns = triangle_places(len(turn))
    own = Doubles.of(turn.T)
    across = own[np.ix_(rows, columns)] * own[np.ix_(columns, rows)]
    apart = Doubles.of(np.where(rows == columns, 0.0, 1.0))
    change = own[np.ix_(rows, rows)] * own[np.ix_(columns, columns)] + across * apart
    units = np.exp2(np.frexp(np.abs(change.whole).max(axis=0))[1])  # rows of X have any units
    return (change.scaled(1 / units) @ triangles.scaled(units[:, None])).whole


def congruence(turn: arb_mat) -> arb_mat:
    """Return what maps the entries of the triangle of X to :func:`triangle` of T' X T."""
    columns, root = turn.transpose().tolist(), arb(2).sqrt()
    pairs = list(zip(*(one.tolist() for one in triangle_places(turn.nrows())), strict=True))
    found = []
    for i, j in pairs:
        left, right = columns[i], columns[j] if i == j else [root * x for x in columns[j]]
        found.append(
            [
                left[a] * right[b] + left[b] * right[a] if a < b else left[a] * right[a]
                for a, b in pairs
            ]
        )
    return arb_mat(found)


Number = Any
"""A rational number of python-flint, an integer, or an ``arb`` without a radius."""

BITS = 512
"""Bits of the numbers that are computed; python-flint has one precision for all of them."""

SHORTEST = 0.1
"""What (1, v) is divided by at least."""


Changes = tuple[list[arb_mat], arb_mat]
"""By columns: triangles of matrices, by blocks, and rows."""


@dataclass(frozen=True, eq=False)
class ConeProgramme:
    """Maximise g . v such that S_b(v) = F_b + sum_j v_j B_bj >= 0 and p(v) = f + G v >= 0.

    Attributes
    ----------
    gain : (m,) numbers
        What is maximised: g.
    sums : matrices with 1 + m columns
        What maps (1, v) to the triangles of S, by blocks.
    lines : (K, 1 + m)
        What maps (1, v) to the rows: f beside G.
    """

    gain: Sequence[Number]
    sums: Sequence[arb_mat]
    lines: arb_mat

    @classmethod
    def of(cls, gain: Sequence[Number], sums: Sequence[Any], lines: Any) -> "ConeProgramme":
        """Return the programme of rational matrices."""
        ctx.prec = BITS
        return cls(gain, list(map(arb_mat, sums)), arb_mat(lines))

    @property
    def sizes(self) -> list[int]:
        """The sizes k of the blocks."""
        return [order_of(own.nrows()) for own in self.sums]

    def at(self, numbers: Sequence[Number]) -> Changes:
        """Return S and the rows at a point."""
        point = arb_mat([[arb(1)], *([arb(x)] for x in numbers)])
        return [own * point for own in self.sums], self.lines * point

    @cached_property
    def rounded(self) -> Doubles:
        """What maps (1, v) to all triangles, then to the rows and to what is maximised."""
        gain = arb_mat([list(map(arb, (0, *self.gain)))])
        return Doubles.rounded(below((*self.sums, self.lines, gain)))

    @cached_property
    def moving(self) -> Doubles:
        """The same without 1."""
        return self.rounded[:, 1:]

    def tangent(self, directions: "Directions", _: Sequence[Number]) -> Doubles:
        """Return what directions change at a point, one in each column: the same everywhere."""
        return directions.changes(self)[:-1]

    def slopes(self, directions: "Directions") -> Floats:
        """Return what directions add to what is maximised: (m,)."""
        return directions.changes(self).whole[-1]

    def rescaling(self, *_: Any) -> Floats | float:
        """Return 0: v has one scale only."""
        return 0.0

    def part_of(self, change: Sequence[arb], part: float, _: float) -> list[arb]:
        """Return part of a change of v."""
        return [part * x for x in change]


@dataclass(frozen=True, eq=False)
class RatioProgramme:
    """Maximise t such that A(v) - t B(v) >= 0, for matrices and rows; B >= 0 where that holds.

    For every t the set of v is convex, and the smaller t is, the larger is this set: a point from
    which t cannot grow along the programme that is tangent there is the best.

    Attributes
    ----------
    above, below : ConeProgramme
        A and B, of which (t, v) are the unknowns, though they are without t; their gain is t.
    """

    above: ConeProgramme
    below: ConeProgramme

    @property
    def gain(self) -> Sequence[Number]:
        """What is maximised."""
        return self.above.gain

    @property
    def sizes(self) -> list[int]:
        """The sizes k of the blocks."""
        return self.above.sizes

    def at(self, numbers: Sequence[Number]) -> Changes:
        """Return A - t B and the rows at a point."""
        t = arb(numbers[0])
        above, rows = self.above.at(numbers)
        below, slopes = self.below.at(numbers)
        return [a - b * t for a, b in zip(above, below, strict=True)], rows - slopes * t

    def tangent(self, directions: "Directions", numbers: Sequence[Number]) -> Doubles:
        """Return what directions change at a point."""
        blocks, lines = self.below.at(numbers)
        here = Doubles.rounded(-below((*blocks, lines)))
        t = Doubles.rounded(arb_mat([[-arb(numbers[0])]]))
        above, slower = map(directions.changes, (self.above, self.below))
        return above[:-1] + t * slower[:-1] + here * directions.columns[:1]

    def slopes(self, directions: "Directions") -> Floats:
        """Return what directions add to what is maximised: (m,)."""
        return self.above.slopes(directions)

    def rescaling(self, columns: Floats, numbers: Floats, dual: Floats) -> Floats:
        """Return s: with (1, v) + change + s (1, v) every direction leaves <dual, B> as it is.

        All is homogeneous in (1, v). A tangent programme in which <dual, B> is constant is right to
        the second order where the dual point sees something: its gap is one of the programme.
        """
        slower = dual @ self.below.rounded.whole[:-1]
        return -(slower[1:] @ columns) / float(slower @ [1.0, *numbers])

    def part_of(self, change: Sequence[arb], part: float, scale: float) -> list[arb]:
        """Return part of a change of (t, v); where t grows, part of that only.

        With no part of it all v stay feasible that were so in the tangent programme. What is added
        to (1, v) is a ``scale`` of it, by which all is divided.
        """
        rest = 1.0 if change[0] > 0 else part
        shorter = rest / max(1 + rest * scale, SHORTEST)
        return [part * change[0], *(shorter * x for x in change[1:])]


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of v, one in each column: (m, m)."""

    columns: Doubles
    known: dict[int, Doubles] = field(default_factory=dict)

    @classmethod
    def unit(cls, m: int) -> "Directions":
        """Return the directions in which one of the v_j changes."""
        return cls(Doubles.of(np.eye(m)))

    def changes(self, programme: ConeProgramme) -> Doubles:
        """Return what they change in a programme, which is computed once."""
        if id(programme) not in self.known:
            self.known[id(programme)] = programme.moving @ self.columns
        return self.known[id(programme)]

    def turned(self, change: Floats) -> "Directions":
        """Return combinations of the directions."""
        return Directions(self.columns @ Doubles.of(change))

    def step(self, lengths: Floats) -> list[arb]:
        """Return what v changes by."""
        found = self.columns @ Doubles.of(lengths[:, None])
        return [arb(x) + arb(y) for x, y in zip(found.whole.flat, found.rest.flat, strict=True)]


def root_of(matrix: arb_mat) -> tuple[arb_mat, arb_mat] | None:
    """Return T with T' S T = 1, and its inverse; None if S is not certainly positive definite."""
    rest, lower = matrix.tolist(), list[list[arb]]()  # S = lower lower', by columns
    while rest:
        (pivot, *_), *others = rest
        if not pivot > 0:
            return None
        root = pivot.sqrt()
        column = [row[0] / root for row in others]
        rest = [
            [x - factor * y for x, y in zip(row[1:], column[: i + 1], strict=False)]
            for i, (factor, row) in enumerate(zip(column, others, strict=True))
        ]
        lower.append([*[arb(0)] * len(lower), root, *column])
    inverse = arb_mat(lower)
    return inverse.inv(), inverse


def in_floats(matrix: arb_mat) -> Floats:
    """Return a matrix in floats."""
    numbers = np.array([float(x) for x in matrix.entries()])
    return numbers.reshape(matrix.nrows(), matrix.ncols())


def rational_of(number: Number) -> fmpq:
    """Return a number without an interval as what it is."""
    if not isinstance(number, arb):
        return fmpq(number)
    digits, power = number.man_exp()
    return fmpq(digits) * fmpq(2) ** int(power)


def value_of(gain: Sequence[Number], numbers: Sequence[Number]) -> arb:
    """Return g . v."""
    return sum((arb(g) * x for g, x in zip(gain, numbers, strict=True)), arb(0))


def below(matrices: Sequence[arb_mat]) -> arb_mat:
    """Return matrices one below the other."""
    return arb_mat([row for own in matrices for row in own.tolist()])


def without_column(matrix: arb_mat, place: int) -> arb_mat:
    """Return a matrix without one of its columns."""
    return arb_mat([row[:place] + row[place + 1 :] for row in matrix.tolist()])
