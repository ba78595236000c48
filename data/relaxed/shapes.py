"""Functions h on R^d with their exact relaxed smoothness: |Hess h| <= L0 + L1 |grad h|.

They are the building blocks of client families. Points are (n, d, R) or (1, d, R); values are
summed over the features, so (n, R). All are smooth and, but for the recurrent toy, convex.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.memory import require_memory
from certibit.data.relaxed.polynomials import smallest_offset


@dataclass(frozen=True)
class Shape(ABC):
    """A function h(x); most are sums of one function of every entry of x."""

    @abstractmethod
    def gap(self, x: Array) -> Array:
        """h(x) - inf h of every point, without cancellation: (n, d, R) to (n, R)."""

    @abstractmethod
    def grad(self, x: Array) -> Array:
        """Gradient of h at every point, (n, d, R)."""

    @property
    def natural_L1(self) -> float:  # noqa: N802  (the paper's symbol)
        """An L1 for which L0 is natural."""
        return 1.0

    @abstractmethod
    def offset(self, L1: float) -> float:
        """Return an L0 that goes with L1.

        Raises
        ------
        Refusal
            If there is none for so small an L1.
        """

    @property
    def minimiser(self) -> float:
        """Every entry of a minimiser; NaN if the infimum is not attained."""
        return 0.0

    @property
    def infimum(self) -> float:
        """The infimum of h in one dimension."""
        return 0.0


def _enough(shape: Shape, L1: float, least: float) -> None:
    if least > L1:
        raise Refusal(
            f"{type(shape).__name__} is not (L0, L1)-smooth for L1 = {L1:g}; give {least:g} or more"
        )


@dataclass(frozen=True)
class Square(Shape):
    """sum_j (x_j - centre)^2/2; (1, L1)-smooth for every L1 >= 0."""

    centre: float = 0.0

    def gap(self, x: Array) -> Array:
        return _total((x - self.centre) ** 2) / 2

    def grad(self, x: Array) -> Array:
        return x - self.centre

    @property
    def natural_L1(self) -> float:  # noqa: N802
        return 0.0

    def offset(self, L1: float) -> float:
        return 1.0

    @property
    def minimiser(self) -> float:
        return self.centre


@dataclass(frozen=True)
class Power(Shape):
    """|x|^p, p >= 2, radial in R^d; sharp pair (p ((p - 2)/L1)^(p-2), L1).

    |grad| = p r^(p-1) and |Hess| = p (p - 1) r^(p-2) with r = |x|; the difference
    p (p - 1) r^(p-2) - L1 p r^(p-1) is largest at r = (p - 2)/L1.
    """

    p: float = 4.0

    def gap(self, x: Array) -> Array:
        return _total(x * x) ** (self.p / 2)

    def grad(self, x: Array) -> Array:
        return self.p * _total(x * x)[:, None, :] ** (self.p / 2 - 1) * x

    def offset(self, L1: float) -> float:
        return float(self.p * ((self.p - 2) / L1) ** (self.p - 2)) if self.p > 2 else 2.0


@dataclass(frozen=True)
class Well(Shape):
    """sum_j (x_j^4/4 + x_j^2/2); L0 = max over t >= 0 of 3t^2 + 1 - L1 (t^3 + t).

    The derivative 6t - L1 (3t^2 + 1) has a positive root that is a maximum iff L1^2 < 3.
    """

    def gap(self, x: Array) -> Array:
        return _total((x * x / 2 + 1) * (x * x / 2))

    def grad(self, x: Array) -> Array:
        return x * x * x + x

    def offset(self, L1: float) -> float:
        t = (3 + math.sqrt(max(9 - 3 * L1**2, 0.0))) / (3 * L1)
        return max(1.0, 3 * t**2 + 1 - L1 * (t**3 + t))


@dataclass(frozen=True)
class Exponential(Shape):
    """exp(a x) on R; (0, |a|), with equality everywhere. The infimum 0 is not attained."""

    a: float = 1.0

    def gap(self, x: Array) -> Array:
        return array_namespace(x).exp(self.a * x)[:, 0, :]

    def grad(self, x: Array) -> Array:
        return self.a * array_namespace(x).exp(self.a * x)

    @property
    def natural_L1(self) -> float:  # noqa: N802
        return abs(self.a)

    def offset(self, L1: float) -> float:
        _enough(self, L1, abs(self.a))
        return 0.0

    @property
    def minimiser(self) -> float:
        return math.nan


@dataclass(frozen=True)
class Cosh(Shape):
    """sum_j cosh(a x_j); sharp pair (a^2, |a|), as cosh <= 1 + |sinh|."""

    a: float = 1.0

    def gap(self, x: Array) -> Array:
        return _total(2 * array_namespace(x).sinh(self.a * x / 2) ** 2)

    def grad(self, x: Array) -> Array:
        return self.a * array_namespace(x).sinh(self.a * x)

    @property
    def natural_L1(self) -> float:  # noqa: N802
        return abs(self.a)

    def offset(self, L1: float) -> float:
        _enough(self, L1, abs(self.a))
        return self.a**2

    @property
    def infimum(self) -> float:
        return 1.0


@dataclass(frozen=True)
class PseudoHuber(Shape):
    """2 eps (sqrt(w^2 + y^2) - w) on R; h'' <= 2 eps/w = L0 with any L1 >= 0, and |h'| < 2 eps."""

    eps: float
    w: float

    def gap(self, x: Array) -> Array:
        y = x[:, 0, :]
        return 2 * self.eps * y * y / ((self.w**2 + y * y) ** 0.5 + self.w)

    def grad(self, x: Array) -> Array:
        return 2 * self.eps * x / (self.w**2 + x * x) ** 0.5

    @property
    def natural_L1(self) -> float:  # noqa: N802
        return 0.0

    def offset(self, L1: float) -> float:
        return 2 * self.eps / self.w


