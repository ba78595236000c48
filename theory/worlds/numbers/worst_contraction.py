"""The contractive compressor of a worst case, as a compressor that can be run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Biased

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WorstContraction(Biased):
    """The linear map C(x) = x + e <v, x>/|v|^2, which draws nothing: C(v) = v + e.

    Its error is at most |e|/|v| times |x|, so that alpha = 1 - |e|^2/|v|^2.

    Parameters
    ----------
    v, e : (d,)
        What is compressed in the worst case, and the error that it gets there.
    """

    v: Vector
    e: Vector

    @property
    def name(self) -> str:
        return "worst-contraction"

    def alpha(self, d: int) -> float:
        squared = float(self.v @ self.v)
        return 1 - float(self.e @ self.e) / squared if squared else 1.0

    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Float32(), d),))

    def uniforms(self, d: int) -> int:
        return 0

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        squared = float(self.v @ self.v) or 1.0
        along = np.einsum("d,ndr->nr", self.v, x)[:, None, :] / squared
        return (x + self.e[None, :, None] * along,)

    def vector(self, message: wire.Message, d: int) -> Array:
        return message[0]

    def variance(self, x: Array) -> Array:
        return np.asarray(np.sum((self.compress(x, x[:, :0, :]) - x) ** 2, axis=1))
