"""The rows of one mini-batch of every client and run, with the products of all rows.

Both classes stand for sum_s v_s grad h_is with v_s = m_i/b times how often row s is drawn. Which of
them is faster depends on b and m: a pass over all rows serves all runs, and drawn rows are copied.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from array_api_compat import device

from certibit.data.arrays import Array, add_scaled, array_namespace, is_numpy

Sparse = Any
"""A sparse matrix of scipy, or of cupy."""

GATHERED, LEAST = 6, 1 << 16
"""A drawn row costs about as much as this number of rows in a pass over all rows and runs, and such
a pass over fewer numbers of rows and runs costs less than what gathering costs beside its rows.

Measured for ten problems with 1, 5 and 16 runs: both ways take the same time where m/b is from 2 to
8 for dense rows, and from 4 to 16 for sparse ones; ``tests/benchmark`` has lines of single rows.
"""

_NUMBERS = 1 << 22
"""Numbers of drawn rows that are copied at once, at most."""


Blocks: TypeAlias = Any
"""The rows of all clients, n blocks (m, d), as :mod:`certibit.data.problems.rows` stores them."""


def gathering_pays(numbers: int, m: int, b: int, runs: int) -> bool:
    """Whether b of m rows are cheaper alone than with masks, for so many numbers of all rows."""
    return GATHERED * b <= m and numbers * runs >= LEAST


@dataclass(frozen=True, eq=False)
class MaskedRows:
    """All rows, where row s of client i counts v_is times in each run.

    Parameters
    ----------
    rows : Blocks
        All rows.
    multiples : array of shape (n, m, R)
        The v_is.
    """

    rows: Blocks
    multiples: Array

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, rows per client, features: (n, m, d)."""
        return self.rows.shape

    def of(self, values: Array) -> Array:
        """Return the values of the rows, (n, m, 1) to (n, m, 1)."""
        return values

    def forward(self, x: Array) -> Array:
        """A_i x_i for all clients: (n, d, R) or (1, d, R) to (n, m, R)."""
        return self.rows.forward(x)

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' (v_i s_i) + a x_i for all clients: (n, m, R) to (n, d, R)."""
        return self.rows.backward(self.multiples * s, a, x)