@dataclass(frozen=True)
class Steep(Shape):
    """phi'(x) = l x for |x| <= 1/a, sign(x) (l/a) exp(a |x| - 1) beyond; on R, C^2, (l, a)-smooth.

    Inside h'' = l, outside h'' = a |h'|.
    """

    l: float  # noqa: E741  (the curvature at 0)
    a: float = 1.0

    def gap(self, x: Array) -> Array:
        xp = array_namespace(x)
        t = self.a * xp.abs(x[:, 0, :])
        inner = t * t / 2
        outer = xp.exp(xp.where(t > 1, t, 1 + 0 * t) - 1) - 0.5
        return (self.l / self.a**2) * xp.where(t > 1, outer, inner)

    def grad(self, x: Array) -> Array:
        xp = array_namespace(x)
        t = self.a * xp.abs(x)
        outer = xp.exp(xp.where(t > 1, t, 1 + 0 * t) - 1)
        return (self.l / self.a) * xp.sign(x) * xp.where(t > 1, outer, t)

    @property
    def natural_L1(self) -> float:  # noqa: N802
        return self.a

    def offset(self, L1: float) -> float:
        _enough(self, L1, self.a)
        return self.l


@dataclass(frozen=True)
class Extremal(Shape):
    """(l/a^2) (exp(u) - 1 - u), u = a |x|, on R; h'' = l + a |h'| everywhere, so (l, a)-smooth.

    Of all (l, a)-smooth functions on R it decreases least along a step against the gradient. For
    a = 0 it is l x^2/2.
    """

    l: float  # noqa: E741  (the curvature at 0)
    a: float = 1.0

    def gap(self, x: Array) -> Array:
        if not self.a:
            return self.l * x[:, 0, :] ** 2 / 2
        return (self.l / self.a**2) * _curved(self.a * array_namespace(x).abs(x[:, 0, :]))

    def grad(self, x: Array) -> Array:
        xp = array_namespace(x)
        if not self.a:
            return self.l * x
        return (self.l / self.a) * xp.sign(x) * xp.expm1(self.a * xp.abs(x))

    @property
    def natural_L1(self) -> float:  # noqa: N802
        return self.a

    def offset(self, L1: float) -> float:
        _enough(self, L1, self.a)
        return self.l


@dataclass(frozen=True)
class Recurrent(Shape):
    """(w^K - 1)^2/2 on R: one weight applied K times, as in a recurrent network.

    A polynomial, so any L1 > 0 works; L0 is exact, from the critical points of |h''| - L1 |h'|.
    """

    K: int = 3

    def gap(self, x: Array) -> Array:
        return (x[:, 0, :] ** self.K - 1) ** 2 / 2

    def grad(self, x: Array) -> Array:
        return self.K * x ** (self.K - 1) * (x**self.K - 1)

    def offset(self, L1: float) -> float:
        power = Polynomial([-1.0] + [0.0] * (self.K - 1) + [1.0])
        return smallest_offset((power**2 / 2).coef.tolist(), L1)

    @property
    def minimiser(self) -> float:
        return 1.0


def _total(x: Array) -> Array:
    return array_namespace(x).sum(x, axis=1)


def _curved(t: Array) -> Array:
    """exp(t) - 1 - t, without cancellation for small t."""
    xp = array_namespace(t)
    small = xp.abs(t) < 1e-2
    s = xp.where(small, t, 0 * t)
    series = s * s / 2 * (1 + s / 3 * (1 + s / 4 * (1 + s / 5 * (1 + s / 6 * (1 + s / 7)))))
    return xp.where(small, series, xp.expm1(t) - t)


def unit_vectors(pairs: int, d: int, seed: int) -> Array:
    """Return random unit vectors in +- pairs, (2 pairs, d, 1); their sum is 0."""
    require_memory(2 * pairs * d, f"{2 * pairs} vectors of {d} features")
    vectors = np.random.default_rng(seed).standard_normal((pairs, d, 1))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.concatenate([vectors, -vectors])
