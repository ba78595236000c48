"""Derivatives by differences of order eight, with an estimate of their own error."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Function = Callable[[Points], Points]
"""Of points (m, d, R) to values with the runs on the last axis."""

_OFFSETS = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
_WEIGHTS = np.array([3.0, -32.0, 168.0, -672.0, 672.0, -168.0, 32.0, -3.0]) / 840
_STEPS = 10.0 ** -np.arange(8.0)
"""Relative to 1 + the largest number of the point."""


def derivative(
    function: Function, x: Points, direction: Points, precision: float = 0.0
) -> tuple[Points, Points]:
    """Return the derivative of a function at a point along a direction, and its likely error.

    Of several steps the one is taken whose difference is nearest to that of the step before: it
    balances rounding and curvature, whatever the units of the function are.

    Parameters
    ----------
    function : callable
        Of points (m, d, R), to an array with R as its last axis.
    x, direction : arrays (m, d, 1)
        The point, and a vector of length about 1.
    precision : float
        Relative rounding error of the values, where it is more than that of 64 bits.

    Returns
    -------
    slope, error : arrays
        Without the last axis of the function's values; the error is absolute, one of each vector.
    """
    steps = _STEPS * (1 + np.max(np.abs(x)))
    places = x + direction * np.outer(steps, _OFFSETS).ravel()
    with np.errstate(all="ignore"):
        values = function(places)
        values = values.reshape(*values.shape[:-1], steps.size, _OFFSETS.size)
        slopes = (values @ _WEIGHTS) / steps
        errors = np.abs(np.diff(slopes, axis=-1))
        errors += precision * np.max(np.abs(values), axis=(-2, -1))[..., None] / steps[1:]
    errors = np.where(np.isfinite(errors), errors, np.inf)
    if errors.ndim > 1:  # one step for all entries of a vector: two may agree by chance
        errors = np.max(errors, axis=-2, keepdims=True)
    best = np.argmin(errors, axis=-1, keepdims=True)
    slope = np.take_along_axis(slopes, best + 1, axis=-1)[..., 0]
    return slope, np.take_along_axis(errors, best, axis=-1)[..., 0]


def jacobian_products(grad: Function, x: Points, vectors: Points) -> Points:
    """Return the products of every client's Hessian at x, (m, d, 1), with vectors, (m, d, K)."""
    columns = range(vectors.shape[2])
    slopes = [derivative(grad, x, vectors[:, :, column, None])[0] for column in columns]
    return np.stack(slopes, axis=2)
