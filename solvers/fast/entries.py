"""Sparse vectors, as messages of few entries give them, with fast sums."""

import sys
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certibit.data.passes.compilation import is_kept
from certibit.solvers.fast.deferred import Deferred, Received
from certibit.solvers.registry import are_forced

_MANY, _OFTEN = 1 << 14, 20_000
_asked = count()


def is_worth_compiling(numbers: int, module: str) -> bool:
    """Whether compiled code for so many numbers saves more time than compiling it takes.

    For few numbers it does after many calls, or where the code of the module is only loaded by a
    process that has numba already. Since this depends on earlier calls, the compiled code must give
    the same numbers as plain code, bit for bit.
    """
    if numbers >= _MANY or are_forced():
        return True
    return ("numba" in sys.modules and is_kept(module)) or next(_asked) >= _OFTEN


class Entries(Received):
    """Vectors (n, d, R) with k entries each, used like a numpy array.

    Scaling, addition to an array, subtraction from one and sums over the clients touch the entries
    only. For every other operation the array is written out first.

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
        fits = self.values.dtype == np.float64 and self.indices.shape == self.values.shape
        if fits and is_worth_compiling(self.values.size, "column_pass"):
            from certibit.data.passes.column_pass import (  # noqa: PLC0415  (numba is slow to import)
                write_entries,
            )

            write_entries(*map(np.ascontiguousarray, (self.indices, self.values)), written)
        else:
            written.reshape(-1)[self._places] = self.values.reshape(-1)
        return written if dtype is None else written.astype(dtype, copy=False)

    def add_to(self, x: NDArray[Any], runs: NDArray[np.intp]) -> None:
        """Add the entries to these runs of an array (n, d, R'), C-contiguous, in place."""
        n, d, all_runs = x.shape
        there = (np.arange(n)[:, None, None] * d + self.indices) * all_runs + runs
        x.reshape(-1)[there.reshape(-1)] += self.values.reshape(-1)

    def _combined(self, ufunc: Any, other: Any, leads: bool) -> Any:
        if ufunc is np.multiply and _scales(other):
            return Entries(self.indices, self.values * other, self.d)
        if ufunc in (np.add, np.subtract) and not leads and self._fits(other):
            own = self if ufunc is np.add else self * -1.0
            sums = Shifted(other, own)
            return sums if len(other) == 1 else np.asarray(sums)
        return None

    def _fits(self, x: Any) -> bool:
        """Whether an array has the type of the entries and may be stretched to (n, d, R)."""
        n, d, runs = self.shape
        return (
            isinstance(x, np.ndarray)
            and x.dtype == self.values.dtype
            and x.shape in ((n, d, runs), (1, d, runs))
        )


class Shifted(Deferred):
    """A shared vector plus few entries of each client: (n, d, R), used like an array.

    Parameters
    ----------
    shared : (1, d, R)
        The shared vector.
    entries : Entries
        The sparse vectors that are added.
    """

    def __init__(self, shared: NDArray[Any], entries: Entries) -> None:
        self.shared, self.entries = shared, entries

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, features, runs: (n, d, R)."""
        return self.entries.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        written = np.array(np.broadcast_to(self.shared, self.shape), order="C")
        self.entries.add_to(written, np.arange(self.shape[2]))
        return written if dtype is None else written.astype(dtype, copy=False)

    def _combined(self, ufunc: Any, other: Any, leads: bool) -> Any:
        if ufunc is np.multiply and _scales(other):
            return Shifted(self.shared * other, self.entries * other)
        return None


def places(indices: NDArray[np.int64], d: int) -> NDArray[np.int64]:
    """Positions of features, (n, k, R), in an array (n, d, R) that is read through."""
    n, _, runs = indices.shape
    found: NDArray[np.int64] = (np.arange(n)[:, None, None] * d + indices) * runs
    found += np.arange(runs)
    return found


def _scales(x: ArrayLike) -> bool:
    """Whether multiplying by a number, or by one for every run, leaves entries where they are."""
    return np.ndim(x) == 0 or np.shape(x)[:2] == (1, 1)
