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
    """Bregman divergence of phi(z) = log(1 + exp(-z)): phi(z+step) - phi(z) - phi'(z) step."""
    return LogisticDivergence.at(z)(step)


@dataclass(frozen=True, eq=False)
class LogisticDivergence:
    """phi(z+step) - phi(z) - phi'(z) step, phi(z) = log(1 + exp(-z)), as a function of the step.

    It is the cumulant generating function of a centred Bernoulli variable of probability
    p = 1/(1 + exp(z)) at t = -step: K(t) = log(1 + p (exp(t) - 1)) - p t. The pair (p, t) is
    changed for (1 - p, -t) where p > 1/2, which leaves K as it is. For small t the two terms
    cancel; there it is the series of its cumulants.

    Parameters
    ----------
    side
        -1, or 1 where p > 1/2.
    p
        The smaller of the two probabilities.
    cumulants
        The second to the sixth, each over the factorial of its order and, but for the second, over
        the second.
    """

    side: Array
    p: Array
    cumulants: tuple[Array, ...]

    @classmethod
    def at(cls, z: Array) -> "LogisticDivergence":
        """Return the divergences from z."""
        xp = array_namespace(z)
        p = sigmoid(-xp.abs(z))
        v, skew = p * (1.0 - p), 1.0 - 2.0 * p
        sixth = (1.0 + v * (120.0 * v - 30.0)) / 720
        fifth = skew * (1.0 - 12.0 * v) / 120
        fourth = (1.0 - 6.0 * v) / 24
        side = xp.where(z < 0, xp.ones_like(z), -xp.ones_like(z))
        return cls(side, p, (v, skew / 6, fourth, fifth, sixth))

    def __call__(self, step: Array) -> Array:
        """Return the divergences of steps."""
        xp = array_namespace(step)
        t = self.side * step
        small = xp.abs(t) < _SMALL_STEP
        return xp.where(small, self._series(xp.clip(t, -_SMALL_STEP, _SMALL_STEP)), self._direct(t))

    def _direct(self, t: Array) -> Array:
        xp = array_namespace(t)
        bounded = xp.minimum(t, exponent_limit(t))
        return xp.log1p(self.p * xp.expm1(bounded)) + (t - bounded) - self.p * t

    def _series(self, t: Array) -> Array:
        second, third, fourth, fifth, sixth = self.cumulants
        return second * t * t * (0.5 + t * (third + t * (fourth + t * (fifth + t * sixth))))
