"""Robust losses that are not convex: Welsch's and Tukey's, bounded for large residuals."""

import math
from dataclasses import dataclass

from certibit.data.arrays import Array, array_namespace
from certibit.data.losses.base import Loss, require_positive_width


@dataclass(frozen=True)
class Welsch(Loss):
    """phi(z; b) = (c^2/2) (1 - exp(-(r/c)^2)), r = z - b; phi'' from -2 exp(-3/2) to 1.

    The extreme second derivatives are at r = 0 and at (r/c)^2 = 3/2.
    Source: Dennis and Welsch, Techniques for nonlinear least squares and robust regression, 1978.

    Parameters
    ----------
    c : float
        Scale of the residuals; those far beyond it hardly count.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Welsch
    >>> Welsch(c=1.0).value(np.array([0.0, 1.0, 9.0]), np.zeros(3))
    array([0.        , 0.31606028, 0.5       ])
    """

    c: float = 1.0

    name = "welsch"

    def __post_init__(self) -> None:
        require_positive_width("c", self.c, "welsch:1")

    @property
    def smoothness(self) -> float:
        return 1.0

    @property
    def steepness(self) -> float:
        return self.c * math.exp(-0.5) / math.sqrt(2)  # at (r/c)^2 = 1/2

    @property
    def weak_convexity(self) -> float:
        return 2 * math.exp(-1.5)

    def value(self, z: Array, b: Array) -> Array:
        r = (z - b) / self.c
        return -0.5 * self.c**2 * array_namespace(z).expm1(-r * r)

    def slope(self, z: Array, b: Array) -> Array:
        r = (z - b) / self.c
        return (z - b) * array_namespace(z).exp(-r * r)

    def curvature(self, z: Array, b: Array) -> Array:
        r = (z - b) / self.c
        return (1 - 2 * r * r) * array_namespace(z).exp(-r * r)


@dataclass(frozen=True)
class Tukey(Loss):
    """phi(z; b) = (c^2/6) (1 - (1 - u)^3), u = min(1, (r/c)^2), r = z - b; phi'' from -4/5 to 1.

    phi'' = (1 - u) (1 - 5 u); its extremes are at u = 0 and at u = 3/5.
    Source: Beaton and Tukey, The fitting of power series, 1974 (the biweight).

    Parameters
    ----------
    c : float
        Residual from which on the loss is constant; 4.685 standard deviations are usual.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Tukey
    >>> Tukey(c=1.0).slope(np.array([0.0, 0.5, 2.0]), np.zeros(3))
    array([0.     , 0.28125, 0.     ])
    """

    c: float = 4.685

    name = "tukey"

    def __post_init__(self) -> None:
        require_positive_width("c", self.c, "tukey:4.685")

    @property
    def smoothness(self) -> float:
        return 1.0

    @property
    def steepness(self) -> float:
        return self.c * 16 / (25 * math.sqrt(5))  # at u = 1/5

    @property
    def weak_convexity(self) -> float:
        return 0.8

    def value(self, z: Array, b: Array) -> Array:
        u = self._ratio(z, b)
        return self.c**2 / 6 * u * (3 - u * (3 - u))

    def slope(self, z: Array, b: Array) -> Array:
        return (z - b) * (1 - self._ratio(z, b)) ** 2

    def curvature(self, z: Array, b: Array) -> Array:
        u = self._ratio(z, b)
        return (1 - u) * (1 - 5 * u)

    def _ratio(self, z: Array, b: Array) -> Array:
        r = array_namespace(z).clip((z - b) / self.c, -1.0, 1.0)
        return r * r
