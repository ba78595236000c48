"""No compression: 32-bit floats."""

from dataclasses import dataclass
from functools import lru_cache

from certibit.data.arrays import Array, array_namespace
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Compressor


@dataclass(frozen=True)
class Identity(Compressor):
    """C(x) = x, omega = 0, 32 d bits."""

    @property
    def name(self) -> str:
        return "identity"

    def omega(self, d: int) -> float:
        return 0.0

    @lru_cache(maxsize=64)  # noqa: B019  (all are equal)
    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Float32(), d),))

    def uniforms(self, d: int) -> int:
        return 0

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        return (x,)

    def vector(self, message: wire.Message, d: int) -> Array:
        return message[0]

    def variance(self, x: Array) -> Array:
        return array_namespace(x).zeros_like(x[:, 0, :])
