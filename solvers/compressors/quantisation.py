"""Quantisation: compressors that send all d entries with few bits each."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.solvers.backend import feature_max, feature_sum, squared_norm
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Biased, Compressor, require_positive_integer


@dataclass(frozen=True)
class Dithering(Compressor):
    """Random dithering (QSGD): entries rounded at random to s levels of the Euclidean norm.

    With q_j = s |x_j| / |x|, entry j becomes sign(x_j) (|x| / s) l where l is floor(q_j) + 1 with
    probability q_j - floor(q_j) and floor(q_j) else. omega = min(d / (4 s^2), sqrt(d) / s), and
    sqrt(d) - 1 for s = 1. The message is the norm and the d signed levels,
    32 + d (1 + ceil(log2(s+1))) bits.

    Source: D. Alistarh et al., QSGD, NeurIPS 2017, with their d / s^2 sharpened to d / (4 s^2).
    """

    s: int

    def __post_init__(self) -> None:
        require_positive_integer("dithering", self.s, "s =")

    @property
    def name(self) -> str:
        return f"dithering:{self.s}"

    def omega(self, d: int) -> float:
        if self.s == 1:
            return sqrt(d) - 1
        return min(d / (4 * self.s**2), sqrt(d) / self.s)

    def hardest(self, d: int) -> NDArray[np.float64] | None:
        """Return equal entries, where all of them are halfway between two levels, or s = 1."""
        halfway = 2 * self.s / sqrt(d) % 2 == 1
        return np.ones(d) if halfway or self.s == 1 else None

    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Norm(), 1), (wire.Level(self.s), d)))

    def uniforms(self, d: int) -> int:
        return d

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        xp = array_namespace(x)
        norm, levels = self._levels(x)
        whole = xp.floor(levels)
        rounded = whole + xp.astype(uniforms < levels - whole, x.dtype)
        return norm, xp.copysign(xp.where(rounded <= self.s, rounded, float(self.s)), x)

    def vector(self, message: wire.Message, d: int) -> Array:
        norm, levels = message
        return norm / self.s * levels

    def variance(self, x: Array) -> Array:
        xp = array_namespace(x)
        norm, levels = self._levels(x)
        rest = levels - xp.floor(levels)
        return ((norm / self.s) ** 2)[:, 0, :] * feature_sum(rest * (1 - rest))[:, 0, :]

    def _levels(self, x: Array) -> tuple[Array, Array]:
        """Return |x|, (n, 1, R), and the q_j, (n, d, R); squares neither over- nor underflow."""
        xp = array_namespace(x)
        size = xp.abs(x)
        largest = feature_max(size)
        scaled = size / xp.where(largest > 0, largest, 1.0)
        norm = xp.sqrt(squared_norm(scaled))
        return largest * norm, scaled * (self.s / xp.where(norm > 0, norm, 1.0))


@dataclass(frozen=True)
class Ternary(Compressor):
    """Ternary quantisation: C(x)_j = |x|_inf sign(x_j) with probability |x_j| / |x|_inf, 0 else.

    omega = (sqrt(d) - 1) / 2, since |x|_inf |x|_1 <= (1 + sqrt(d)) / 2 |x|^2. The message is the
    largest absolute value and d levels -1, 0, 1, 32 + 2 d bits.

    Source: W. Wen et al., TernGrad, NeurIPS 2017.
    """

    @property
    def name(self) -> str:
        return "ternary"

    def omega(self, d: int) -> float:
        return (sqrt(d) - 1) / 2

    def hardest(self, d: int) -> NDArray[np.float64]:
        return np.append(np.ones(d - 1), 1 + sqrt(d))

    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Norm(), 1), (wire.Level(1), d)))

    def uniforms(self, d: int) -> int:
        return d

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        xp = array_namespace(x)
        size = xp.abs(x)
        largest = feature_max(size)
        return largest, xp.copysign(xp.astype(uniforms * largest < size, x.dtype), x)

    def vector(self, message: wire.Message, d: int) -> Array:
        largest, signs = message
        return largest * signs

    def variance(self, x: Array) -> Array:
        xp = array_namespace(x)
        size = xp.abs(x)
        return feature_sum(size * (feature_max(size) - size))[:, 0, :]


@dataclass(frozen=True)
class ScaledSign(Biased):
    """Scaled sign: C(x) = (|x|_1 / d) sign(x), where the sign of zero is that of the float zero.

    Biased, alpha = 1/d, the smallest |x|_1^2 / (d |x|^2). The message is the scale and d signs,
    32 + d bits.
    """

    @property
    def name(self) -> str:
        return "sign"

    def alpha(self, d: int) -> float:
        return 1 / d

    def hardest(self, d: int) -> NDArray[np.float64]:
        return np.eye(d)[0]

    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Norm(), 1), (wire.Sign(), d)))

    def uniforms(self, d: int) -> int:
        return 0

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        xp = array_namespace(x)
        return feature_sum(xp.abs(x)) / x.shape[1], xp.copysign(xp.ones_like(x), x)

    def vector(self, message: wire.Message, d: int) -> Array:
        scale, signs = message
        return scale * signs

    def variance(self, x: Array) -> Array:
        xp = array_namespace(x)
        size = xp.abs(x)
        return squared_norm(size - feature_sum(size) / x.shape[1])[:, 0, :]
