"""Views of some runs of large vectors, on which a round operates lazily and in place.

A round changes only part of every vector: a few of the runs, or a few entries. Copying the vectors
out, computing new ones and copying them back would take many passes over memory.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.fast.deferred import Deferred, Received
from certibit.solvers.fast.entries import Shifted

Vectors = NDArray[np.float64]

LARGE, ALL_LARGE = 1 << 14, 1 << 18
"""Numbers in an array (n, d, R) from which on some of its runs, or all, are lent."""


@dataclass(frozen=True, eq=False)
class Columns(Deferred):
    """The vectors c x_i + shared + added_i of some runs, (n, d, r), to be used like an array.

    Scaling by a number (or one per run) and adding vectors is lazy and gives another such object.
    Single entries are computed without the others.

    Parameters
    ----------
    x : (n, d, R)
        The vectors of all runs; they must not change before these are put back.
    runs : (r,) int
        Which runs, as positions in x.
    c : (r,)
        Factors.
    shared : (1, d, r), optional
        What is added for all clients.
    added : (n, d, r), optional
        What is added for each.
    """

    x: Vectors
    runs: NDArray[np.intp]
    c: Vectors
    shared: Vectors | None = None
    added: Vectors | Received | None = None
    dtype: Any = field(default=np.dtype(np.float64), init=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, features, runs: (n, d, r)."""
        n, d, _ = self.x.shape
        return n, d, self.runs.size

    @property
    def whole(self) -> "Vectors | Columns":
        """The array x where these are all its runs and nothing has been done to them."""
        plain = self.shared is None and self.added is None and not self._scale
        return self.x if plain and self.runs.size == self.x.shape[2] else self

    @property
    def _scale(self) -> bool:
        return bool((self.c != 1).any())

    def entries(self, indices: NDArray[np.int64]) -> Vectors:
        """Return the entries at features, (n, k, r), as ``take_along_axis`` does."""
        n, d, runs = self.x.shape
        places = (np.arange(n)[:, None, None] * d + indices) * runs + self.runs
        found = np.take(self.x, places) * self.c
        for term in (self.shared, self.added):
            if term is not None:
                found += np.take_along_axis(np.asarray(term), indices, axis=1)
        return found

    def put_back(self) -> None:
        """Write the vectors into x, in place."""
        from certibit.data.passes.column_pass import (  # noqa: PLC0415  (numba is slow to import)
            scale_and_shift,
        )

        if self._scale or self.shared is not None:
            shared = np.zeros((1, *self.shape[1:])) if self.shared is None else self.shared
            scale_and_shift(self.x, self.runs, self.c, np.ascontiguousarray(shared))
        if isinstance(self.added, Received):
            self.added.add_to(self.x, self.runs)
        elif self.added is not None:
            everyone = self.runs.size == self.x.shape[2]
            changed = self.x if everyone else self.x[:, :, self.runs]
            changed += self.added
            if not everyone:
                self.x[:, :, self.runs] = changed

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        everyone = self.runs.size == self.x.shape[2]
        value = self.x.copy() if everyone else np.take(self.x, self.runs, axis=2)
        if self._scale:
            value *= self.c
        for term in (self.shared, self.added):
            if term is not None:
                value += np.asarray(term)
        return value if dtype is None else value.astype(dtype, copy=False)

    def _combined(self, ufunc: Any, other: Any, leads: bool) -> "Columns | None":
        _, d, runs = self.shape
        if ufunc is np.multiply and np.shape(other) in ((), (1, 1, 1), (1, 1, runs)):
            return self._scaled(other)
        if ufunc not in (np.add, np.subtract) or np.shape(other) not in ((1, d, runs), self.shape):
            return None
        minus = ufunc is np.subtract
        if minus and leads:
            return self._plus(other * -1.0)
        return (self._scaled(-1.0) if minus else self)._plus(other)

    def _scaled(self, factor: Any) -> "Columns":
        shared, added = (None if x is None else x * factor for x in (self.shared, self.added))
        return replace(self, c=self.c * np.ravel(factor), shared=shared, added=added)

    def _plus(self, other: Any) -> "Columns":
        if isinstance(other, Shifted):
            return self._plus(other.shared)._plus(other.entries)
        if not isinstance(other, Received):
            other = np.asarray(other, dtype=np.float64)
        name = "shared" if other.shape[0] == 1 else "added"
        before = getattr(self, name)
        return replace(self, **{name: other if before is None else before + other})


def columns(x: Any, runs: NDArray[np.intp]) -> Columns | None:
    """Return a view of some runs of large vectors; None for small ones and for other arrays.

    Only numpy arrays of 64-bit floats are viewed.
    """
    if type(x) is not np.ndarray or len(x) == 1:
        return None
    if x.size < (ALL_LARGE if runs.size == x.shape[2] else LARGE):
        return None
    fits = x.dtype == np.float64 and x.flags.c_contiguous and x.flags.writeable
    return Columns(x, runs, np.ones(runs.size)) if fits else None
