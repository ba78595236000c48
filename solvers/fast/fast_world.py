"""The registered extension: the world of runs on the host, with compiled gradients and messages."""

from dataclasses import dataclass, fields, replace
from typing import Any, TypeGuard

import numpy as np

from certibit.data.arrays import Array, is_numpy
from certibit.data.batch_rows import BatchRows, GatheredRows
from certibit.data.mini_batch import MiniBatch, SumOfRows
from certibit.data.passes.compilation import can_compile, checked
from certibit.data.passes.fused import fused_gradients
from certibit.data.problems.logistic import LogisticRegression
from certibit.data.problems.rows import DenseRows, SparseRows
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.fast.messages import pays, received
from certibit.solvers.registry import are_forced
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.tape import Tape

FEW = 5
"""Runs from which on a compiled pass, whose vector registers hold runs, is faster than products."""


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


@dataclass(frozen=True)
class FastChannel(Channel):
    """The network, with messages that are compressed and received by compiled code."""

    def _received(self, v: Array, compressor: Compressor, uniforms: Array) -> Array:
        if self.wire:
            return super()._received(v, compressor, uniforms)
        return received(compressor, v, uniforms)


@dataclass(frozen=True)
class FastOracle(Oracle):
    """The oracle, with gradients of large logistic regression in one compiled pass."""

    def _evaluated(self, x: Array) -> Array:
        problem, runs = self.problem, x.shape[2]
        large = pays(self.n * self.d * runs) and (runs >= FEW or are_forced())
        if large and is_numpy(x) and x.dtype == np.float64 and _has_a_pass(problem):
            return fused_gradients(problem.rows).at(x, problem.ridge_f)
        return problem.grad(x)


def world(channel: Channel, oracle: Oracle) -> tuple[FastChannel, FastOracle] | None:
    """Return the same world on compiled code; None on a device, and without numba."""
    if not (can_compile() and is_numpy(channel.template)):
        return None
    parts = {field.name: getattr(oracle, field.name) for field in fields(Oracle)}
    return (
        FastChannel(**{field.name: getattr(channel, field.name) for field in fields(Channel)}),
        FastOracle(**(parts | {"tape": oracle.tape and _compiled(oracle.tape)})),
    )


def _has_a_pass(problem: Any) -> TypeGuard[LogisticRegression]:
    """Whether gradients are those of logistic regression, and not of a subclass of a user."""
    return type(problem) is LogisticRegression and type(problem.rows) in (DenseRows, SparseRows)


def _compiled(tape: Tape) -> Tape:
    """Return a tape with its law by compiled code, where there is such code."""
    law = tape.noise
    if type(law) is not MiniBatch:
        return tape
    return replace(tape, noise=CompiledBatch(law.b, law.replacement))
