"""The registered extension: the world of runs on the host, with compiled gradients and messages."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from types import ModuleType
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import Array, is_numpy
from certibit.data.batch_rows import BatchRows, GatheredRows
from certibit.data.errors import Refusal
from certibit.data.mini_batch import MiniBatch, SumOfRows
from certibit.data.passes.compilation import can_compile, checked
from certibit.data.problems.logistic import LogisticRegression
from certibit.data.problems.rows import DenseRows, Rows, SparseRows
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import Scaled, upward
from certibit.solvers.compressors.natural import Natural, multipliers
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.registry import are_forced
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.oracle import Oracle, Tape

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
            _code(),
        )

    def at(self, x: Array, ridge: float = 0.0) -> Array:
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


LARGE = 1 << 14
"""Numbers in an array (n, d, R) from which on compiled code is faster than numpy."""

Vectors = NDArray[np.float64]


def pays(numbers: int) -> bool:
    """Whether compiled code is faster for so many numbers, or is asked for."""
    return numbers >= LARGE or are_forced()


def received(sent: Compressor, x: Any, uniforms: Vectors) -> Any:
    """Return C(x) of every client and run, (n, d, R).

    Parameters
    ----------
    sent : Compressor
        C. A subclass of the project's compressors does what it defines.
    x : (n, d, R)
        The vectors.
    uniforms : (n, q, R), or (1, q, R)
        The random numbers of the messages.

    Raises
    ------
    Refusal
        If they are not as many numbers of [0, 1) as a message takes.
    """
    sent = upward(sent)
    fits = is_numpy(x) and x.dtype == np.float64 and x.ndim == 3 and pays(x.size)
    way = _WAYS.get(type(sent)) if fits else None
    return sent.compress(x, uniforms) if way is None else way(sent, x, uniforms)


def _natural(sent: Natural, x: Vectors, uniforms: Vectors) -> Vectors:
    numbers = _stretched(uniforms, x, (sent.uniforms(x.shape[1]), x.shape[1]))
    out = np.array(x, order="C")
    _code().powers_of_two(out, numbers, multipliers(np, "cpu", _code().AT_ONCE + 1))
    return out


def _rand_k(sent: RandK, x: Vectors, uniforms: Vectors) -> Vectors:
    sent.check(x.shape[1])
    numbers, out = _stretched(uniforms, x, (sent.k,)), np.zeros(x.shape)
    x = checked("vectors", x, out.shape)
    if not _code().keep_entries(x, numbers, x.shape[1] / sent.k, out):
        raise Refusal("a uniform number of a compressor is not in [0, 1); draw all of them there")
    return out


def _stretched(uniforms: Vectors, x: Vectors, counts: tuple[int, ...]) -> Vectors:
    """Return uniforms (n, q, R) for vectors (n, d, R), of clients or runs the same ones."""
    n, _, runs = x.shape
    shapes = [(many, q, each) for q in counts for many in (n, 1) for each in (runs, 1)]
    count = checked("uniforms", uniforms, *dict.fromkeys(shapes)).shape[1]
    return np.ascontiguousarray(np.broadcast_to(uniforms, (n, count, runs)))


_WAYS: dict[type[Compressor], Callable[[Any, Any, Any], Any]] = {
    Natural: _natural,
    RandK: _rand_k,
    Scaled: lambda sent, x, uniforms: received(sent.inner, x, uniforms) * sent.alpha(x.shape[1]),
}
"""How messages of each class are received."""


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
class _FastChannel(Channel):
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


def world(channel: Channel, oracle: Oracle) -> tuple[_FastChannel, FastOracle] | None:
    """Return the same world on compiled code; None on a device, and without numba."""
    if not (can_compile() and is_numpy(channel.template)):
        return None
    parts = {field.name: getattr(oracle, field.name) for field in fields(Oracle)}
    return (
        _FastChannel(**{field.name: getattr(channel, field.name) for field in fields(Channel)}),
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
