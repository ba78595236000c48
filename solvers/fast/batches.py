"""Mini-batches by compiled code."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, is_numpy
from certibit.data.batch_rows import BatchRows, GatheredRows
from certibit.data.mini_batch import MiniBatch, SumOfRows
from certibit.data.problems.rows import SparseRows
from certibit.solvers.fast.entries import is_worth_compiling

LARGE = 1 << 13
"""Numbers in an array (n, d, R) from which on drawn rows are read by compiled code."""
FEW = 16
"""Rows of a client per row that is drawn, at least, for which the smallest numbers are kept sorted.

Measured for eight problems: there numpy's partition takes 2 to 2.6 times as long, elsewhere less.
"""


@dataclass(frozen=True)
class CompiledBatch(MiniBatch):
    """The same law: the same rows, bit for bit, and the same gradients to rounding."""

    def drawn(self, problem: SumOfRows, uniforms: Array) -> Array:
        """Return the drawn rows by their numbers at their clients, (n, b, R)."""
        n, m, runs = uniforms.shape
        by_size = not self.replacement and m >= problem.rows.shape[1]  # a number for every row
        sorts = by_size and FEW * self.b <= m and is_numpy(uniforms)
        if not (sorts and is_worth_compiling(uniforms.size, "selection_pass")):
            return super().drawn(problem, uniforms)
        from certibit.data.passes import selection_pass  # noqa: PLC0415  (numba is slow to import)

        drawn = np.empty((n, self.b, runs), dtype=np.int64)
        counts = problem.row_counts.ravel().astype(np.int64)
        keys = np.ascontiguousarray(uniforms.transpose(2, 0, 1))
        selection_pass.smallest(keys, counts, drawn)
        return drawn

    def rows(self, problem: SumOfRows, drawn: Array) -> BatchRows:
        """Return the rows of a batch."""
        found, (n, _, d) = super().rows(problem, drawn), problem.rows.shape
        large = n * d * drawn.shape[2] >= LARGE
        if large and isinstance(found, GatheredRows) and _is_plain(found.rows):
            return CompiledRows(found.rows, found.drawn, found.multiples)
        return found


@dataclass(frozen=True, eq=False)
class CompiledRows(GatheredRows):
    """The drawn rows of every client in each run, sparse ones, which are read where they are."""

    def forward(self, x: Array) -> Array:
        """Return the products of the drawn rows, (n, d, R) or (1, d, R) to (n, b, R)."""
        x, products = np.ascontiguousarray(x), np.empty(self.drawn.shape)
        step = x[0].size if len(x) > 1 else 0
        _code().set_drawn_products(
            self._compressed, self.shape[1], self.drawn, x.reshape(-1), step, products
        )
        return products

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' (m_i/b) s_i + a x_i, A_i being the drawn rows: (n, b, R) to (n, d, R)."""
        n, m, d = self.shape
        sums = np.zeros((n, d, s.shape[2]))
        if x is not None:
            sums += a * np.asarray(x)
        s = np.ascontiguousarray(self.multiples * s)
        _code().add_drawn_rows(self._compressed, m, self.drawn, s, sums[0].size, sums.reshape(-1))
        return sums

    @property
    def _compressed(self) -> tuple[NDArray[Any], ...]:
        """Where each row begins, columns, values."""
        rows: Any = self.rows
        return rows.stacked.indptr, rows.stacked.indices, rows.stacked.data


def _is_plain(rows: Any) -> bool:
    """Whether rows are sparse ones of 64-bit floats on the host."""
    data: Any = rows.stacked.data if isinstance(rows, SparseRows) else None
    return is_numpy(data) and data.dtype == np.float64


def _code() -> Any:
    from certibit.data.passes import row_passes  # noqa: PLC0415

    return row_passes
