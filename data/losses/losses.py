"""The losses, and losses by one string, such as ``huber:1``.

The logistic and the multinomial loss, least squares, Huber, Poisson and a smoothed hinge are
convex; Welsch's and Tukey's are robust: not convex, and bounded for large residuals.
"""

import math
from dataclasses import dataclass, fields
from difflib import get_close_matches

from array_api_compat import device

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.losses.base import Loss, require_positive_width
from certibit.data.own.own_file import is_own, own_instance

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
    smoothness = 0.25
    steepness = 1.0

    def value(self, z: Array, b: Array) -> Array:
        xp = array_namespace(z)
        return xp.log1p(xp.exp(-xp.abs(z))) - xp.minimum(b * z, 0.0)

    def slope(self, z: Array, b: Array) -> Array:
        return -b * sigmoid(-b * z)

    def curvature(self, z: Array, b: Array) -> Array:
        return sigmoid(z) * sigmoid(-z)

    def divergence(self, z: Array, step: Array, b: Array) -> Array:
        """Bregman divergence of phi for a step, without cancellation.

        It is the cumulant generating function of a centred Bernoulli variable of probability
        p = 1/(1 + exp(b z)) at t = -b step: K(t) = log(1 + p (exp(t) - 1)) - p t. The pair (p, t)
        is changed for (1 - p, -t) where p > 1/2, which leaves K as it is. For small t the two terms
        cancel; there it is the series of its cumulants.
        """
        xp, z, step = array_namespace(z), b * z, b * step
        p = sigmoid(-xp.abs(z))
        t = xp.where(z < 0, xp.ones_like(z), -xp.ones_like(z)) * step
        bounded = xp.minimum(t, exponent_limit(t))
        direct = xp.log1p(p * xp.expm1(bounded)) + (t - bounded) - p * t
        series = _series(p, xp.clip(t, -_SMALL_STEP, _SMALL_STEP))
        return xp.where(xp.abs(t) < _SMALL_STEP, series, direct)


def exponent_limit(z: Array) -> float:
    """Return an exponent whose exponential is finite in the dtype of z."""
    return 700.0 if z.dtype == array_namespace(z).float64 else 80.0


def sigmoid(z: Array) -> Array:
    """1 / (1 + exp(-z)) without overflow."""
    xp = array_namespace(z)
    return 1.0 / (1.0 + xp.exp(xp.minimum(-z, exponent_limit(z))))


def _series(p: Array, t: Array) -> Array:
    """Sum the second to the sixth cumulant of a Bernoulli variable, t^k / k! of each."""
    v, skew = p * (1.0 - p), 1.0 - 2.0 * p
    third, fourth = skew / 6, (1.0 - 6.0 * v) / 24  # over the second
    fifth, sixth = skew * (1.0 - 12.0 * v) / 120, (1.0 + v * (120.0 * v - 30.0)) / 720
    return v * t * t * (0.5 + t * (third + t * (fourth + t * (fifth + t * sixth))))


_FAR = 1.0
"""A prediction that moves further than this, against the mean of its row, is evaluated in logs."""
_SERIES = 0.05


