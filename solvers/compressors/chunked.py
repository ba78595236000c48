"""Compressors of parts of a vector, and of its cosine coefficients: for networks."""

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.solvers.backend import squared_norm
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Biased, Compressor, require_positive_integer


@dataclass(frozen=True)
class _OfAnotherVector(Biased):
    """Base of compressors that apply another one, which draws nothing, to another vector.

    Raises
    ------
    Refusal
        If the inner compressor is unbiased or draws random numbers.
    """

    inner: Compressor

    def __post_init__(self) -> None:
        if self.inner.unbiased or self.inner.uniforms(1 << 20):
            raise Refusal(
                f"{self.inner.name!r} is no biased compressor without random numbers; give one "
                "such as top-k:4"
            )

    def uniforms(self, d: int) -> int:
        return 0

    def variance(self, x: Array) -> Array:
        return squared_norm(self.mean(x) - x)[:, 0, :]


@dataclass(frozen=True)
class Chunked(_OfAnotherVector):
    """A compressor applied to every chunk of ``size`` entries by itself.

    The last chunk is filled with zeros. alpha is that of the inner compressor for ``size`` entries,
    and the message has its fields once for each chunk: ceil(d/size) times its bits.
    """

    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive_integer("chunked", self.size, "chunks of")

    @property
    def name(self) -> str:
        return f"chunked:{self.size}({self.inner.name})"

    def check(self, d: int) -> None:
        self.inner.check(self.size)

    def alpha(self, d: int) -> float:
        return self.inner.alpha(self.size)

    def hardest(self, d: int) -> NDArray[np.float64] | None:
        part = self.inner.hardest(self.size)
        return None if part is None or d % self.size else np.tile(part, d // self.size)

    def layout(self, d: int) -> wire.Layout:
        chunks = self._chunks(d)
        fields = self.inner.layout(self.size).fields
        return wire.Layout(tuple((field, chunks * count) for field, count in fields), chunks)

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        xp = array_namespace(x)
        n, d, runs = x.shape
        rest = self._chunks(d) * self.size - d
        if rest:
            zeros = 0 * x[:, -1:, :]  # NaN where a run has diverged
            x = xp.concat((x, xp.broadcast_to(zeros, (n, rest, runs))), axis=1)
        x = xp.reshape(x, (-1, self.size, runs))
        sent = self.inner.message(x, x[:, :0, :])
        return tuple(xp.reshape(part, (n, -1, runs)) for part in sent)

    def vector(self, message: wire.Message, d: int) -> Array:
        n, _, runs = message[0].shape
        xp, chunks = array_namespace(message[0]), self._chunks(d)
        parts = tuple(xp.reshape(x, (n * chunks, x.shape[1] // chunks, runs)) for x in message)
        return xp.reshape(self.inner.vector(parts, self.size), (n, -1, runs))[:, :d, :]

    def _chunks(self, d: int) -> int:
        return -(-d // self.size)


@dataclass(frozen=True)
class Cosine(_OfAnotherVector):
    """A compressor applied to the discrete cosine transform: C(x) = T' inner(T x).

    T is the orthonormal DCT-II of d entries, a matrix (d, d): use it in chunks. alpha and the
    message are those of the inner compressor.
    """

    @property
    def name(self) -> str:
        return f"dct({self.inner.name})"

    def check(self, d: int) -> None:
        self.inner.check(d)

    def alpha(self, d: int) -> float:
        return self.inner.alpha(d)

    def hardest(self, d: int) -> NDArray[np.float64] | None:
        coefficients = self.inner.hardest(d)
        return None if coefficients is None else _cosines(np, "cpu", d).T @ coefficients

    def layout(self, d: int) -> wire.Layout:
        return self.inner.layout(d)

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        return self.inner.message(_transform(x) @ x, uniforms)

    def vector(self, message: wire.Message, d: int) -> Array:
        coefficients = self.inner.vector(message, d)
        return _transform(coefficients).T @ coefficients


def _transform(x: Array) -> Array:
    """Return the matrix of the transform for vectors (n, d, R), in their library and type."""
    xp = array_namespace(x)
    return xp.astype(_cosines(xp, device(x), x.shape[1]), x.dtype, copy=False)


@cache
def _cosines(xp: ModuleType, there: Any, d: int) -> Array:
    row, column = np.arange(d)[:, None], np.arange(d)
    T = np.sqrt(2 / d) * np.cos(np.pi * row * (2 * column + 1) / (2 * d))
    T[0] = np.sqrt(1 / d)
    return xp.asarray(T, device=there)
