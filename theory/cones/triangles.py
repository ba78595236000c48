"""Symmetric matrices as vectors of their upper triangles, by columns."""

from collections.abc import Sequence
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from flint import arb, arb_mat
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
