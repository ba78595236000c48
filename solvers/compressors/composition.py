"""Compressors made of compressors: of parts of a vector, one after another, both ways."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.noise import subsets
from certibit.solvers.backend import feature_sum, gather, squared_norm
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Biased, Compressor, Identity, require_positive_integer
from certibit.solvers.compressors.natural import power_of_two_variance, powers_near
from certibit.solvers.compressors.selection import RandK, TopK


@dataclass(frozen=True)
class RandKNatural(Compressor):
    """Random sparsification of k entries, each sent by natural compression.

    Natural compression commutes with powers of two only, so it acts on the raw entries and the
    receiver multiplies by d/k. omega = 9 d / (8 k) - 1; 9 k + k ceil(log2 d) bits.
    """

    k: int

    def __post_init__(self) -> None:
        RandK(self.k)

    @cached_property
    def _rand_k(self) -> RandK:
        return RandK(self.k)

    @property
    def name(self) -> str:
        return f"rand-k:{self.k}+natural"

    def check(self, d: int) -> None:
        self._rand_k.check(d)

    def omega(self, d: int) -> float:
        self.check(d)
        return 9 * d / (8 * self.k) - 1

    def hardest(self, d: int) -> NDArray[np.float64]:
        return np.full(d, 4 / 3)

    def layout(self, d: int) -> wire.Layout:
        self.check(d)
        return wire.Layout(((wire.Index(d), self.k), (wire.PowersOfTwo(), self.k)))

    def uniforms(self, d: int) -> int:
        return 2 * self.k

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        indices, values = self._rand_k.message(x, uniforms[:, : self.k, :])
        return indices, powers_near(values, uniforms[:, self.k :, :])

    def vector(self, message: wire.Message, d: int) -> Array:
        return self._rand_k.vector(message, d)

    def variance(self, x: Array) -> Array:
        natural = feature_sum(power_of_two_variance(x))[:, 0, :]
        return self._rand_k.variance(x) + x.shape[1] / self.k * natural


@dataclass(frozen=True)
class RandKOfTopK(Biased):
    """Random sparsification of the K largest entries: C(x) = rand-k(top-K(x)), K >= k.

    The bias is sqrt(1 - K/d), the relative variance K/k - 1; alpha = (2 - K/k) K/d if K < 2 k, and
    with more the error may be as large as x. The message is k indices and entries, as that of
    top-k; the receiver multiplies by K/k. Source: comp-(k, K) of Condat, Yi, Richtarik,
    arXiv:2205.04180.
    """

    inner: TopK
    k: int

    def __post_init__(self) -> None:
        if not isinstance(self.inner, TopK):
            raise Refusal(f"rand-k:{self.k} draws of the entries of top-k, not {self.inner.name!r}")
        RandK(self.k).check(self.inner.k)

    @property
    def name(self) -> str:
        return f"rand-k:{self.k}({self.inner.name})"

    @property
    def _share(self) -> float:
        return self.inner.k / self.k

    def check(self, d: int) -> None:
        self.inner.check(d)

    def alpha(self, d: int) -> float:
        if self._share >= 2:
            raise Refusal(
                f"the compressor {self.name!r} keeps less than half of its entries and is no "
                "contraction; keep more, or take a method for a bias and a variance, such as ef-bv"
            )
        return (2 - self._share) * self.inner.alpha(d)

    def bias(self, d: int) -> float:
        return self.inner.bias(d)

    def relative_variance(self, d: int) -> float:
        return self._share - 1

    def hardest(self, d: int) -> NDArray[np.float64]:
        return self.inner.hardest(d)

    def layout(self, d: int) -> wire.Layout:
        self.check(d)
        return TopK(self.k).layout(d)

    def uniforms(self, d: int) -> int:
        return self.k if self.k < self.inner.k else 0

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        indices, values = self.inner.message(x, uniforms)
        if self.k == self.inner.k:
            return indices, values
        drawn = subsets(uniforms, self.inner.k)
        return gather(indices, drawn), gather(values, drawn)

    def vector(self, message: wire.Message, d: int) -> Array:
        return self.inner.vector(message, d) * self._share

    def mean(self, x: Array) -> Array:
        return self.inner.mean(x)

    def variance(self, x: Array) -> Array:
        kept = squared_norm(self.mean(x))[:, 0, :]
        return self.inner.variance(x) + (self._share - 1) * kept


@dataclass(frozen=True)
class Scaled(Biased):
    """An unbiased compressor made contractive: C(x) / (1 + omega), alpha = 1 / (1 + omega).

    Its bias is omega/(1 + omega), its relative variance omega/(1 + omega)^2. The messages are those
    of C; the receiver divides.
    """

    inner: Compressor

    def __post_init__(self) -> None:
        if not self.inner.unbiased:
            raise Refusal(
                f"scaled() takes an unbiased compressor and {self.inner.name!r} is biased; "
                f"use {self.inner.name!r} itself, it is contractive already"
            )

    @property
    def name(self) -> str:
        return f"scaled({self.inner.name})"

    @property
    def shared(self) -> bool:
        return self.inner.shared

    def check(self, d: int) -> None:
        self.inner.check(d)

    def alpha(self, d: int) -> float:
        return 1 / (1 + self.inner.omega(d))

    def bias(self, d: int) -> float:
        return 1 - self.alpha(d)

    def relative_variance(self, d: int) -> float:
        return self.alpha(d) ** 2 * self.inner.omega(d)

    def hardest(self, d: int) -> NDArray[np.float64] | None:
        return self.inner.hardest(d)

    def layout(self, d: int) -> wire.Layout:
        return self.inner.layout(d)

    def uniforms(self, d: int) -> int:
        return self.inner.uniforms(d)

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        return self.inner.message(x, uniforms)

    def vector(self, message: wire.Message, d: int) -> Array:
        return self.inner.vector(message, d) * self.alpha(d)

    def mean(self, x: Array) -> Array:
        return self.alpha(x.shape[1]) * x

    def variance(self, x: Array) -> Array:
        alpha = self.alpha(x.shape[1])
        return alpha**2 * self.inner.variance(x) + (1 - alpha) ** 2 * squared_norm(x)[:, 0, :]


@dataclass(frozen=True)
class Chunked(Biased):
    """A compressor applied to every chunk of ``size`` entries by itself.

    The last chunk is filled with zeros. alpha is that of the inner compressor for ``size`` entries,
    and the message has its fields once for each chunk: ceil(d/size) times its bits.

    Raises
    ------
    Refusal
        If the inner compressor is unbiased or draws random numbers.
    """

    inner: Compressor
    size: int

    def __post_init__(self) -> None:
        if self.inner.unbiased or self.inner.uniforms(1 << 20):
            raise Refusal(
                f"{self.inner.name!r} is no biased compressor without random numbers; give one "
                "such as top-k:4"
            )
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

    def uniforms(self, d: int) -> int:
        return 0

    def variance(self, x: Array) -> Array:
        return squared_norm(self.mean(x) - x)[:, 0, :]


@dataclass(frozen=True)
class TwoWay(Compressor):
    """The compressor ``up`` of every client, with the compressor ``down`` of the server.

    All constants and messages are those of ``up``.
    """

    up: Compressor
    down: Compressor

    def __post_init__(self) -> None:
        for inner in (self.up, self.down):
            if isinstance(inner, TwoWay):
                raise Refusal(f"{inner.name} goes both ways already; give a compressor for one way")

    @property
    def unbiased(self) -> bool:  # type: ignore[override]  # known once it is made
        """Whether the compressor of the clients is."""
        return self.up.unbiased

    @property
    def name(self) -> str:
        return f"two-way({self.up.name};{self.down.name})"

    @property
    def shared(self) -> bool:
        return self.up.shared

    def check(self, d: int) -> None:
        self.up.check(d)
        self.down.check(d)

    def omega(self, d: int) -> float:
        return self.up.omega(d)

    def omega_av(self, d: int, n: int) -> float:
        return self.up.omega_av(d, n)

    def alpha(self, d: int) -> float:
        return self.up.alpha(d)

    def bias(self, d: int) -> float:
        return self.up.bias(d)

    def relative_variance(self, d: int) -> float:
        return self.up.relative_variance(d)

    def hardest(self, d: int) -> NDArray[np.float64] | None:
        return self.up.hardest(d)

    def layout(self, d: int) -> wire.Layout:
        return self.up.layout(d)

    def uniforms(self, d: int) -> int:
        return self.up.uniforms(d)

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        return self.up.message(x, uniforms)

    def vector(self, message: wire.Message, d: int) -> Array:
        return self.up.vector(message, d)

    def mean(self, x: Array) -> Array:
        return self.up.mean(x)

    def variance(self, x: Array) -> Array:
        return self.up.variance(x)


def upward(compressor: Compressor) -> Compressor:
    """Return the compressor of the clients."""
    return compressor.up if isinstance(compressor, TwoWay) else compressor


def downward(compressor: Compressor) -> Compressor:
    """Return the compressor of the server: the identity, unless one is given."""
    return compressor.down if isinstance(compressor, TwoWay) else Identity()
