"""A numerical estimate of relaxed smoothness: the smallest L0 for a given L1 on growing boxes.

It needs only the gradient of a function. The estimate is a lower bound of the true L0 on the boxes,
found by random search; it is no proof of smoothness.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal

Points = NDArray[np.float64]
Gradient = Callable[[Points], Points]
"""Gradients at points (1, d, R), of one or several functions: (n, d, R)."""

_TOLERANCE = 1e-6
"""Relative size of the error of a Hessian by differences, which does not count."""
_GROWTH = 1.5
_KEPT, _STEPS = 64, 40


@dataclass(frozen=True)
class _Estimate:
    """The largest |Hess| - L1 |grad| that was found.

    Attributes
    ----------
    L0 : float
        The maximum over the largest box; infinite if it still grows from box to box.
    point : (d,)
        The point of this maximum.
    radii, offsets : (K,)
        Half the sides of the boxes around the centre, and the maximum found in each.
    """

    L0: float
    point: NDArray[np.float64]
    radii: NDArray[np.float64]
    offsets: NDArray[np.float64]


def relaxed_smoothness(
    grad: Gradient,
    d: int,
    L1: float,
    *,
    radius: float = 1.0,
    doublings: int = 6,
    samples: int = 2000,
    seed: int = 0,
) -> _Estimate:
    """Estimate the smallest L0 with |Hess| <= L0 + L1 |grad| on boxes around 0.

    In every box, random points are drawn and the best are improved by random steps of shrinking
    length. If the L0 that is found grows by half or more at each of the last three doublings of the
    box, L0 is reported as infinite: the function seems not to be (L0, L1)-smooth with this L1. For
    a function that is, give a larger ``radius``.

    Parameters
    ----------
    grad : callable
        Gradients at points (1, d, R), of one or several functions: (n, d, R).
    d : int
        Number of features.
    L1 : float
        The L1 that is to go with L0.
    radius : float
        Half the side of the first box.
    doublings : int
        How often it is doubled, at least 3.
    samples : int
        Random points in every box.
    seed : int
        Of the random search.

    Raises
    ------
    Refusal
        If L1 is negative, or the boxes are not possible.

    Examples
    --------
    >>> from certibit import relaxed_smoothness
    >>> found = relaxed_smoothness(lambda x: 4 * x**3, d=1, L1=1.0)  # x^4
    >>> round(found.L0, 3)
    16.0
    """
    if not (L1 >= 0 and radius > 0 and doublings >= 3 and samples >= _KEPT):
        raise Refusal(
            f"L1 = {L1:g}, radius = {radius:g}, doublings = {doublings}, samples = {samples} is "
            f"not possible; give L1 >= 0, radius > 0, at least 3 doublings and {_KEPT} samples"
        )
    generator = np.random.default_rng(seed)
    radii: Points = radius * np.exp2(np.arange(doublings + 1, dtype=np.float64))
    best, offsets = np.zeros((1, d, 1)), []
    for box in radii:
        points = generator.uniform(-box, box, (1, d, samples))
        points = np.concatenate([best, points], axis=2)
        best = _improved(grad, L1, points, box, generator)
        offsets.append(float(_offset(grad, L1, best[:, :, :1])[0]))
    found = np.maximum(offsets, 0.0)
    last = found[-4:]
    growing = last[0] > 0 and bool((last[1:] >= _GROWTH * last[:-1]).all())
    return _Estimate(np.inf if growing else float(found[-1]), best[0, :, 0], radii, found)


def hessians(grad: Gradient, points: Points) -> Points:
    """Return the Hessians at points (1, d, R) by central differences, (n, R, d, d), symmetrised."""
    d = points.shape[1]
    step = 6e-6 * np.maximum(1.0, np.abs(points).max(axis=1, keepdims=True))
    columns = []
    for j in range(d):
        shift = step * np.eye(d)[None, :, j, None]
        columns.append((grad(points + shift) - grad(points - shift)) / (2 * step))
    matrices = np.moveaxis(np.stack(columns, axis=-1), 2, 1)
    symmetric: Points = (matrices + np.matrix_transpose(matrices)) / 2
    return symmetric


def _offset(grad: Gradient, L1: float, points: Points) -> Points:
    """|Hess| - L1 |grad| at every point, the largest over the functions, (R,)."""
    curvature = np.abs(np.linalg.eigvalsh(hessians(grad, points))).max(axis=-1)
    slope = np.linalg.norm(grad(points), axis=1)
    offset: Points = ((1 - _TOLERANCE) * curvature - L1 * slope).max(axis=0)
    return offset


def _improved(
    grad: Gradient, L1: float, points: Points, box: float, generator: np.random.Generator
) -> Points:
    """Move the best points to where more is found, (1, d, kept), the best first."""
    offsets = _offset(grad, L1, points)
    chosen = np.argsort(-offsets)[:_KEPT]
    points, offsets = points[:, :, chosen], offsets[chosen]
    for step in range(_STEPS):
        length = box * 0.3 * 0.75**step
        trial = np.clip(points + length * generator.standard_normal(points.shape), -box, box)
        found = _offset(grad, L1, trial)
        better = found > offsets
        points, offsets = np.where(better, trial, points), np.where(better, found, offsets)
    return points[:, :, np.argsort(-offsets)]
