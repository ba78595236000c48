"""The data of all clients as one operator: products with n blocks of m rows and d features.

Two ways to store the same numbers, with the same three products. Which one is faster depends on
the density, the shape and the machine; as sums are rounded in another order, :func:`stored` chooses
by the density alone, so that the same data are stored alike wherever and whenever they are loaded.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from array_api_compat import is_cupy_array
from numpy.typing import NDArray

from certibit.data.arrays import Array, add_scaled, array_namespace, fetched
from certibit.data.batch_rows import GatheredDense, GatheredSparse, Sparse, gathering_pays
from certibit.data.errors import Refusal
from certibit.data.files.own_data import Dataset
from certibit.data.memory import require_memory
from certibit.data.own.description import state

STORAGES = ("dense", "sparse")

_DENSE_BYTES = 1 << 30
"""A dense stack larger than this is not made unless it is asked for."""

_DENSE_SHARE = 0.15
"""The share of entries that are not 0 from which on a stack is dense.

Measured with five runs on one core of an AMD EPYC, for 9 shapes with n m d from 6e3 to 3e6: at this
share dense products took 0.6 to 1.3 times as long as sparse ones in 8 of them, at 1 they took 0.1
to 0.7 times as long in all, at 0.05 0.8 to 6 times in 8. The ninth, 10 clients of 3000 rows with
100 features, gains from about 0.7 on only.
"""

_LARGEST = 1e50
_DENSE_SIDE = 1000
"""Up to this size of the Gram matrix it is decomposed; beyond, Lanczos."""
_MANY = 1 << 16
"""Entries from which on the Gram matrix of dense rows is a dense product.

Measured on one core for 7 shapes: it took 0.03 to 0.05 of the time of the sparse one where all
entries were there, and 0.71 to 0.75 with 15 % of them.
"""


@dataclass(frozen=True, eq=False)
class DenseRows:
    """The stack (n, m, d) of the clients' matrices."""

    stack: Array

    __getstate__ = state  # pickled without what is computed from it

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, rows per client, features: (n, m, d)."""
        n, m, d = self.stack.shape
        return n, m, d

    def forward(self, x: Array) -> Array:
        """A_i x_i for all clients: (n, d, R), or (1, d, R) shared by all, to (n, m, R)."""
        n, m, _ = self.stack.shape
        if x.shape[0] == n:
            return self.stack @ x
        return array_namespace(x).reshape(self._matrix @ x[0, :, :], (n, m, x.shape[2]))

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' s_i + a x_i for all clients: (n, m, R) and a point, as for forward, to (n, d, R)."""
        products = self._transposed @ s
        return products if x is None else add_scaled(products, a, x)

    def gathering_pays(self, b: int, runs: int) -> bool:
        """Whether b rows of each client, others in each run, are cheaper alone than with masks."""
        n, m, d = self.shape
        return gathering_pays(n * m * d, m, b, runs)

    def gathered(self, places: Array) -> GatheredDense:
        """Return the rows at places (n, b, R) among all n m rows, those of each run."""
        return GatheredDense.of(self._matrix, places)

    def gram(self, weights: Array) -> Array:
        """Sum over all rows of weight a a': weights (n, m, 1) to (d, d)."""
        weighted = self._matrix * array_namespace(weights).reshape(weights, (-1, 1))
        return weighted.T @ self._matrix

    @cached_property
    def squared_norms(self) -> Array:
        """The |a_is|^2, (n, m, 1)."""
        return array_namespace(self.stack).sum(self.stack**2, axis=2, keepdims=True)

    def steepness(self, weights: NDArray[np.float64]) -> float:
        """Largest eigenvalue of the sum over all rows of weight a a'; weights are (n, m, 1)."""
        roots = np.sqrt(weights).reshape(-1, 1)
        return largest_eigenvalue(scipy.sparse.csr_array(roots * fetched(self._matrix)))

    @cached_property
    def _matrix(self) -> Array:
        """All rows, (n m, d), one client after the other."""
        n, m, d = self.stack.shape
        return array_namespace(self.stack).reshape(self.stack, (n * m, d))

    @cached_property
    def _transposed(self) -> Array:
        """The transposes of the clients' matrices, (n, d, m); cupy would copy a view each time."""
        transposed = array_namespace(self.stack).matrix_transpose(self.stack)
        return transposed.copy(order="C") if is_cupy_array(transposed) else transposed


