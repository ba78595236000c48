"""A point at which all constraints of a programme hold strictly, from which a path begins."""

from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from certibit.theory.cones.central_path import follow
from certibit.theory.cones.cone_programme import ConeProgramme, Number
from certibit.theory.cones.surroundings import Surroundings
from certibit.theory.cones.triangles import order_of, triangle_places

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
