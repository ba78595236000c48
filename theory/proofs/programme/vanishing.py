"""Linear forms that are at least 0 together, and are 0 because of it."""

import numpy as np
import scipy
from flint import fmpq_mat
from numpy.typing import NDArray

from certibit.theory.proofs.rational_algebra import Rationals, floats

COUNTED = 1e-9
"""Part of the largest weight in a sum above which a form belongs to it."""

SCALINGS = 4
"""How often rows and columns are divided by their largest entries."""


def vanishing(rows: Rationals) -> list[int]:
    """Return places of forms a_0 + a.z that are 0 for all z for which all forms are at least 0.

    A sum of them with positive weights is 0 for all z; it is found in floats, and proved exactly.

    Parameters
    ----------
    rows : (m, 1 + k)
        Each a form, a_0 first, in rational numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit.theory.proofs.programme.vanishing import vanishing
    >>> from certibit.theory.worlds.opaque.exact_numbers import rationals
    >>> vanishing(rationals(np.array([[0, 1], [0, -2], [1, 1], [0, 0]])))
    [0, 1, 3]
    """
    found = np.flatnonzero(~rows.any(axis=1)).tolist()
    left, rounded = np.flatnonzero(rows.any(axis=1)), floats(rows)
    while left.size:
        places = left[_sum_that_is_0(rounded[left])]
        if not places.size or not _cancels(rows[places]):
            break
        found += places.tolist()
        left = np.setdiff1d(left, places)
    return sorted(found)


def _sum_that_is_0(rows: NDArray[np.float64]) -> list[int]:
    """Return the places of forms of which a sum with positive weights seems to be 0."""
    for _ in range(SCALINGS):
        rows = rows / (np.abs(rows).max(axis=0) + (~rows.any(axis=0)))
        rows /= np.abs(rows).max(axis=1)[:, None]
    found = scipy.optimize.linprog(
        np.zeros(len(rows)),
        A_eq=np.vstack([rows.T, np.ones(len(rows))]),
        b_eq=np.append(np.zeros(rows.shape[1]), 1.0),
        method="highs-ds",
    )
    if not found.success or found.x is None:
        return []
    return np.flatnonzero(found.x > COUNTED * found.x.max()).tolist()


def _cancels(rows: Rationals) -> bool:
    """Whether a sum of all rows with positive weights is 0."""
    reduced, rank = fmpq_mat(rows.T.tolist()).rref()
    last = len(rows) - 1
    return rank == last and all(reduced[i, i] == 1 and reduced[i, last] < 0 for i in range(rank))
