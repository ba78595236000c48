"""Vectors with few entries, as they come out of a message, on which sums spend little."""

from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import numpy as namespace
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, NDArray


class Entries(NDArrayOperatorsMixin):
    """Vectors (n, d, R) with k entries each, to be used like an array of numpy.

    Scaling them, adding them to an array, taking them from one and summing them over the clients
    touches the entries only. For anything else the array is written out first.

    Parameters
    ----------
    indices : (n, k, R) int
        The features of the entries, distinct for every client and run.
    values : (n, k, R)
        The entries; all others are 0.
    d : int
        Number of features.
    """

    def __init__(self, indices: NDArray[np.int64], values: NDArray[Any], d: int) -> None:
        self.indices, self.values, self.d = indices, values, d

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, features, runs: (n, d, R)."""
        n, _, runs = self.values.shape
        return n, self.d, runs

    def total(self) -> NDArray[Any]:
        """Sum over the clients: (1, d, R)."""
        _, d, runs = self.shape
        places = (self.indices * runs + np.arange(runs)).reshape(-1)
        sums = np.bincount(places, self.values.reshape(-1), d * runs)
        return sums.reshape(1, d, runs).astype(self.values.dtype, copy=False)

    def masked(self, mask: NDArray[np.bool_]) -> "Entries":
        """Keep the entries of some clients, (n, 1, R) bool, and make the others 0."""
        return Entries(self.indices, np.where(mask, self.values, 0), self.d)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Positions of the entries in an array (n, d, R) that is read through."""
        return places(self.indices, self.d).reshape(-1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        written = np.zeros(self.shape, self.values.dtype)
        written.reshape(-1)[self._places] = self.values.reshape(-1)
        return written if dtype is None else written.astype(dtype, copy=False)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return namespace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and len(inputs) == 2 and not options:
            first, second = inputs
            if ufunc is np.multiply and first is self and _scales(second):
                return Entries(self.indices, self.values * second, self.d)
            if ufunc is np.multiply and second is self and _scales(first):
                return Entries(self.indices, first * self.values, self.d)
            if ufunc in (np.add, np.subtract) and second is self and self._fits(first):
                result = np.array(np.broadcast_to(first, self.shape), order="C")
                at = result.reshape(-1)
                at[self._places] = ufunc(at[self._places], self.values.reshape(-1))
                return result
        written = [np.asarray(x) if isinstance(x, Entries) else x for x in inputs]
        return getattr(ufunc, method)(*written, **options)

    def _fits(self, x: Any) -> bool:
        """Whether an array has the type of the entries and may be stretched to (n, d, R)."""
        n, d, runs = self.shape
        return (
            isinstance(x, np.ndarray)
            and x.dtype == self.values.dtype
            and x.shape in ((n, d, runs), (1, d, runs))
        )


def places(indices: NDArray[np.int64], d: int) -> NDArray[np.int64]:
    """Positions of features, (n, k, R), in an array (n, d, R) that is read through."""
    n, _, runs = indices.shape
    found: NDArray[np.int64] = (np.arange(n)[:, None, None] * d + indices) * runs
    found += np.arange(runs)
    return found


def _scales(x: ArrayLike) -> bool:
    """Whether multiplying by a number, or by one for every run, leaves entries where they are."""
    return np.ndim(x) == 0 or np.shape(x)[:2] == (1, 1)
