"""Gradients of the losses of all clients in one pass over data and vectors."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.passes.compilation import checked
from certibit.data.problems.rows import DenseRows, Rows

Vectors = NDArray[np.float64]

_IN_BLOCK = 512
"""Products of rows and runs that a block of clients has at least."""


@dataclass(frozen=True, eq=False)
class FusedGradients:
    """The gradients of h_i(x) = (1/m) sum_s log(1 + exp(-a_is' x)), by compiled code.

    Parameters
    ----------
    shape : tuple of int
        Clients, rows per client, features: (n, m, d).
    rows : arrays
        All rows: where each begins, columns, values.
    features : arrays
        The transposed rows of every client that are not empty: their places in (n, d), where those
        of each client begin among them, and the same three; their columns count through all rows.
    code : module
        The compiled passes.
    """

    shape: tuple[int, int, int]
    rows: tuple[NDArray[Any], ...]
    features: tuple[NDArray[Any], ...]
    code: ModuleType

    @classmethod
    def of(cls, matrix: "scipy.sparse.csr_array", n: int) -> "FusedGradients":
        """Prepare the rows (n m, d) of n clients, one client after the other; numba is loaded."""
        from certibit.data.passes import row_passes  # noqa: PLC0415  (numba is slow to import)

        matrix.check_format()  # an index outside would address other memory
        total, d = matrix.shape
        m = total // n
        row = np.repeat(np.arange(total), np.diff(matrix.indptr))
        place = row // m * d + matrix.indices
        order = np.argsort(place, kind="stable")
        places, starts = np.unique(place[order], return_index=True)
        clients = np.searchsorted(places, np.arange(n + 1) * d)
        return cls(
            (n, m, d),
            _compressed(matrix.indptr, matrix.indices, matrix.data),
            (
                places,
                clients,
                *_compressed(np.append(starts, order.size), row[order], matrix.data[order]),
            ),
            row_passes,
        )

    def at(self, x: Vectors, ridge: float = 0.0) -> Vectors:
        """Return grad h_i(x_i) + ridge x_i, (n, d, R), at points (n, d, R) or (1, d, R).

        Raises
        ------
        Refusal
            If the points are of another shape or type.
        """
        (n, m, d), runs = self.shape, x.shape[-1]
        x = checked("points", x, (n, d, runs), (1, d, runs))
        out = np.empty((n, d, runs))
        lanes = self.code.lanes_for(runs)
        block = min(n, -(-_IN_BLOCK // (m * len(lanes))))
        step = d * runs if len(x) == n else 0
        gradients = (
            lanes, self.rows, self.features, (n, m, d, runs), block, (x.reshape(-1), step), ridge,
        )  # fmt: skip
        self.code.combined(gradients, out.reshape(-1))
        return out


def fused_gradients(rows: Rows) -> FusedGradients:
    """Return the gradients of logistic losses of the rows, prepared once."""
    if rows not in _PREPARED:
        n, m, d = rows.shape
        matrix = rows.stack.reshape(n * m, d) if isinstance(rows, DenseRows) else rows.stacked
        _PREPARED[rows] = FusedGradients.of(scipy.sparse.csr_array(matrix), n)
    return _PREPARED[rows]


_PREPARED: WeakKeyDictionary[Rows, FusedGradients] = WeakKeyDictionary()


def _compressed(starts: Any, columns: Any, values: Any) -> tuple[NDArray[Any], ...]:
    """Return the arrays of compressed sparse rows in the types of the compiled code."""
    return (
        np.ascontiguousarray(starts, dtype=np.int64),
        np.ascontiguousarray(columns, dtype=np.uint32),
        np.ascontiguousarray(values, dtype=np.float64),
    )
