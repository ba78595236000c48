"""A strictly feasible point of a programme, and coordinates in which it is the identity."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

from certibit.theory.cones.cone_point import ConePoint
from certibit.theory.cones.cone_programme import (
    MOST_BITS,
    Changes,
    ConeProgramme,
    Directions,
    Number,
    RatioProgramme,
    TooFewBitsError,
    in_floats,
    is_positive,
    root_of,
    value_of,
)
from certibit.theory.cones.direction_equations import DirectionEquations, Floats
from certibit.theory.cones.triangles import (
    congruence,
    from_triangle,
    plain_square,
    rounded_congruence,
    triangle_places,
)

MOST_TURNS = 4
"""How often directions are changed at a point at most."""

PRECISE = 1e7
"""How many times larger than what directions change its terms may be for floats to compute it."""

VAGUE = 1e-12
"""Relative radius of a number that is known too little of."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A strictly feasible v, and what directions change in its coordinates.

    Attributes
    ----------
    numbers : tuple of m numbers
        v.
    directions : Directions
        In which v may change.
    roots : pairs of arb_mat
        T with T' S T = 1, and its inverse, by blocks.
    slack : list
        What the rows are at v.
    """

    programme: ConeProgramme | RatioProgramme
    numbers: tuple[Number, ...]
    directions: Directions
    roots: tuple[tuple[arb_mat, arb_mat], ...]
    slack: list[arb]

    @classmethod
    def of(
        cls,
        programme: ConeProgramme | RatioProgramme,
        numbers: Sequence[Number],
        before: Directions | None = None,
    ) -> "Surroundings | None":
        """Return the coordinates at a point, perhaps in directions as ``before``.

        They are None if the point is not strictly feasible.
        """
        blocks, rows = programme.at(numbers)
        slack = rows.entries()
        if not all(map(is_positive, slack)):
            return None
        roots = []
        for own in blocks:
            root = root_of(plain_square(own.entries()))
            if root is None:
                return None
            roots.append(root)
        directions = before or Directions.unit(len(numbers))
        return cls(programme, tuple(numbers), directions, tuple(roots), slack)

    def anew(self) -> "Surroundings":
        """Return the same, computed in the bits that there are now."""
        directions = Directions(self.directions.columns.mid())
        here = Surroundings.of(self.programme, self.numbers, directions)
        return self if here is None else here

    @property
    def value(self) -> arb:
        """What is maximised: g . v."""
        return value_of(self.programme.gain, self.numbers)

    @cached_property
    def tangent(self) -> Changes:
        """What directions change here."""
        return self.programme.tangent(self.directions, self.numbers)

    def conditioned(self) -> "Surroundings":
        """Return the same with directions of which none almost follows from others."""
        here = self
        for _ in range(MOST_TURNS):
            change = DirectionEquations(here.rows, here.slopes).orthogonal()
            if change is None:
                break
            here = replace(self, directions=here.directions.turned(change))
        return here

    @cached_property
    def intervals(self) -> list[arb_mat]:
        """The triangles of T' B_j T, by blocks, then the changes of rows relative to these."""
        pairs = zip(self.roots, self.tangent[0], strict=True)
        lines = zip(self.tangent[1].tolist(), self.slack, strict=True)
        ratios = arb_mat([[x / slack for x in line] for line, slack in lines])
        return [*(congruence(root) * own for (root, _), own in pairs), ratios]

    @cached_property
    def rows(self) -> Floats:
        """The same in floats, one below the other: (N, m)."""
        found, precise = self._rounded
        if precise:
            return found
        found = np.concatenate([in_floats(own) for own in self.intervals])
        sizes = np.abs(found[: len(found) - len(self.slack)]).sum(axis=0).tolist()
        for own, k in zip(self.intervals, self.programme.sizes, strict=False):
            if ctx.prec == MOST_BITS:
                break
            traces = (
                arb_mat([[int(i == j) for i, j in zip(*triangle_places(k), strict=True)]]) * own
            )
            pairs = zip(traces.entries(), sizes, strict=True)
            if any(float(x.rad()) > VAGUE * size for x, size in pairs):
                raise TooFewBitsError
        return found

    @property
    def _rounded(self) -> tuple[Floats, bool]:
        """The rows as computed in floats, and whether these are precise enough."""
        tangent, sizes = self.programme.rounded_tangent(self.directions.rounded, self._point)
        turns = [rounded_congruence(in_floats(root)) for root, _ in self.roots]
        turns.append(np.diag([1 / float(x) for x in self.slack]))
        parts = (np.split(own, self._ends) for own in (tangent, sizes))
        triples = list(zip(turns, *parts, strict=True))
        found = np.concatenate([turn @ own for turn, own, _ in triples])
        most = sum(np.sum(np.abs(turn) @ size, axis=0) for turn, _, size in triples)
        return found, bool(np.all(most <= PRECISE * np.abs(found).sum(axis=0)))

    @property
    def _ends(self) -> NDArray[np.intp]:
        """The numbers of rows up to the end of each block."""
        return np.cumsum([k * (k + 1) // 2 for k in self.programme.sizes])

    @property
    def _point(self) -> Floats:
        """V in floats."""
        return np.array([float(arb(x)) for x in self.numbers])

    @property
    def changes(self) -> list[Floats]:
        """What directions change in the matrices, by blocks: (m, k, k)."""
        return [from_triangle(own.T) for own in np.split(self.rows, self._ends)[:-1]]

    @property
    def growth(self) -> Floats:
        """What directions change in the rows, relative to what these are: (K, m)."""
        return self.rows[len(self.rows) - len(self.slack) :]

    @cached_property
    def slopes(self) -> Floats:
        """What directions add to what is maximised: (m,)."""
        return np.array([float(x) for x in self.directions.gain(self.programme.gain)])

    def rescaling(self, dual: ConePoint) -> Floats | float:
        """Return how the scale of v changes in every direction, at a dual point."""
        matrices, numbers = self.plain(dual)
        full = ((x + x.T - np.diag(np.diag(x)))[triangle_places(len(x))] for x in matrices)
        flat = np.concatenate([*full, numbers])
        return self.programme.rescaling(self.directions.rounded, self._point, flat)

    def moved(self, step: Floats, part: float, scale: float) -> "Surroundings | None":
        """Return the surroundings after part of a step; None if that is not strictly feasible."""
        change = self.programme.part_of(self.directions.step(step), part, scale)
        after = [(arb(x) + y).mid() for x, y in zip(self.numbers, change, strict=True)]
        return Surroundings.of(self.programme, after, self.directions)

    def seen(self, point: Changes) -> Floats:
        """Return matrices and rows in these coordinates, as triangles and numbers."""
        blocks, lines = point
        pairs = zip(self.roots, blocks, strict=True)
        triangles = [in_floats(congruence(root) * one)[:, 0] for (root, _), one in pairs]
        ratios = zip(lines.entries(), self.slack, strict=True)
        return np.concatenate([*triangles, [float(x / y) for x, y in ratios]])

    def seen_from(self, other: "Surroundings", dual: ConePoint) -> ConePoint:
        """Return a dual point in the coordinates of another point."""
        matrices = []
        for (root, _), (_, inverse), x in zip(self.roots, other.roots, dual.matrices, strict=True):
            change = in_floats(inverse * root)
            matrices.append(change @ x @ change.T)
        ratios = [float(b / a) for a, b in zip(self.slack, other.slack, strict=True)]
        return ConePoint(tuple(matrices), dual.weights * np.array(ratios))

    def plain(self, dual: ConePoint) -> tuple[tuple[Floats, ...], Floats]:
        """Return the matrices and numbers of a dual point without coordinates."""
        roots = [in_floats(root) for root, _ in self.roots]
        matrices = tuple(r @ x @ r.T for r, x in zip(roots, dual.matrices, strict=True))
        return matrices, dual.weights / np.array([float(x) for x in self.slack])

    def seen_dual(self, matrices: Sequence[Floats], numbers: Floats) -> Floats:
        """Return a dual point in these coordinates, as triangles and numbers."""
        inverses = [in_floats(inverse) for _, inverse in self.roots]
        pairs = zip(inverses, matrices, strict=True)
        slack = np.array([float(x) for x in self.slack])
        return ConePoint(tuple(r @ x @ r.T for r, x in pairs), numbers * slack).flat

    def misfit(self, dual: ConePoint) -> float:
        """Return how far a dual point is from its equations, in floats."""
        lengths = np.linalg.norm(self.rows, axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        missing, slopes = self.rows.T @ dual.flat + self.slopes, self.slopes
        return float(np.linalg.norm(missing / lengths) / np.linalg.norm(slopes / lengths))

    def bound(self, dual: ConePoint) -> float:
        """Return what no feasible g . v exceeds; infinity if the dual point is too far off.

        The dual point is moved the shortest way to where its equations hold. That point is not
        known, but the intervals that are computed have it in them, and it is positive.
        """
        columns = arb_mat([row for own in self.intervals for row in own.tolist()])
        system = columns.transpose()
        point = arb_mat([[arb(float(x))] for x in dual.flat])
        missing = system * point + arb_mat([[x] for x in self.directions.gain(self.programme.gain)])
        try:
            shift = (system * columns).solve(missing)
        except ZeroDivisionError:
            return float("inf")
        exact, gap, root = iter((point - columns * shift).entries()), arb(0), arb(2).sqrt()
        for k in self.programme.sizes:
            scaled = zip(*triangle_places(k), exact, strict=False)
            block = plain_square([x if i == j else x / root for i, j, x in scaled])
            if root_of(block) is None:
                return float("inf")
            gap += block.trace()
        rest = list(exact)
        if not all(x > 0 for x in rest):
            return float("inf")
        gap += sum(rest, arb(0))
        most = float((self.value + gap).upper())
        return float(np.nextafter(most, np.inf))