@dataclass(frozen=True)
class Multinomial:
    """phi(z; b) = log(sum_k exp(z_k)) - z_b for K predictions z and the class b; 1/2-smooth.

    Arrays of predictions are (n, m, K, R), of classes (n, m, 1).

    Source of the smoothness: Boehning, Multinomial logistic regression algorithm, 1992.

    Parameters
    ----------
    classes : int
        K.
    """

    classes: int

    name = "multinomial"
    smoothness = 0.5

    @property
    def outputs(self) -> int:
        """Predictions of a row."""
        return self.classes

    def accepts(self, b: Array) -> str:
        """Return nothing: every position among the classes fits."""
        return ""

    def holds_at(self, z: Array) -> str:
        """Return nothing: the loss is the one of its name everywhere."""
        return ""

    def value(self, z: Array, b: Array) -> Array:
        """Return phi(z; b), (n, m, R)."""
        xp = array_namespace(z)
        return _log_sum_exp(z) - xp.sum(self._one_hot(b, z) * z, axis=2)

    def slope(self, z: Array, b: Array) -> Array:
        """Return the gradient of phi in z, (n, m, K, R)."""
        return self.probabilities(z) - self._one_hot(b, z)

    def probabilities(self, z: Array) -> Array:
        """Return exp(z_k) / sum_j exp(z_j), (n, m, K, R)."""
        xp = array_namespace(z)
        return xp.exp(z - _log_sum_exp(z)[:, :, None, :])

    def divergence(self, z: Array, step: Array, b: Array | None = None) -> Array:
        """Bregman divergence of phi for a step, (n, m, R), without cancellation; of any targets b.

        With the probabilities p at z and s = step - p' step it is log(sum_k p_k exp(s_k)). As
        sum_k p_k s_k = 0 it is also log1p(sum_k p_k (exp(s_k) - 1 - s_k)), whose terms are not
        negative.
        """
        xp = array_namespace(step)
        p = self.probabilities(z)
        s = step - xp.sum(p * step, axis=2, keepdims=True)
        far = xp.max(xp.abs(s), axis=2) > _FAR
        near = xp.clip(s, -_FAR, _FAR)
        with_logs = _log_sum_exp(z - _log_sum_exp(z)[:, :, None, :] + s)
        return xp.where(far, with_logs, xp.log1p(xp.sum(p * _exp_remainder(near), axis=2)))

    def _one_hot(self, b: Array, z: Array) -> Array:
        xp = array_namespace(z)
        classes = xp.arange(self.classes, dtype=b.dtype, device=device(b))
        return xp.astype(b[:, :, :, None] == classes[None, None, :, None], z.dtype)


def _log_sum_exp(z: Array) -> Array:
    """Return log(sum_k exp(z_k)) over the third axis, without overflow."""
    xp = array_namespace(z)
    top = xp.max(z, axis=2, keepdims=True)
    return top[:, :, 0, :] + xp.log(xp.sum(xp.exp(z - top), axis=2))


def _exp_remainder(s: Array) -> Array:
    """Return exp(s) - 1 - s, as a series where the terms cancel."""
    xp = array_namespace(s)
    small = xp.abs(s) < _SERIES
    t = xp.where(small, s, 0.0)
    series = 0.0 * t
    for k in range(9, 1, -1):
        series = (1.0 + series) * t / k
    return xp.where(small, series * t, xp.expm1(s) - s)


