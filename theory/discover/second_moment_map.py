"""The map of second moments of one step on a quadratic, and its spectral radius."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Steps:
    """The linear maps of one step in every case.

    Attributes
    ----------
    alone : (cases, N, N)
        Without a round.
    together : (cases, outcomes, N, N)
        With a round.
    p : float
        The probability of a round.
    odds : (cases, outcomes)
        Those of the outcomes.
    kernel : (N, N')
        A basis of the deviations that violate no invariant.
    """

    alone: Matrix
    together: Matrix
    p: float
    odds: Matrix
    kernel: Matrix

    def moments(self, mean: Matrix, second: Matrix) -> tuple[Matrix, Matrix]:
        """Return mean and second moments after a step, in the first case."""
        alone, together, odds = self.alone[0], self.together[0], self.odds[0]
        mixed = np.einsum("o,oab,bc,odc->ad", odds, together, second, together)
        left = 1 - self.p
        return (
            left * alone @ mean + self.p * np.tensordot(odds, together, 1) @ mean,
            left * alone @ second @ alone.T + self.p * mixed,
        )

    def second_moments(self) -> Matrix:
        """Return the map of second moments, symmetric (N', N') matrices: (cases, K, K)."""
        base = self.kernel
        alone, together = base.T @ self.alone @ base, base.T @ self.together @ base
        size = base.shape[1]
        mixed = np.einsum("ko,koab,kocd->kacbd", self.p * self.odds, together, together)
        if self.p < 1:
            mixed = mixed + (1 - self.p) * np.einsum("kab,kcd->kacbd", alone, alone)
        rows, columns = np.tril_indices(size)
        mixed = mixed[:, rows, columns]
        both = mixed[:, :, rows, columns] + mixed[:, :, columns, rows]
        return np.where(rows == columns, both / 2, both)

    def factor(self) -> float:
        """Return the spectral radius of the map of second moments in the worst case."""
        moments = self.second_moments()
        if not np.isfinite(moments).all():
            return np.inf
        return float(np.abs(np.linalg.eigvals(moments)).max())
