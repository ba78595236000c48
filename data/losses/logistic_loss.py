"""The logistic loss, of two classes."""

from dataclasses import dataclass

from certibit.data.arrays import Array, array_namespace
from certibit.data.losses.base import Loss

_SMALL_STEP = 0.01
"""A margin that changes by less has its divergence summed as a series, to 1e-13 relative."""


@dataclass(frozen=True)
class Logistic(Loss):
    """phi(z; b) = log(1 + exp(-b z)) for b = -1 or +1; 1/4-smooth.

    Examples
    --------
    >>> from certibit import Logistic
    >>> Logistic().smoothness
    0.25
    """

    name = "logistic"
    targets = "two classes"

    @property
    def smoothness(self) -> float:
        return 0.25

    @property
    def steepness(self) -> float:
        return 1.0

    def value(self, z: Array, b: Array) -> Array:
        xp = array_namespace(z)
        return xp.log1p(xp.exp(-xp.abs(z))) - xp.minimum(b * z, 0.0)

    def slope(self, z: Array, b: Array) -> Array:
        return -b * sigmoid(-b * z)

    def curvature(self, z: Array, b: Array) -> Array:
        return sigmoid(z) * sigmoid(-z)

    def divergence(self, z: Array, step: Array, b: Array) -> Array:
        return logistic_divergence(b * z, b * step)


def exponent_limit(z: Array) -> float:
    """Return an exponent whose exponential is finite in the dtype of z."""
    return 700.0 if z.dtype == array_namespace(z).float64 else 80.0


def sigmoid(z: Array) -> Array:
    """1 / (1 + exp(-z)) without overflow."""
    xp = array_namespace(z)
    return 1.0 / (1.0 + xp.exp(xp.minimum(-z, exponent_limit(z))))


def logistic_divergence(z: Array, step: Array) -> Array:
    """Bregman divergence of phi(z) = log(1 + exp(-z)): phi(z+step) - phi(z) - phi'(z) step.

    It is the cumulant generating function of a centred Bernoulli variable of probability
    p = 1/(1 + exp(z)) at t = -step: K(t) = log(1 + p (exp(t) - 1)) - p t. The pair (p, t) is
    changed for (1 - p, -t) where p > 1/2, which leaves K as it is. For small t the two terms
    cancel; there it is the series of its cumulants.
    """
    xp = array_namespace(z)
    p = sigmoid(-xp.abs(z))
    t = xp.where(z < 0, xp.ones_like(z), -xp.ones_like(z)) * step
    bounded = xp.minimum(t, exponent_limit(t))
    direct = xp.log1p(p * xp.expm1(bounded)) + (t - bounded) - p * t
    series = _series(p, xp.clip(t, -_SMALL_STEP, _SMALL_STEP))
    return xp.where(xp.abs(t) < _SMALL_STEP, series, direct)


def _series(p: Array, t: Array) -> Array:
    """Sum the second to the sixth cumulant of a Bernoulli variable, t^k / k! of each."""
    v, skew = p * (1.0 - p), 1.0 - 2.0 * p
    third, fourth = skew / 6, (1.0 - 6.0 * v) / 24  # over the second
    fifth, sixth = skew * (1.0 - 12.0 * v) / 120, (1.0 + v * (120.0 * v - 30.0)) / 720
    return v * t * t * (0.5 + t * (third + t * (fourth + t * (fifth + t * sixth))))