@dataclass(frozen=True, eq=False)
class SparseRows:
    """The same as compressed sparse rows.

    Parameters
    ----------
    shape : tuple of int
        Clients, rows per client, features: (n, m, d).
    stacked : sparse matrix of shape (n m, d)
        All rows, one client after the other.
    blocks : sparse matrix of shape (n m, n d)
        The clients' matrices as the blocks of a diagonal.
    transposed : sparse matrix of shape (n d, n m)
        The transpose of ``blocks``, as compressed sparse columns: it has many empty rows.
    """

    shape: tuple[int, int, int]
    stacked: Sparse
    blocks: Sparse
    transposed: Sparse

    __getstate__ = state

    def forward(self, x: Array) -> Array:
        """A_i x_i for all clients: (n, d, R), or (1, d, R) shared by all, to (n, m, R)."""
        n, m, _ = self.shape
        xp = array_namespace(x)
        runs = x.shape[2]
        matrix = self.blocks if x.shape[0] == n else self.stacked
        return xp.reshape(matrix @ xp.reshape(x, (matrix.shape[1], runs)), (n, m, runs))

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' s_i + a x_i for all clients: (n, m, R) and a point, as for forward, to (n, d, R)."""
        n, m, d = self.shape
        xp = array_namespace(s)
        runs = s.shape[2]
        products = xp.reshape(self.transposed @ xp.reshape(s, (n * m, runs)), (n, d, runs))
        return products if x is None else add_scaled(products, a, x)

    def gathering_pays(self, b: int, runs: int) -> bool:
        """Whether b rows of each client, others in each run, are cheaper alone than with masks."""
        n, m, d = self.shape
        numbers = getattr(self.stacked, "nnz", n * m * d)  # else a dense array of another library
        return gathering_pays(numbers, m, b, runs)

    def gathered(self, places: Array) -> GatheredDense | GatheredSparse:
        """Return the rows at places (n, b, R) among all n m rows, those of each run."""
        if not hasattr(self.stacked, "indptr"):  # a dense array, of a library without sparse ones
            return GatheredDense.of(self.stacked, places)
        return GatheredSparse.of(self.stacked, places)

    def gram(self, weights: Array) -> Array:
        """Sum over all rows of weight a a': weights (n, m, 1) to (d, d)."""
        n, m, _ = self.shape
        weighted = scipy.sparse.diags_array(weights.reshape(n * m)) @ self.stacked
        return (self.stacked.T @ weighted).toarray()

    @cached_property
    def squared_norms(self) -> Array:
        """The |a_is|^2, (n, m, 1)."""
        n, m, _ = self.shape
        squares = self.stacked.multiply(self.stacked).sum(axis=1)
        return array_namespace(squares).reshape(squares, (n, m, 1))

    def steepness(self, weights: NDArray[np.float64]) -> float:
        """Largest eigenvalue of the sum over all rows of weight a a'; weights are (n, m, 1)."""
        roots = scipy.sparse.diags_array(np.sqrt(weights).ravel())
        return largest_eigenvalue(scipy.sparse.csr_array(roots @ self.stacked))


Rows = DenseRows | SparseRows


