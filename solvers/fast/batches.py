"""Mini-batches by compiled code."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from certibit.data.arrays import Array, is_numpy
from certibit.data.batch_rows import BatchRows, GatheredRows
from certibit.data.mini_batch import MiniBatch, SumOfRows
from certibit.data.passes.compilation import checked
from certibit.data.problems.rows import SparseRows
from certibit.solvers.fast.messages import pays


@dataclass(frozen=True)
class CompiledBatch(MiniBatch):
    """The same law: the same rows, bit for bit, and the same gradients to rounding."""

    def rows(self, problem: SumOfRows, drawn: Array) -> BatchRows:
        """Return the rows of a batch."""
        batch, (n, _, d) = super().rows(problem, drawn), problem.rows.shape
        if not (isinstance(batch, GatheredRows) and isinstance(batch.rows, SparseRows)):
            return batch
        values = batch.rows.stacked.data
        plain = is_numpy(values) and values.dtype == np.float64
        if not (plain and pays(2 * n * d * drawn.shape[2])):
            return batch
        return CompiledRows(batch.rows, batch.drawn, batch.multiples)


@dataclass(frozen=True, eq=False)
class CompiledRows(GatheredRows):
    """The drawn rows of every client in each run, sparse ones, which are read where they are."""

    def forward(self, x: Array) -> Array:
        """Return the products of the drawn rows, (n, d, R) or (1, d, R) to (n, b, R)."""
        (n, m, d), runs = self.shape, self.drawn.shape[2]
        x = checked("points", x, (n, d, runs), (1, d, runs))
        products, step = np.empty(self.drawn.shape), x[0].size if len(x) > 1 else 0
        _code().set_drawn_products(self._rows, m, self.drawn, x.reshape(-1), step, products)
        return products

    def backward(self, s: Array, a: float = 0.0, x: Array | None = None) -> Array:
        """A_i' (m_i/b) s_i + a x_i, A_i being the drawn rows: (n, b, R) to (n, d, R)."""
        n, m, d = self.shape
        s = checked("slopes", self.multiples * s, self.drawn.shape)
        sums = np.zeros((n, d, s.shape[2]))
        if x is not None:
            sums += a * x
        _code().add_drawn_rows(self._rows, m, self.drawn, s, sums[0].size, sums.reshape(-1))
        return sums

    @property
    def _rows(self) -> tuple[Array, Array, Array]:
        """Where each row begins, columns, values."""
        stacked: Any = self.rows
        return stacked.stacked.indptr, stacked.stacked.indices, stacked.stacked.data


def _code() -> Any:
    from certibit.data.passes import row_passes  # noqa: PLC0415  (numba is slow to import)

    return row_passes
