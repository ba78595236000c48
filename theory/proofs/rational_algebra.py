"""Symmetric matrices of rational numbers: whether they are positive, and their factors."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.theory.worlds.opaque.exact_numbers import Rational

Rationals = NDArray[Any]
"""A matrix of rational numbers."""

ZERO = fmpq(0)


def floats(matrix: Rationals) -> NDArray[np.float64]:
    """Return a matrix rounded to floats."""
    rounded = [int(x.p) / int(x.q) for x in matrix.flat]
    return np.array(rounded).reshape(matrix.shape)


def ldl(matrix: Rationals) -> tuple[Rationals, list[Rational]] | None:
    """Return L and D with matrix = L D L', L being unit lower triangular; None if it is not >= 0.

    A pivot of 0 is allowed where the rest of its column is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit.theory.worlds.opaque.exact_numbers import rationals
    >>> L, D = ldl(rationals(np.array([[4, 2], [2, 1]])))
    >>> D == [4, 0]
    True
    >>> ldl(rationals(np.array([[0, 1], [1, 1]]))) is None
    True
    """
    size = len(matrix)
    rest = matrix.copy()
    lower = np.full((size, size), ZERO, dtype=object)
    pivots: list[Rational] = []
    for k in range(size):
        pivot, column = rest[k, k], rest[k + 1 :, k]
        if pivot < 0 or (pivot == 0 and any(column)):
            return None
        pivots.append(pivot)
        lower[k, k] = fmpq(1)
        if pivot:
            lower[k + 1 :, k] = column / pivot
            rest[k + 1 :, k + 1 :] = rest[k + 1 :, k + 1 :] - np.outer(lower[k + 1 :, k], column)
    return lower, pivots


def rounded_down(number: Rational, digits: int) -> Rational:
    """Return the largest decimal number of so many digits that is not larger.

    Examples
    --------
    >>> rounded_down(fmpq(2, 3), 4) == fmpq(6666, 10000)
    True
    """
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    quotient = context.divide(Decimal(int(number.p)), Decimal(int(number.q)))
    return fmpq(*quotient.as_integer_ratio())


def flat(matrices: Sequence[Any]) -> fmpq_mat:
    """Return what maps weights to the entries of the sum of so many matrices."""
    return fmpq_mat([np.ravel(matrix).tolist() for matrix in matrices]).transpose()


def spanning_rows(matrices: list[Rationals]) -> list[int]:
    """Return indices whose unit vectors span all that some symmetric matrices see together.

    The matrices restricted to these indices have no common kernel, and are positive semidefinite
    exactly where the whole ones are.

    Examples
    --------
    >>> spanning_rows([np.array([[fmpq(1), fmpq(1)], [fmpq(1), fmpq(1)]])])
    [0]
    """
    rows = [row for matrix in matrices for row in matrix.tolist() if any(row)]
    return leading_columns(rows)


def leading_columns(rows: list[list[Rational]]) -> list[int]:
    """Return the columns of a matrix that are independent of those before them."""
    if not rows:
        return []
    reduced, rank = fmpq_mat(rows).rref()
    return [next(j for j in range(reduced.ncols()) if reduced[i, j]) for i in range(rank)]


def solutions(rows: Rationals) -> fmpq_mat:
    """Return what maps 1 and coordinates to 1 and the unknowns with rows (1, unknowns) = 0.

    Raises
    ------
    Refusal
        If there are none: the rows are those of function values, which multipliers cancel.
    """
    fixed, unknowns = rows[:, :1], rows[:, 1:]
    count = unknowns.shape[1]
    reduced, rank = fmpq_mat(np.hstack([unknowns, fixed]).tolist()).rref()
    leads = [next(j for j in range(count + 1) if reduced[i, j]) for i in range(rank)]
    if count in leads:
        raise Refusal(
            "the values of f after the step are not bounded by what is known of them; take a "
            "potential without f - f*"
        )
    others = [j for j in range(count) if j not in leads]
    table = [[fmpq(j == 0) for j in range(len(others) + 1)]]
    for place in range(count):
        if place in leads:
            i = leads.index(place)
            table.append([-reduced[i, count], *(-reduced[i, j] for j in others)])
        else:
            table.append([ZERO, *(fmpq(j == place) for j in others)])
    return fmpq_mat(table)
