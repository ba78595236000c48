"""Semidefinite programmes with rational data, and search directions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from certibit.theory.cones.direction_equations import Floats

Number = Any
"""A rational number of python-flint, an integer, or an ``arb`` without a radius."""

PRECISION = 512
"""Bits of the numbers that are computed; python-flint has one precision for all of them."""


@dataclass(frozen=True, eq=False)
class ConeProgramme:
    """Maximise g . v such that S_b(v) = F_b + sum_j v_j B_bj >= 0 and p(v) = f + G v >= 0.

    Attributes
    ----------
    gain : (m,) numbers
        What is maximised: g.
    blocks : sequences of 1 + m matrices, (k, k)
        F_b, then the B_bj; all symmetric.
    rows : (K, 1 + m) numbers
        f beside G.
    """

    gain: Sequence[Number]
    blocks: Sequence[Sequence[Any]]
    rows: Sequence[Sequence[Number]]

    def __post_init__(self) -> None:
        ctx.prec = PRECISION

    @cached_property
    def sizes(self) -> list[int]:
        """The sizes k of the blocks."""
        return [len(matrices[0]) for matrices in self.blocks]

    @cached_property
    def sums(self) -> list[arb_mat]:
        """What maps (1, v) to the entries of S, by blocks: (k^2, 1 + m)."""
        flat = ([map(arb, np.ravel(one)) for one in matrices] for matrices in self.blocks)
        return [arb_mat([list(row) for row in zip(*stack, strict=True)]) for stack in flat]

    @cached_property
    def lines(self) -> arb_mat:
        """What maps (1, v) to the rows: (K, 1 + m)."""
        return arb_mat([list(map(arb, row)) for row in self.rows])

    @property
    def unit(self) -> "Directions":
        """The directions in which one of the v_j changes."""
        m = len(self.gain)
        return Directions(self, arb_mat(m, m, [arb(i == j) for i in range(m) for j in range(m)]))

    def value(self, numbers: Sequence[Number]) -> arb:
        """Return g . v."""
        return sum((arb(g) * x for g, x in zip(self.gain, numbers, strict=True)), arb(0))


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of v, one in each column: (m, m)."""

    programme: ConeProgramme
    columns: arb_mat

    @cached_property
    def wide(self) -> list[arb_mat]:
        """What they change in S, side by side, by blocks: (k, m k)."""
        found = []
        for own, k in zip(self.programme.sums, self.programme.sizes, strict=True):
            changes = (_without_first(own) * self.columns).transpose().tolist()
            found.append(
                arb_mat([[x for one in changes for x in one[i * k : i * k + k]] for i in range(k)])
            )
        return found

    @cached_property
    def rows(self) -> arb_mat:
        """What they change in the rows: (K, m)."""
        return _without_first(self.programme.lines) * self.columns

    @cached_property
    def gain(self) -> list[arb]:
        """What they add to what is maximised: (m,)."""
        return (arb_mat([list(map(arb, self.programme.gain))]) * self.columns).entries()

    def turned(self, change: Floats) -> "Directions":
        """Return combinations of the directions."""
        return Directions(self.programme, self.columns * _exact(change))

    def step(self, lengths: Floats) -> list[arb]:
        """Return what v changes by."""
        return (self.columns * _exact(lengths[:, None])).entries()


def root_of(entries: Sequence[arb], k: int) -> tuple[arb_mat, arb_mat] | None:
    """Return T with T' S T = 1, and its inverse; None if S is not certainly positive definite."""
    lower = [[arb(0)] * k for _ in range(k)]  # S = lower lower'
    for j in range(k):
        for i in range(j, k):
            done = sum((lower[i][c] * lower[j][c] for c in range(j)), arb(0))
            rest = entries[i * k + j] - done
            if i > j:
                lower[i][j] = rest / lower[j][j]
            elif rest > 0:
                lower[j][j] = rest.sqrt()
            else:
                return None
    inverse = arb_mat(lower).transpose()
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


def _without_first(matrix: arb_mat) -> arb_mat:
    return arb_mat([row[1:] for row in matrix.tolist()])


def _exact(matrix: Floats) -> arb_mat:
    return arb_mat([[arb(float(x)) for x in row] for row in matrix])
