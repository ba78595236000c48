"""Vectors of powers of two, as natural compression sends them, in a quarter of the memory."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.fast.deferred import Received

Vectors = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Powers(Received):
    """The vectors c p_i, (n, d, R), of powers of two p_i, to be used like an array of numpy.

    Scaling them, summing them over the clients and adding them to vectors does not write them out.

    Parameters
    ----------
    exponents : (n, d, R) int16
        The first 12 bits of every p_i: its sign and its exponent.
    sums : (1, d, R)
        The p_i summed over the clients.
    c : float
        The factor.
    """

    exponents: NDArray[np.int16]
    sums: Vectors
    c: float = 1.0
    dtype: Any = field(default=np.dtype(np.float64), init=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, features, runs: (n, d, R)."""
        n, d, runs = self.exponents.shape
        return n, d, runs

    def total(self) -> Vectors:
        """Sum over the clients: (1, d, R)."""
        return self.c * self.sums

    def add_to(self, x: NDArray[Any], runs: NDArray[np.intp]) -> None:
        """Add them to these runs of an array (n, d, R'), in place."""
        if x.shape != self.shape:
            x[:, :, runs] += np.asarray(self)
            return
        from certibit.data.passes.natural_pass import (  # noqa: PLC0415  (slow to import)
            add_powers,
        )

        add_powers(x.reshape(-1), self.exponents.reshape(-1), self.c)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        value = (self.exponents.astype(np.int64) << 52).view(np.float64)
        value *= self.c
        return value if dtype is None else value.astype(dtype, copy=False)

    def _combined(self, ufunc: Any, other: Any, leads: bool) -> Any:
        if ufunc is np.multiply and isinstance(other, float | int):
            return replace(self, c=self.c * other)
        adds = ufunc is np.add or (ufunc is np.subtract and not leads)
        if adds and type(other) is np.ndarray and other.shape == self.shape:
            own, total = self if ufunc is np.add else self * -1.0, other.astype(np.float64, "C")
            own.add_to(total, np.arange(self.shape[2]))
            return total
        return None
