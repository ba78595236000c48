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
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.theory.cones.cone_programme import (
    BITS,
    ConeProgramme,
    Number,
    RatioProgramme,
    rational_of,
)
from certibit.theory.cones.double_doubles import DirectionEquations, Floats
from certibit.theory.cones.surroundings import ConePoint, Surroundings
from certibit.theory.cones.triangles import order_of, triangle, triangle_places

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
