"""Lazy vectors, which are evaluated when their numbers are needed."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from certibit.solvers.state import S


class Deferred(NDArrayOperatorsMixin):
    """Lazy vectors (n, d, R) that are used like a numpy array and evaluated by ``__array__``.

    :meth:`_combined` defines the operators that stay lazy; all others use the evaluated vectors.
    """

    def _combined(self, ufunc: Any, other: Any, leads: bool) -> Any:
        """Combine with what stands after it, if it leads, or before it; None if it must be written.

        ``ufunc`` is a function of numpy with two arguments.
        """
        return None

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def total(self) -> NDArray[Any]:
        """Sum over the clients: (1, d, R)."""
        return np.asarray(self).sum(axis=0, keepdims=True)

    def sum(self, axis: Any = None, out: None = None, **options: Any) -> Any:
        """Sum as :func:`numpy.sum` does, which calls this; that over the clients by ``total``."""
        if axis == 0 and options == {"keepdims": True}:
            return self.total()
        return np.asarray(self).sum(axis=axis, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and len(inputs) == 2 and not options:
            first, second = inputs
            for own, other in ((first, second), (second, first)):
                if isinstance(own, Deferred):
                    found = own._combined(ufunc, other, own is first)
                    if found is not None:
                        return found
        return getattr(ufunc, method)(*(written(x) for x in inputs), **options)


class Received(Deferred):
    """Received vectors of all clients in a compact form with fast sums."""

    @abstractmethod
    def total(self) -> NDArray[Any]:
        """Sum over the clients: (1, d, R)."""

    @abstractmethod
    def add_to(self, x: NDArray[Any], runs: NDArray[np.intp]) -> None:
        """Add it to these runs of an array (n, d, R'), C-contiguous, in place."""


def written(x: Any) -> Any:
    """Return an array itself, or the numbers of lazy vectors."""
    return np.asarray(x) if isinstance(x, Deferred) else x


def settled(state: S) -> S:
    """Evaluate the lazy fields of a state."""
    late = {name: written(x) for name, x in vars(state).items() if isinstance(x, Deferred)}
    return replace(state, **late) if late else state