@dataclass(frozen=True, eq=False)
class GatheredRows:
    """The b drawn rows of every client in each run, and no others.

    Where the drawn rows are many numbers, some runs are worked on at a time.

    Parameters
    ----------
    rows : Blocks
        All rows.
    drawn : array of shape (n, b, R)
        The numbers of the drawn rows among those of their clients.
    multiples : array of shape (n, 1, 1)
        The m_i/b.
    """

    rows: Blocks
    drawn: Array
    multiples: Array

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, rows per client, features, of all rows: (n, m, d)."""
        return self.rows.shape

    def of(self, values: Array) -> Array:
        """Return the values of the drawn rows, (n, m, 1) to (n, b, R)."""
        xp = array_namespace(values)
        found = xp.take(xp.reshape(values, (-1,)), xp.reshape(self._places, (-1,)))
        return xp.reshape(found, self._places.shape)

    def forward(self, x: Array) -> Array:
        """Return the products of the drawn rows, (n, d, R) or (1, d, R) to (n, b, R)."""
        return self._by_runs(lambda rows, one: rows.forward(one), x)

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' (m_i/b) s_i + a x_i, A_i being the drawn rows: (n, b, R) to (n, d, R)."""
        sums = self._by_runs(lambda rows, one: rows.backward(one), self.multiples * s)
        return sums if x is None else add_scaled(sums, a, x)

    @cached_property
    def _places(self) -> Array:
        """The places of the drawn rows among all, (n, b, R)."""
        return _among_all(self.drawn, self.shape[1])

    @cached_property
    def _all(self) -> Blocks:
        return self.rows.gathered(self._places)

    def _by_runs(self, product: Callable[[Blocks, Array], Array], y: Array) -> Array:
        """Return products with vectors of every client and run, (n, ., R) or (1, ., R)."""
        (n, _, d), (_, b, R) = self.shape, self.drawn.shape
        width = max(1, _NUMBERS // (n * b * d))
        if width >= R:
            return product(self._all, y)
        found = []
        for first in range(0, R, width):
            runs = slice(first, min(first + width, R))
            found.append(product(self.rows.gathered(self._places[:, :, runs]), y[:, :, runs]))
        return array_namespace(y).concat(found, axis=2)


BatchRows = MaskedRows | GatheredRows


def rows_of_batch(rows: Blocks, drawn: Array, multiples: Array) -> BatchRows:
    """Return the drawn rows, (n, b, R) with the m_i/b (n, 1, 1), in the cheaper way."""
    xp, m, (n, b, R) = array_namespace(drawn), rows.shape[1], drawn.shape
    masks = hasattr(xp, "bincount")  # which is beyond the array API standard
    if rows.gathering_pays(b, R) or not masks:
        return GatheredRows(rows, drawn, multiples)
    places = _among_all(drawn, m) * R + xp.arange(R, device=device(drawn))
    counts = xp.bincount(xp.reshape(places, (-1,)), minlength=n * m * R)
    counts = xp.astype(xp.reshape(counts, (n, m, R)), multiples.dtype)
    return MaskedRows(rows, multiples * counts)


def _among_all(drawn: Array, m: int) -> Array:
    """Return the places of drawn rows among all n m, from their numbers at their clients."""
    first = array_namespace(drawn).arange(drawn.shape[0], device=device(drawn))
    return drawn + first[:, None, None] * m


@dataclass(frozen=True, eq=False)
class GatheredDense:
    """The gathered rows as a dense array.

    Parameters
    ----------
    stack : array of shape (n, R, b, d)
        The rows of every client and run.
    """

    stack: Array

    @classmethod
    def of(cls, matrix: Array, places: Array) -> Self:
        """Gather rows of a matrix (N, d) at places (n, b, R)."""
        xp = array_namespace(matrix)
        places = xp.permute_dims(places, (0, 2, 1))
        rows = xp.take(matrix, xp.reshape(places, (-1,)), axis=0)
        return cls(xp.reshape(rows, (*places.shape, -1)))

    def forward(self, x: Array) -> Array:
        """A_i x_i for all clients and runs: (n, d, R), or (1, d, R) shared by all, to (n, b, R)."""
        xp = array_namespace(x)
        products = self.stack @ xp.permute_dims(x, (0, 2, 1))[..., None]
        return xp.permute_dims(products[..., 0], (0, 2, 1))

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' s_i + a x_i for all clients and runs: (n, b, R) and a point to (n, d, R)."""
        xp = array_namespace(s)
        products = xp.permute_dims(s, (0, 2, 1))[:, :, None, :] @ self.stack
        sums = xp.permute_dims(products[:, :, 0, :], (0, 2, 1))
        return sums if x is None else add_scaled(sums, a, x)


@dataclass(frozen=True, eq=False)
class GatheredSparse:
    """The gathered rows as a sparse matrix.

    Parameters
    ----------
    matrix : sparse matrix of shape (n b R, n d R)
        The row of every client, number and run, whose entries stand at their client and run.
    shape : tuple of int
        Clients, rows per client, features, runs: (n, b, d, R).
    """

    matrix: Sparse
    shape: tuple[int, int, int, int]

    @classmethod
    def of(cls, matrix: Sparse, places: Array) -> Self:
        """Gather rows of a sparse matrix (N, d) at places (n, b, R)."""
        xp, (n, b, R), d = array_namespace(places), places.shape, matrix.shape[1]
        rows = matrix[places.reshape(-1)]
        first = xp.arange(n)[:, None, None] * (d * R) + xp.arange(R) + 0 * places
        first = first.reshape(-1)
        if is_numpy(places):
            first = np.repeat(first, np.diff(rows.indptr))
        else:  # cupy repeats nothing so many times as an array says
            first = first[rows.tocoo().row]
        columns = rows.indices * R + first
        matrix = type(matrix)((rows.data, columns, rows.indptr), shape=(n * b * R, n * d * R))
        return cls(matrix, (n, b, d, R))

    def forward(self, x: Array) -> Array:
        """A_i x_i for all clients and runs: (n, d, R), or (1, d, R) shared by all, to (n, b, R)."""
        n, b, d, R = self.shape
        x = array_namespace(x).broadcast_to(x, (n, d, R))
        return (self.matrix @ x.reshape(-1)).reshape(n, b, R)

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' s_i + a x_i for all clients and runs: (n, b, R) and a point to (n, d, R)."""
        n, _, d, R = self.shape
        sums = (self.matrix.T @ s.reshape(-1)).reshape(n, d, R)
        return sums if x is None else add_scaled(sums, a, x)
