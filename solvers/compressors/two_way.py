"""Compression both ways: one compressor for the clients and one for the server."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Compressor, Identity


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
