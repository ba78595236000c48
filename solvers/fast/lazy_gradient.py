"""Lazy gradients, which are evaluated in one pass when their numbers are needed."""

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from certibit.data.passes.fused import FusedGradients, fused_gradients
from certibit.data.problems.logistic import LogisticRegression
from certibit.solvers.fast.columns import Columns
from certibit.solvers.fast.deferred import Deferred, written

Vectors = NDArray[np.float64]

LARGE = 1 << 14
"""Numbers in an array (n, d, R) from which on a pass of compiled code is faster than numpy."""


class LazyGradient(Deferred):
    """The vectors s grad f_i(x_i) + a x_i + b u_i, (n, d, R), used like a numpy array.

    Scaling, and adding or subtracting an array, is lazy. The sum over the clients and single
    entries are computed without the rest. For every other operation the gradient is evaluated, at
    most once: in one pass over the data, or from the gradient that it was derived from if this is
    still in use. The arrays that it refers to must not change before.

    Parameters
    ----------
    losses : FusedGradients
        The gradients without a ridge.
    x : (n, d, R) or (1, d, R)
        Where they are evaluated.
    scale, a : float
        Factors of the gradients and of the points; the ridge is in a.
    u, b : (n, d, R) or (1, d, R), and float
        One more array with its factor, if there is one.
    """

    dtype = np.dtype(np.float64)

    def __init__(
        self, losses: FusedGradients, x: Vectors, scale: float, a: float,
        u: Vectors | None = None, b: float = 0.0,
    ) -> None:  # fmt: skip
        self._losses, self._x, self._u = losses, x, u
        self._scale, self._a, self._b = scale, a, b
        self._value: Vectors | None = None
        self._parent: Callable[[], LazyGradient | None] = _nobody
        self._from_parent: Callable[[Vectors], Vectors]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, features, runs: (n, d, R)."""
        n, _, d = self._losses.shape
        return n, d, self._x.shape[2]

    def total(self) -> Vectors:
        """Sum over the clients: (1, d, R)."""
        if self._is_evaluated():
            return np.asarray(self).sum(axis=0, keepdims=True)
        total = self._scale * self._losses.total(self._x) + self._a * self._sum(self._x)
        return total if self._u is None else total + self._b * self._sum(self._u)

    def entries(self, indices: NDArray[np.int64]) -> Vectors:
        """Return the entries at features, (n, k, R), as ``take_along_axis`` does."""
        if self._is_evaluated():
            return np.take_along_axis(np.asarray(self), indices, axis=1)
        return self._losses.entries(indices, *self._terms)

    @property
    def _terms(self) -> tuple[Any, ...]:
        return self._x, self._scale, self._a, self._u, self._b

    def _sum(self, x: Vectors) -> Vectors:
        return x.sum(axis=0, keepdims=True) if len(x) > 1 else self.shape[0] * x

    def _is_evaluated(self) -> bool:
        """Whether the gradient is evaluated, or will be as soon as that of its parent is.

        Who still holds the parent may ask for them.
        """
        return self._value is not None or self._parent() is not None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self._value is None:
            parent = self._parent()
            if parent is None:
                self._value = self._losses.combination(*self._terms)
            else:
                self._value = self._from_parent(np.asarray(parent))
        return self._value if dtype is None else self._value.astype(dtype, copy=False)

    def _combined(self, ufunc: Any, other: Any, leads: bool) -> "LazyGradient | None":
        if self._value is not None:
            return None
        if isinstance(other, Columns):
            other = other.whole
        if ufunc is np.multiply and isinstance(other, float | int):
            own, added = other, 0.0
        elif ufunc in (np.add, np.subtract) and self._takes(other):
            sign = -1.0 if ufunc is np.subtract else 1.0
            own, added = (1.0, sign) if leads else (sign, 1.0)
        else:
            return None
        a, b, u = own * self._a, own * self._b, self._u
        if other is self._x:
            a += added
        elif added:
            b, u = added, other
        child = LazyGradient(self._losses, self._x, own * self._scale, a, u, b)
        child._parent = ref(self)
        child._from_parent = lambda value: ufunc(value, other) if leads else ufunc(other, value)
        return child

    def _takes(self, array: Any) -> bool:
        """Whether an array is the point, or may be the one more that is held."""
        if array is self._x:
            return True
        n, d, runs = self.shape
        return (
            self._u is None
            and type(array) is np.ndarray
            and array.dtype == self.dtype
            and array.shape in ((n, d, runs), (1, d, runs))
            and array.flags.c_contiguous
        )


def _nobody() -> None:
    return None


def lazy_gradient(problem: Any, x: Any) -> LazyGradient | None:
    """Return the lazy gradients of all f_i at x, (n, d, R) or (1, d, R).

    None for problems without a compiled pass, for arrays other than numpy's with 64-bit floats,
    without numba, and for small vectors.
    """
    if problem.n * x.shape[1] * x.shape[2] < LARGE:
        return None
    x = written(x.whole if isinstance(x, Columns) else x)
    fits = isinstance(problem, LogisticRegression) and type(x) is np.ndarray
    if not (fits and x.dtype == np.float64):
        return None
    return LazyGradient(
        fused_gradients(problem.rows), np.ascontiguousarray(x), 1.0, problem.ridge_f
    )
