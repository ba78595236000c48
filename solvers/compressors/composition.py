"""Compressors made of compressors."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import feature_sum, squared_norm
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Biased, Compressor
from certibit.solvers.compressors.natural import power_of_two_variance, powers_near
from certibit.solvers.compressors.selection import RandK


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
class Scaled(Biased):
    """An unbiased compressor made contractive: C(x) / (1 + omega), alpha = 1 / (1 + omega).

    The messages are those of C; the receiver divides.
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