@dataclass(frozen=True)
class LeastSquares(Loss):
    """phi(z; b) = (z - b)^2 / 2; 1-smooth. With the ridge of the problem, ridge regression.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import LeastSquares
    >>> LeastSquares().value(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    name = "least-squares"
    smoothness = 1.0

    def value(self, z: Array, b: Array) -> Array:
        return 0.5 * (z - b) ** 2

    def slope(self, z: Array, b: Array) -> Array:
        return z - b

    def curvature(self, z: Array, b: Array) -> Array:
        return 0.0 * (z - b) + 1.0

    def divergence(self, z: Array, step: Array, b: Array) -> Array:
        return 0.5 * step * step + 0.0 * z


@dataclass(frozen=True)
class Huber(Loss):
    """phi(z; b) = r^2/2 for |r| <= delta and delta |r| - delta^2/2 beyond, r = z - b; 1-smooth.

    Source: Huber, Robust estimation of a location parameter, 1964.

    Parameters
    ----------
    delta : float
        Residual from which on the loss is linear.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Huber
    >>> Huber(delta=1.0).slope(np.array([0.5, 3.0]), np.zeros(2))
    array([0.5, 1. ])
    """

    delta: float = 1.0

    name = "huber"
    smoothness = 1.0

    def __post_init__(self) -> None:
        require_positive_width("delta", self.delta, "huber:1")

    @property
    def steepness(self) -> float:
        return self.delta

    def value(self, z: Array, b: Array) -> Array:
        r = z - b
        clipped = self._clipped(r)
        return clipped * (r - 0.5 * clipped)

    def slope(self, z: Array, b: Array) -> Array:
        return self._clipped(z - b)

    def curvature(self, z: Array, b: Array) -> Array:
        xp = array_namespace(z)
        return xp.where(xp.abs(z - b) <= self.delta, 1.0 + 0.0 * z, 0.0 * z)

    def divergence(self, z: Array, step: Array, b: Array) -> Array:
        # with s the slope: the integral of s(r + v) - s(r) over v in [0, t], by parts of its range
        r = z - b
        return _integrated_clip(r, step, -self.delta, self.delta)

    def _clipped(self, r: Array) -> Array:
        return array_namespace(r).clip(r, -self.delta, self.delta)


@dataclass(frozen=True)
class SmoothedHinge(Loss):
    """phi(z; b) is 0 for b z >= 1, (1 - b z)^2/(2 gamma) for b z >= 1 - gamma, linear below.

    It is 1/gamma-smooth, and at most gamma/2 below the hinge max(0, 1 - b z).

    Source: Shalev-Shwartz and Zhang, Stochastic dual coordinate ascent, JMLR 2013, equation (24).

    Parameters
    ----------
    gamma : float
        Width of the smooth part.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import SmoothedHinge
    >>> SmoothedHinge(gamma=0.5).value(np.array([-1.0, 0.75]), np.ones(2))
    array([1.75  , 0.0625])
    """

    gamma: float = 0.5

    name = "smoothed-hinge"
    targets = "two classes"
    steepness = 1.0

    def __post_init__(self) -> None:
        require_positive_width("gamma", self.gamma, "smoothed-hinge:0.5")

    @property
    def smoothness(self) -> float:
        return 1.0 / self.gamma

    def value(self, z: Array, b: Array) -> Array:
        lack = 1.0 - b * z
        inside = array_namespace(z).clip(lack, 0.0, self.gamma)
        return inside * (lack - 0.5 * inside) / self.gamma

    def slope(self, z: Array, b: Array) -> Array:
        return -b * array_namespace(z).clip(1.0 - b * z, 0.0, self.gamma) / self.gamma

    def curvature(self, z: Array, b: Array) -> Array:
        xp = array_namespace(z)
        lack = 1.0 - b * z
        inside = (lack >= 0.0) & (lack <= self.gamma)
        return xp.where(inside, 1.0 / self.gamma + 0.0 * z, 0.0 * z)

    def divergence(self, z: Array, step: Array, b: Array) -> Array:
        return _integrated_clip(1.0 - b * z, -b * step, 0.0, self.gamma) / self.gamma


@dataclass(frozen=True)
class Poisson(Loss):
    """phi(z; b) = exp(z) - b z for z <= bound, continued beyond by its Taylor polynomial.

    The counts b have the mean exp(z). The curvature of the exponential is not bounded; that of its
    Taylor polynomial of degree 2 at the bound is exp(bound). A problem whose solution has a
    prediction z above the bound is refused, so that every solution is one of Poisson regression.

    Parameters
    ----------
    bound : float
        Up to here the loss is that of Poisson regression.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Poisson
    >>> Poisson(bound=2.0).slope(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    array([0.        , 1.71828183])
    """

    bound: float = 3.0

    name = "poisson"

    def __post_init__(self) -> None:
        if not abs(self.bound) <= 50:
            raise Refusal(f"the bound {self.bound:g} of poisson; expected one from -50 to 50")

    @property
    def smoothness(self) -> float:
        return math.exp(self.bound)

    def value(self, z: Array, b: Array) -> Array:
        low, over = self._parts(z)
        return array_namespace(z).exp(low) * (1.0 + over + 0.5 * over * over) - b * z

    def slope(self, z: Array, b: Array) -> Array:
        low, over = self._parts(z)
        return array_namespace(z).exp(low) * (1.0 + over) - b

    def curvature(self, z: Array, b: Array) -> Array:
        return array_namespace(z).exp(self._parts(z)[0]) + 0.0 * b

    def divergence(self, z: Array, step: Array, b: Array) -> Array:
        # the step is cut at the bound: D(z+t, z) = D(c, z) + D(z+t, c) + (phi'(c) - phi'(z)) t2
        xp = array_namespace(step)
        z = z + 0.0 * step
        below, steep = z <= self.bound, math.exp(self.bound)
        first = xp.where(below, xp.minimum(step, self.bound - z), xp.maximum(step, self.bound - z))
        second = step - first
        low = xp.minimum(z, self.bound + 0.0 * z)
        from_below = (
            xp.exp(low) * (_exp_remainder(first) + xp.expm1(first) * second)
            + 0.5 * steep * second * second
        )
        from_above = steep * (0.5 * first * first + first * second + _exp_remainder(second))
        return xp.where(below, from_below, from_above)

    def accepts(self, b: Array) -> str:
        return "" if bool((b >= 0).all()) else "counts from 0 on"

    def holds_at(self, z: Array) -> str:
        largest = float(z.max())
        if largest <= self.bound:
            return ""
        return (
            f"the solution predicts exp({largest:.3g}), above the bound {self.bound:g} of poisson; "
            f"choose poisson:{math.ceil(largest)} or scale the features"
        )

    def _parts(self, z: Array) -> tuple[Array, Array]:
        """Return min(z, bound), and what z is beyond it."""
        low = array_namespace(z).minimum(z, self.bound + 0.0 * z)
        return low, z - low


def _integrated_clip(r: Array, t: Array, low: float, high: float) -> Array:
    """Integral of clip(r + v) - clip(r) over v from 0 to t, without cancellation.

    Mirrored so that t >= 0, the integrand is max(0, v - wait) cut at the rise of the clip: it is a
    sum of products of non-negative numbers.
    """
    xp = array_namespace(t)
    at = xp.where(t < 0, low + high - r, r)
    t = xp.abs(t)
    wait = xp.clip(low - at, 0.0, None)  # before the clip begins to rise
    room = xp.clip(high - xp.clip(at, low, None), 0.0, None)  # how far it can rise
    rising = xp.clip(t - wait, 0.0, None)
    inside = xp.minimum(rising, room)
    return inside * (0.5 * inside + (rising - inside))


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
    smoothness = 1.0
    weak_convexity = 2 * math.exp(-1.5)

    def __post_init__(self) -> None:
        require_positive_width("c", self.c, "welsch:1")

    @property
    def steepness(self) -> float:
        return self.c * math.exp(-0.5) / math.sqrt(2)  # at (r/c)^2 = 1/2

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
    smoothness = 1.0
    weak_convexity = 0.8

    def __post_init__(self) -> None:
        require_positive_width("c", self.c, "tukey:4.685")

    @property
    def steepness(self) -> float:
        return self.c * 16 / (25 * math.sqrt(5))  # at u = 1/5

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


_CONVEX = (Logistic, LeastSquares, SmoothedHinge, Huber, Poisson)
_LOSSES: tuple[type[Loss], ...] = (*_CONVEX, Welsch, Tukey)
_BY_NAME = {loss.name: loss for loss in _LOSSES}
LOSSES = tuple(_BY_NAME)
"""The names of the losses of one prediction a row."""


def loss_named(selector: str) -> Loss:
    """Return the loss of a name; a parameter follows after a colon.

    One of your own is ``path/to/file.py:Name``, or ``path/to/file.py:Name:0.5`` with values for
    its fields.

    Raises
    ------
    Refusal
        If the name is unknown, with the nearest ones, or the parameter cannot be read.

    Examples
    --------
    >>> loss_named("huber:2")
    Huber(delta=2.0)
    """
    if is_own(selector):
        return own_instance(selector, Loss, "loss")  # type: ignore[type-abstract]
    name, colon, parameter = selector.partition(":")
    if name not in _BY_NAME:
        near = get_close_matches(name, LOSSES, n=2, cutoff=0.5)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(LOSSES)}"
        )
        raise Refusal(f"the loss {name!r} is unknown; {hint}")
    loss = _BY_NAME[name]
    if not colon:
        return loss()
    taken = [field.name for field in fields(loss)]
    try:
        (only,), value = taken, float(parameter)
    except ValueError:
        expected = f"{name}:{taken[0].upper()}, with a number" if taken else f"{name} alone"
        raise Refusal(f"the loss {selector!r} cannot be read; expected {expected}") from None
    return loss(**{only: value})
