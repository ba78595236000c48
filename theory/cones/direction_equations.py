"""Least squares for the directions of a path, with columns of very different lengths."""

import numpy as np
import scipy
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
