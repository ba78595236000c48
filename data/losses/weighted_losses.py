"""Sums of weighted losses of rows, as mini-batches and the constants of samples read them."""

from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from certibit.data.arrays import Array, array_namespace
from certibit.data.batch_rows import BatchRows
from certibit.data.losses.base import Loss


class WeightedLosses:
    """The part sum_s w_is phi(a_is' x; b_is) of the f_i of a problem, a frozen dataclass.

    Attributes
    ----------
    loss : Loss
        phi.
    rows : DenseRows or SparseRows
        The rows a_is of all clients, n blocks (m, d).
    targets, weights : arrays of shape (n, m, 1)
        The b_is and w_is; w_is = 0 for empty rows.
    """

    loss: Loss
    rows: Any
    targets: Array
    weights: Array

    @property
    def row_weights(self) -> Array:
        """The w_is, (n, m, 1); 0 for empty rows."""
        return self.weights

    @property
    def row_loss(self) -> Loss:
        """The loss phi of a row."""
        return self.loss

    def row_slopes(self, x: Array) -> Array:
        """w_is phi'(a_is' x; b_is) at points (n, d, R) or (1, d, R), as (n, m, R)."""
        return self.weights * self.loss.slope(self._predict(x), self.targets)

    @cached_property
    def row_counts(self) -> Array:
        """The m_i, (n, 1, 1)."""
        xp = array_namespace(self.weights)
        there = xp.astype(self.weights > 0, self.weights.dtype)
        return xp.sum(there, axis=1, keepdims=True)

    def of_batch(self, rows: BatchRows) -> Self:
        """Return the problem whose f_i are those of a mini-batch."""
        changes: Any = {"rows": rows, "targets": rows.of(self.targets)}
        problem: Any = self
        made: Self = replace(problem, **changes, weights=rows.of(self.weights))
        return made

    def _predict(self, x: Array) -> Array:
        return self.rows.forward(x)