def dense(matrix: "scipy.sparse.csr_array", n: int) -> DenseRows:
    """Store the rows (n m, d) of all clients as a dense stack."""
    total, d = matrix.shape
    return DenseRows(matrix.toarray().reshape(n, total // n, d))


def sparse(matrix: "scipy.sparse.csr_array", n: int) -> SparseRows:
    """Store the rows (n m, d) of all clients as compressed sparse rows."""
    total, d = matrix.shape
    m = total // n
    client = np.repeat(np.arange(total) // m, np.diff(matrix.indptr))
    blocks = scipy.sparse.csr_array(
        (matrix.data, matrix.indices + client * d, matrix.indptr), shape=(total, n * d)
    )
    return SparseRows((n, m, d), matrix, blocks, blocks.T)


def stored(matrix: "scipy.sparse.csr_array", n: int, storage: str | None = None) -> Rows:
    """Store the rows (n m, d) of n clients, one client after the other.

    Parameters
    ----------
    matrix : sparse matrix of shape (n m, d)
    n : int
        Number of clients.
    storage : {"dense", "sparse"}, optional
        How; by default dense where at least 15 % of the entries are not 0. A stack of more than
        1 GiB is taken as too large to be dense.

    Raises
    ------
    Refusal
        If the storage is unknown, or the machine has not the memory for a dense stack.
    """
    if storage is None:
        total, d = matrix.shape
        fits = total * d * 8 <= _DENSE_BYTES
        filled = matrix.count_nonzero() >= _DENSE_SHARE * total * d
        storage = "dense" if fits and filled else "sparse"
    if storage not in STORAGES:
        raise Refusal(
            f"the storage {storage!r} is unknown; choose one of {', '.join(STORAGES)}"
            " or leave it out to have it chosen by the density"
        )
    if storage == "sparse":
        return sparse(matrix, n)
    total, d = matrix.shape
    require_memory(total * d, f"a dense stack of {total} rows with {d} features")
    return dense(matrix, n)


def require_possible(dataset: Dataset, n: int, outputs: int = 1) -> None:
    """Refuse data whose squares are no 64-bit numbers, or that need more memory than there is.

    The memory is that of two vectors of every client, or of what solves the problem, with so many
    predictions a row.

    Raises
    ------
    Refusal
        If the largest entry of the rows, or the largest target, is not from 1e-50 to 1e50; or if
        the machine has not the memory.
    """
    require_products(dataset.A.data, f"entry of the rows of {dataset.name}")
    require_products(dataset.b, f"target of {dataset.name}")
    d = outputs * dataset.A.shape[1]
    require_memory(max(2 * n, n + 10) * d, f"{dataset.name} with {d} features over {n} clients")


def require_products(values: NDArray[np.float64], what: str) -> None:
    """Refuse numbers of which the largest is neither 0 nor from 1e-50 to 1e50.

    Products of a few others are no 64-bit numbers, or have few digits.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest and not 1 / _LARGEST <= largest <= _LARGEST:
        raise Refusal(
            f"the largest {what} is {largest:.3g}, too far from 1 for products of 64-bit numbers; "
            f"scale to between {1 / _LARGEST:g} and {_LARGEST:g}"
        )


def largest_eigenvalue(matrix: "scipy.sparse.csr_array") -> float:
    """Largest eigenvalue of A'A for a sparse matrix A of shape (rows, d).

    The smaller one of A'A and AA' is decomposed where that is small, else the Lanczos method runs
    to machine precision from a fixed start.
    """
    if not matrix.nnz:
        return 0.0
    thin = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T.tocsr()
    side = thin.shape[0]
    if side <= _DENSE_SIDE:
        full = thin.nnz >= max(_MANY, _DENSE_SHARE * side * thin.shape[1])
        gram = thin.toarray() @ thin.toarray().T if full else (thin @ thin.T).toarray()
        return float(scipy.linalg.eigvalsh(gram, subset_by_index=[side - 1, side - 1])[0])
    operator = scipy.sparse.linalg.LinearOperator(
        (side, side), matvec=lambda v: thin @ (thin.T @ v), dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(side)
    return float(
        scipy.sparse.linalg.eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0]
    )
