"""Many gradient steps of every client whose rows are many, dense and small enough for a cache."""

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from certibit.data.passes.fused import FusedGradients, Vectors

_LANES = 8
_FULL = 0.5
"""Share of the entries of dense rows, at least, that are not zero."""
_ROWS = 4
"""Rows for each feature from which on they are faster than recursions of the rows' products."""
_LARGEST = 1 << 14
"""Numbers in the rows of a client, which every step of every run reads twice."""


@dataclass(frozen=True, eq=False)
class DenseSteps:
    """The steps x_i <- a x_i + b u_i + c grad h_i(x_i), by compiled code, run by run.

    The rows of a client are the lanes of vector registers, so that no run waits for another.

    Parameters
    ----------
    columns : array of shape (n, d, lanes)
        A_i' of all clients, with zeros for rows that are not there.
    m : int
        Rows per client.
    code : module
        The compiled passes.
    """

    columns: Vectors
    m: int
    code: ModuleType

    @classmethod
    def of(cls, losses: FusedGradients) -> "DenseSteps | None":
        """Prepare the steps; None where rows are few or sparse, or too large for a cache."""
        (n, m, d), (starts, places, values) = losses.shape, losses.rows
        if m < _ROWS * d or values.size < _FULL * n * m * d or m * d > _LARGEST:
            return None
        from certibit.data.passes import local_passes  # noqa: PLC0415  (numba is slow to import)

        columns = np.zeros((n, d, -(-m // _LANES) * _LANES))
        client, row = np.divmod(np.repeat(np.arange(n * m), np.diff(starts)), m)
        columns[client, places, row] = values
        return cls(columns, m, local_passes)

    def pay(self, runs: int) -> bool:
        """Whether they are faster than single steps: always."""
        return True

    def after(
        self, steps: NDArray[np.int64], x: Vectors, u: Vectors, a: Vectors, b: Vectors, c: Vectors
    ) -> Vectors:
        """Return the x_i after so many steps in every run, (n, d, R).

        The array x is (n, d, R), and u is (n, d, R) or (1, d, R).
        """
        _, d, size = self.columns.shape
        others = *np.empty((2, size)), np.empty(_LANES)
        out, room = np.empty_like(x), (tuple(np.empty((2, d))), others)
        columns = self.columns.reshape(-1)
        self.code.dense_steps((0,) * _LANES, columns, x, u, a, b, -c / self.m, steps, room, out)
        return out
