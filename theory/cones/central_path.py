"""The central path of a semidefinite programme.

It is followed from a strictly feasible v by primal-dual steps of Nesterov and Todd with Mehrotra's
corrector. Floats are used for directions only, in coordinates in which all matrices are the
identity and all rows have length 1. What directions change there is computed with twice the digits
of floats, these coordinates and the tests of feasibility with 512 bits, so that no digits are lost
near the boundary, and the result does not depend on the rounding of a processor.

Sources: Nesterov, Todd, Self-Scaled Barriers and Interior-Point Methods for Convex Programming
(1997); Mehrotra, On the Implementation of a Primal-Dual Interior Point Method (1992).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat
from numpy.typing import NDArray

from certibit.theory.cones.cone_programme import (
    BITS,
    ConeProgramme,
    Directions,
    Number,
    RatioProgramme,
    below,
    changed,
    congruence,
    from_triangle,
    in_floats,
    order_of,
    plain_square,
    precisely_changed,
    rational_of,
    root_of,
    triangle,
    triangle_places,
    triangle_weights,
    value_of,
    without_column,
)
from certibit.theory.cones.double_doubles import DirectionEquations, Floats


@dataclass(frozen=True, eq=False)
class ConePoint:
    """Symmetric matrices (k, k), by blocks, and numbers (K,): all positive, or a change of such."""

    matrices: tuple[Floats, ...]
    weights: Floats

    @classmethod
    def of(cls, flat: Floats, sizes: Sequence[int]) -> "ConePoint":
        """Read one from its triangles and numbers."""
        *triangles, weights = np.split(flat, np.cumsum([k * (k + 1) // 2 for k in sizes]))
        return cls(tuple(map(from_triangle, triangles)), weights)

    @classmethod
    def identity(cls, sizes: Sequence[int], count: int) -> "ConePoint":
        """Return the matrices 1 and the numbers 1."""
        return cls(tuple(np.eye(k) for k in sizes), np.ones(count))

    @property
    def flat(self) -> Floats:
        """Its triangles and numbers, with the same inner products."""
        return np.concatenate([*map(triangle, self.matrices), self.weights])

    @property
    def trace(self) -> float:
        """The sum of all eigenvalues and numbers."""
        return float(sum(x.trace() for x in self.matrices) + self.weights.sum())

    @property
    def size(self) -> int:
        """How many these are."""
        return sum(map(len, self.matrices)) + len(self.weights)

    def __add__(self, other: "ConePoint") -> "ConePoint":
        pairs = zip(self.matrices, other.matrices, strict=True)
        return ConePoint(tuple(a + b for a, b in pairs), self.weights + other.weights)

    def __mul__(self, factor: float) -> "ConePoint":
        return ConePoint(tuple(factor * x for x in self.matrices), factor * self.weights)

    def __sub__(self, other: "ConePoint") -> "ConePoint":
        return self + other * -1.0

    def dot(self, other: "ConePoint") -> float:
        """Return the inner product."""
        return float(self.flat @ other.flat)

    def reach(self, change: "ConePoint") -> float:
        """Return how often a change may be added to a diagonal, positive point."""
        lowest = [float((change.weights / self.weights).min(initial=0.0))]
        for own, x in zip(self.matrices, change.matrices, strict=True):
            root = own.diagonal() ** -0.5
            lowest.append(float(np.linalg.eigvalsh(root[:, None] * x * root)[0]))
        return -1 / min(lowest) if min(lowest) < 0 else np.inf

    def towards(self, target: float, primal: "ConePoint", dual: "ConePoint") -> "ConePoint":
        """Return the sum of changes after which a diagonal point has products near a target.

        The product of the two changes that are foreseen is taken off: Mehrotra's correction.
        """
        matrices = []
        for own, a, b in zip(self.matrices, primal.matrices, dual.matrices, strict=True):
            values = own.diagonal()
            second = (a @ b + b @ a) / (values[:, None] + values)
            matrices.append(np.diag(target / values - values) - second)
        both = primal.weights * dual.weights
        return ConePoint(tuple(matrices), (target - both) / self.weights - self.weights)


MOST_TURNS = 4
"""How often directions are changed at a point at most."""

TELLS = 1e-9
"""Part of a mean dual number that intervals are smaller than where they tell its sign."""

PRECISE = 1e7
"""How many times larger than what directions change its terms may be for floats to compute it."""


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
        if not all(x > 0 for x in slack):
            return None
        roots = []
        for own in blocks:
            root = root_of(plain_square(own.entries()))
            if root is None:
                return None
            roots.append(root)
        directions = before or Directions.unit(len(numbers))
        return cls(programme, tuple(numbers), directions, tuple(roots), slack)

    @property
    def value(self) -> arb:
        """What is maximised: g . v."""
        return value_of(self.programme.gain, self.numbers)

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
    def rows(self) -> Floats:
        """The triangles of T' B_j T, then the changes of rows relative to these: (N, m)."""
        tangent = self.programme.tangent(self.directions, self.numbers)
        ends = zip([0, *self._ends], self._ends, strict=False)
        blocks = [tangent[first:end] for first, end in ends]
        found = [changed(turn, own.whole) for turn, own in zip(self._turns, blocks, strict=True)]
        found.append(tangent.whole[self._ends[-1] :] / self._slack[:, None])
        lengths = np.abs(np.concatenate(found)).sum(axis=0)
        for place, (turn, own) in enumerate(zip(self._turns, blocks, strict=True)):
            most = changed(np.abs(turn), np.abs(own.whole)).sum(axis=0)
            if np.any(most > PRECISE * lengths):
                found[place] = precisely_changed(turn, own)
        weights = [*map(triangle_weights, self.programme.sizes), np.ones(len(self.slack))]
        return np.concatenate(found) * np.concatenate(weights)[:, None]

    @cached_property
    def _turns(self) -> list[Floats]:
        """T in floats, by blocks."""
        return [in_floats(root) for root, _ in self.roots]

    @cached_property
    def _slack(self) -> Floats:
        """What the rows are, in floats."""
        return np.array([float(x) for x in self.slack])

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
        return self.programme.slopes(self.directions)

    def rescaling(self, dual: ConePoint) -> Floats | float:
        """Return how the scale of v changes in every direction, at a dual point."""
        matrices, numbers = self.plain(dual)
        full = ((x + x.T - np.diag(np.diag(x)))[triangle_places(len(x))] for x in matrices)
        flat = np.concatenate([*full, numbers])
        return self.programme.rescaling(self.directions.columns.whole, self._point, flat)

    def moved(self, step: Floats, part: float, scale: float) -> "Surroundings | None":
        """Return the surroundings after part of a step; None if that is not strictly feasible."""
        change = self.programme.part_of(self.directions.step(step), part, scale)
        after = [(arb(x) + y).mid() for x, y in zip(self.numbers, change, strict=True)]
        return Surroundings.of(self.programme, after, self.directions)

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
        matrices = tuple(r @ x @ r.T for r, x in zip(self._turns, dual.matrices, strict=True))
        return matrices, dual.weights / self._slack

    def misfit(self, dual: ConePoint) -> float:
        """Return how far a dual point is from its equations, in floats."""
        lengths = np.linalg.norm(self.rows, axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        missing, slopes = self.rows.T @ dual.flat + self.slopes, self.slopes
        return float(np.linalg.norm(missing / lengths) / np.linalg.norm(slopes / lengths))

    def bound(self, dual: ConePoint, bits: int = BITS // 4) -> tuple[float, int]:
        """Return what no feasible g . v exceeds, and the bits of the numbers that tell.

        It is infinity if that is not known. The dual point is moved the shortest way to where its
        equations hold. That point is not known, but the intervals that are computed have it in
        them, and it is positive. No bound is known of a ratio, or if the dual point is too far off.
        """
        if isinstance(self.programme, RatioProgramme):
            return float("inf"), bits
        while True:  # a quarter of the bits takes a third of the time
            with ctx.workprec(bits):
                found = self._bound(self.programme, dual)
            if found is not None or bits >= BITS:
                return float("inf") if found is None else found, bits
            bits *= 2

    def _bound(self, programme: ConeProgramme, dual: ConePoint) -> float | None:
        """Return the bound by numbers of as many bits as python-flint computes with.

        None if these are too few to tell.
        """
        sums, lines = programme.sums, without_column(programme.lines, 0)
        turns = (congruence(root) for root, _ in self.roots)
        blocks = (turn * without_column(own, 0) for turn, own in zip(turns, sums, strict=True))
        ratios = zip(lines.tolist(), self.slack, strict=True)
        columns = below([*blocks, arb_mat([[x / slack for x in line] for line, slack in ratios])])
        system = columns.transpose()
        point = arb_mat([[arb(float(x))] for x in dual.flat])
        missing = system * point + arb_mat([[arb(x)] for x in programme.gain])
        try:
            shift = (system * columns).solve(missing)
        except ZeroDivisionError:
            return None
        entries = (point - columns * shift).entries()
        width = max(float(x.rad()) for x in entries)
        refused = float("inf") if width < TELLS * dual.trace / dual.size else None
        exact, gap, root = iter(entries), arb(0), arb(2).sqrt()
        for k in programme.sizes:
            scaled = zip(*triangle_places(k), exact, strict=False)
            block = plain_square([x if i == j else x / root for i, j, x in scaled])
            if root_of(block) is None:
                return refused
            gap += block.trace()
        rest = list(exact)
        if not all(x > 0 for x in rest):
            return refused
        gap += sum(rest, arb(0))
        most = float((self.value + gap).upper())
        return float(np.nextafter(most, np.inf))


MOST_STEPS = 150
"""How many steps are taken."""

TOWARDS = 0.95
"""Part of the way to the boundary that a step goes at most."""

ZERO = 1e-30
"""A value whose bound is as near as this counts as 0."""

SHORT = 0.1
"""Part of a step below which the next one goes to the centre."""

FITS = 1e-3
"""Relative misfit below which a bound is computed from a dual point."""

SETTLED = 1e-5
"""Relative change of the last step to a point of the central path; its square is left."""

STUCK = 1e-3
"""Part of a step below which the dual point is no help, and another one is begun with."""

HALVINGS = 5
"""How often a step is halved at most that is too long, by rounding or where its programme bends."""


@dataclass(frozen=True, eq=False)
class PathEnd:
    """The end of a central path.

    Attributes
    ----------
    numbers : tuple of m rational numbers
        A strictly feasible v.
    bound : float
        No feasible v has a larger g . v, proved in interval arithmetic by a dual point; infinity
        where none is found, or what is ``enough`` was reached first.
    dual : (k, k) matrices
        The dual point: the moments of a worst case.
    dual_rows : (K,)
        Its part of the rows.
    """

    numbers: tuple[Number, ...]
    bound: float
    dual: tuple[Floats, ...]
    dual_rows: Floats


def follow(
    programme: ConeProgramme | RatioProgramme,
    start: Sequence[Number],
    close: float,
    enough: Callable[[tuple[Number, ...]], bool] = lambda _: False,
    *,
    bounded: bool = True,
    least: float = -np.inf,
) -> PathEnd:
    """Follow the path from a strictly feasible point, until its bound is relatively ``close``.

    It ends before where a point is ``enough``, where the gap in floats says that less than the
    ``least`` is reached, or where rounding stops it. A path that is not
    ``bounded`` goes by the duality gap in floats, and ends in a point of the central path: a power
    of 2 is its gap, so that the same programme has the same end whatever is rounded on the way.

    Raises
    ------
    ValueError
        If the start is not strictly feasible.
    """
    here = Surroundings.of(programme, start)
    if here is None:
        raise ValueError("a path begins where all constraints hold strictly")
    length, bound, bits, end, settled, reached = 0.0, np.inf, BITS // 4, 0.0, False, False
    for _ in range(MOST_STEPS):
        here = here.conditioned()
        if length < STUCK:
            dual = _first_dual(here)
        last = max(close * abs(float(here.value)), ZERO)
        near = dual.trace <= last
        if near and bounded and here.misfit(dual) < FITS:
            bound, bits = here.bound(dual, bits)
        reached = enough(here.numbers)
        if bound < np.inf or settled or reached:
            break
        if float(here.value) + dual.trace < least and here.misfit(dual) < FITS:
            break
        gap = dual.trace if near or length < SHORT else None
        if near and not bounded:
            end = end or 2.0 ** np.floor(np.log2(last))
            gap = end
        rescaling = 0.0 if end else here.rescaling(dual)
        step, longest, moved = _step(here, dual, gap, rescaling)
        scale = longest * float(np.sum(rescaling * step))
        settled = gap == end and float(np.linalg.norm(here.rows @ step)) < SETTLED
        parts = [0.5**halved for halved in range(HALVINGS + 1)]
        tried = ((part, here.moved(longest * step, part, scale)) for part in parts)
        part, after = next(((x, there) for x, there in tried if there), (0.0, here))
        length = longest * part
        dual, here = here.seen_from(after, moved * (1 + part * scale)), after
        if not length:
            break
    if bounded and bound == np.inf and not reached:
        bound, _ = here.bound(dual, bits)
    return PathEnd(tuple(map(rational_of, here.numbers)), bound, *here.plain(dual))


def _first_dual(here: Surroundings) -> ConePoint:
    """Return the multiple of the identity that fits best."""
    identity = ConePoint.identity(here.programme.sizes, len(here.growth))
    system = DirectionEquations(here.rows, here.slopes)
    if not system.up.any():  # nothing is gained in any direction
        return identity
    inwards = system.left.T @ identity.flat
    steepness = -float(inwards @ system.up) / float(system.up @ system.up)
    return identity * (1 / steepness if steepness > 0 else float(np.linalg.norm(system.up)))


def _step(
    here: Surroundings, dual: ConePoint, gap: float | None, rescaling: Floats | float
) -> tuple[Floats, float, ConePoint]:
    """Return a direction of v, how far to go there, and the dual point afterwards.

    It is computed where primal and dual point are the same diagonal. With a ``gap`` it goes to the
    point of the central path that has this one.
    """
    frames, rows, diagonals = [], [], []
    for change, matrix in zip(here.changes, dual.matrices, strict=True):
        values, axes = np.linalg.eigh((matrix + matrix.T) / 2)
        values = np.maximum(values, values[-1] * np.finfo(float).eps)
        frame = axes * values**0.25
        frames.append(frame)
        rows.append(triangle(frame.T @ change @ frame).T)
        diagonals.append(np.diag(np.sqrt(values)))
    roots = np.sqrt(dual.weights)
    centre = ConePoint(tuple(diagonals), roots)
    own = np.concatenate([*rows, roots[:, None] * here.growth])
    system = DirectionEquations(own + centre.flat[:, None] * rescaling, here.slopes)
    mean = dual.trace / dual.size

    def changes(pull: ConePoint) -> tuple[Floats, ConePoint, ConePoint]:
        """Return the direction, and the changes of primal and dual that add up to a pull."""
        direction = system.solve((centre + pull).flat)
        primal = ConePoint.of(system.rows @ direction, here.programme.sizes)
        return direction, primal, pull - primal

    _, primal, other = changes(centre * -1.0)
    ends = [centre + one * min(1.0, centre.reach(one)) for one in (primal, other)]
    left = ends[0].dot(ends[1]) / dual.size / mean
    target = min(max(left, 0.0), 1.0) ** 3 * mean
    if gap is not None:
        target, primal, other = gap / dual.size, primal * 0.0, other * 0.0
    direction, primal, other = changes(centre.towards(target, primal, other))
    first, second = (min(1.0, TOWARDS * centre.reach(one)) for one in (primal, other))
    moved = centre + other * second
    matrices = tuple(f @ x @ f.T for f, x in zip(frames, moved.matrices, strict=True))
    return direction, first, ConePoint(matrices, moved.weights * roots)


CLOSE = 1e-9
"""Relative distance of the least lift to its bound at which the search for a point ends."""

MOST_LIFTS = 200
"""How often the lift is made sixteen times larger at most."""

Row = Sequence[Number]


def strictly_inside(
    sums: Sequence[fmpq_mat], rows: Sequence[Row], kept: Sequence[Row] = ()
) -> tuple[Number, ...] | None:
    """Return v at which matrices are positive definite and rows positive; None if there is none.

    All of them are lifted by a multiple t of a diagonal, which is then made as small as possible,
    from v = 0 on.

    Parameters
    ----------
    sums : matrices with 1 + m columns
        What maps (1, v) to the triangles of the matrices.
    rows, kept : sequences of (1 + m,)
        What maps (1, v) to the rows; those that are ``kept`` are positive at v = 0, and not lifted.
    """
    lifted = [_lifted(own) for own in sums]
    lines = [[*row, 1 + sum(map(abs, row), fmpq(0))] for row in rows]
    lines += [[*row, fmpq(0)] for row in kept]
    nothing = [fmpq(0)] * (lifted[0].ncols() - 2)
    lines.append([fmpq(1), *nothing, fmpq(1)])
    programme = ConeProgramme.of([*nothing, -1], lifted, lines)
    starts = ([*nothing, fmpq(16) ** power] for power in range(MOST_LIFTS))
    start = next((one for one in starts if Surroundings.of(programme, one) is not None), None)
    if start is None:
        return None
    found = follow(programme, start, CLOSE, lambda numbers: numbers[-1] <= 0, bounded=False)
    *inside, rest = found.numbers
    return tuple(inside) if rest <= 0 else None


def _lifted(sums: fmpq_mat) -> fmpq_mat:
    """Add a multiple of a diagonal matrix, as large as all others together."""
    places = zip(*triangle_places(order_of(sums.nrows())), strict=True)
    rows = [[*row, fmpq(0)] for row in sums.tolist()]
    for row, (i, j) in zip(rows, places, strict=True):
        if i == j:
            row[-1] = sum(map(abs, row), fmpq(0)) or fmpq(1)
    return fmpq_mat(rows)
