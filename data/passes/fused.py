"""Gradients of the losses of all clients in one pass over data and vectors."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.problems.rows import DenseRows, Rows

Vectors = NDArray[np.float64]

_IN_BLOCK = 512
"""Products of rows and runs that a block of clients has at least."""


@dataclass(frozen=True, eq=False)
class FusedGradients:
    """The gradients of h_i(x) = (1/m) sum_s log(1 + exp(-a_is' x)), by compiled code.

    Vectors are arrays of numpy, (n, d, R), C-contiguous, of 64-bit floats.

    Parameters
    ----------
    shape : tuple of int
        Clients, rows per client, features: (n, m, d).
    rows : arrays
        All rows: where each begins, columns, values.
    columns : arrays
        All rows transposed, the same three.
    features : arrays
        The transposed rows of every client that are not empty: their places in (n, d), where those
        of each client begin among them, and the same three; their columns count through all rows.
    code : module
        The compiled passes.
    """

    shape: tuple[int, int, int]
    rows: tuple[NDArray[Any], ...]
    columns: tuple[NDArray[Any], ...]
    features: tuple[NDArray[Any], ...]
    code: ModuleType

    @classmethod
    def of(cls, matrix: "scipy.sparse.csr_array", n: int) -> "FusedGradients":
        """Prepare the rows (n m, d) of n clients, one client after the other; numba is loaded."""
        from certibit.data.passes import row_passes  # noqa: PLC0415  (numba is slow to import)

        total, d = matrix.shape
        m = total // n
        row = np.repeat(np.arange(total), np.diff(matrix.indptr))
        place = row // m * d + matrix.indices
        order = np.argsort(place, kind="stable")
        places, starts = np.unique(place[order], return_index=True)
        clients = np.searchsorted(places, np.arange(n + 1) * d)
        transposed = scipy.sparse.csr_array(matrix.T)
        return cls(
            (n, m, d),
            _compressed(matrix.indptr, matrix.indices, matrix.data),
            _compressed(transposed.indptr, transposed.indices, transposed.data),
            (
                places,
                clients,
                *_compressed(np.append(starts, order.size), row[order], matrix.data[order]),
            ),
            row_passes,
        )

    def combination(
        self, x: Vectors, scale: float, a: float, u: Vectors | None = None, b: float = 0.0
    ) -> Vectors:
        """Return scale grad h_i(x_i) + a x_i + b u_i, (n, d, R).

        The points x and the array u are (n, d, R) or (1, d, R).
        """
        (n, m, d), runs = self.shape, x.shape[2]
        out, lanes = np.empty((n, d, runs)), self.code.lanes_for(runs)
        block = min(n, -(-_IN_BLOCK // (m * len(lanes))))
        gradients = (
            lanes, self.rows, self.features, (n, m, d, runs), block, -scale / m,
            (*self.read(x), a), (*self.read(x if u is None else u), b),
        )  # fmt: skip
        self.code.combined(gradients, out.reshape(-1))
        return out

    def entries(
        self, indices: NDArray[np.int64],
        x: Vectors, scale: float, a: float, u: Vectors | None = None, b: float = 0.0,
    ) -> Vectors:  # fmt: skip
        """Return entries of the combination, at features: (n, k, R)."""
        out = np.empty(indices.shape)
        self.code.chosen_entries(
            self.features, self._slopes(x), scale,
            (*self.read(x), a), (*self.read(x if u is None else u), b),
            self.shape[2], indices, out,
        )  # fmt: skip
        return out

    def total(self, x: Vectors) -> Vectors:
        """Sum of all grad h_i(x_i): (1, d, R)."""
        d, runs = x.shape[1:]
        slopes, out = self._slopes(x).reshape(-1), np.empty(d * runs)
        lanes = self.code.lanes_for(runs)
        self.code.set_products(lanes, self.columns, slopes, 0, 1, runs, out)
        return out.reshape(1, d, runs)

    def _slopes(self, x: Vectors) -> Vectors:
        """-(1/m) / (1 + exp(a' x_i)) of all rows: (n m, R)."""
        (n, m, _), runs = self.shape, x.shape[2]
        z, lanes = np.empty(n * m * runs), self.code.lanes_for(runs)
        self.code.set_products(lanes, self.rows, *self.read(x), m, runs, z)
        self.code.slopes(z, np.empty_like(z), -1.0 / m)
        return z.reshape(n * m, runs)

    def read(self, x: Vectors) -> tuple[Vectors, int]:
        """Return the flat array of the vectors and the distance from one client to the next."""
        n, _, _ = self.shape
        return x.reshape(-1), x[0].size if len(x) == n else 0


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
