"""Rows of clients that stay in a file, as the rows of a linear model."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import Array, add_scaled
from certibit.data.batch_rows import GatheredSparse
from certibit.data.mapped.mapped_rows import MappedRows
from certibit.data.own.description import state
from certibit.data.problems.rows import Rows, stored

_ENTRIES = 1 << 20
"""About so many entries of the data are worked on at once."""
_GRAM = 1000
"""Up to so many features the matrix of all rows is summed up; beyond, Lanczos."""


@dataclass(frozen=True, eq=False)
class RowsInFile:
    """The same products as of rows in memory, of which some clients' are read at a time.

    A mini-batch reads its own rows alone. The rows of few clients are read once.

    Parameters
    ----------
    file : MappedRows
        The rows of all clients.
    first, sizes : arrays of shape (k,)
        Where the rows of each of k clients begin, and how many they are.
    m : int
        The rows that clients are filled up to.
    """

    file: MappedRows
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    m: int

    __getstate__ = state

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, rows per client, features: (k, m, d)."""
        return len(self.first), self.m, self.file.d

    def part(self, clients: NDArray[np.int64]) -> Self:
        """Return the rows of some of the clients."""
        return type(self)(self.file, self.first[clients], self.sizes[clients], self.m)

    def read(self) -> Rows:
        """Return the rows in memory."""
        matrix, (k, m, d) = self.file.of(self.rows), self.shape
        begin = matrix.indptr[np.concatenate([[0], np.cumsum(self.is_filled)])]
        return stored(
            scipy.sparse.csr_array((matrix.data, matrix.indices, begin), shape=(k * m, d)), k
        )

    @property
    def is_filled(self) -> NDArray[np.bool_]:
        """Which of its m rows every client has, (k, m); they come first."""
        return np.arange(self.m) < self.sizes[:, None]

    @property
    def rows(self) -> NDArray[np.int64]:
        """The numbers of the rows in the file, one client after the other."""
        return (self.first[:, None] + np.arange(self.m))[self.is_filled]

    def gathering_pays(self, b: int, runs: int) -> bool:
        """Whether the drawn rows alone are read for b rows of each client, in so many runs."""
        return True

    def gathered(self, places: Array) -> GatheredSparse:
        """Return the rows at places (k, b, R) among all k m rows, those of each run."""
        client, row = np.divmod(places, self.m)
        matrix = self.file.of((self.first[client] + row).ravel())
        return GatheredSparse.of(matrix, np.arange(places.size).reshape(places.shape))

    def forward(self, x: Array) -> Array:
        """A_i x_i for all clients: (k, d, R), or (1, d, R) shared by all, to (k, m, R)."""
        products = np.empty((*self.shape[:2], x.shape[2]))
        for some, rows in self._blocks():
            products[some] = rows.forward(x if len(x) == 1 else x[some])
        return products

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' s_i + a x_i for all clients: (k, m, R) and a point, as for forward, to (k, d, R)."""
        products = np.empty((len(s), self.file.d, s.shape[2]))
        for some, rows in self._blocks():
            products[some] = rows.backward(s[some])
        return products if x is None else add_scaled(products, a, x)

    def gram(self, weights: Array) -> Array:
        """Sum over all rows of weight a a': weights (k, m, 1) to (d, d)."""
        return sum(rows.gram(weights[some]) for some, rows in self._blocks())

    @cached_property
    def squared_norms(self) -> Array:
        """The |a_is|^2, (k, m, 1)."""
        return np.concatenate([rows.squared_norms for _, rows in self._blocks()])

    def steepness(self, weights: NDArray[np.float64]) -> float:
        """Largest eigenvalue of the sum over all rows of weight a a'; weights are (k, m, 1)."""
        return largest_of_blocks(
            self.file.d, lambda: ((rows, weights[some]) for some, rows in self._blocks())
        )

    @cached_property
    def _width(self) -> int:
        """Clients of a block."""
        begin, last = self.first, self.first + self.sizes
        entries = int((self.file.indptr[last] - self.file.indptr[begin]).sum())
        return max(1, len(begin) * _ENTRIES // max(entries, 1))

    @cached_property
    def _all(self) -> Rows:
        return self.read()

    def _blocks(self) -> Iterator[tuple[slice, Rows]]:
        """Yield the rows of consecutive clients; those of few clients are kept."""
        k, width = len(self.first), self._width
        for first in range(0, k, width):
            some = slice(first, first + width)
            yield some, self._all if width >= k else self.part(np.arange(k)[some]).read()


def largest_of_blocks(
    d: int, blocks: Callable[[], Iterable[tuple[Rows, NDArray[np.float64]]]]
) -> float:
    """Largest eigenvalue of the sum of weight a a' over all rows of blocks, and their weights."""
    if d <= _GRAM:
        gram = sum(rows.gram(weights) for rows, weights in blocks())
        return float(np.linalg.eigvalsh(gram)[-1])

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        x, summed = v.reshape(1, -1, 1), np.zeros(d)
        for rows, weights in blocks():
            summed += rows.backward(weights * rows.forward(x)).sum(axis=0).ravel()
        return summed

    operator = scipy.sparse.linalg.LinearOperator((d, d), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(d)
    largest = scipy.sparse.linalg.eigsh(
        operator, k=1, which="LA", v0=start, return_eigenvectors=False
    )
    return float(largest[0])
