"""Client families with closed constants: tilts f_i = h + b_i'x and multiples f_i = c_i h.

The building blocks are functions h on R^d with their exact relaxed smoothness: |Hess h| <= L0 +
L1 |grad h|. Points are (n, d, R) or (1, d, R); values are summed over the features, so (n, R). All
h are smooth and convex.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.files.own_data import own_numbers
from certibit.data.memory import require_memory
from certibit.data.noise import Noise
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import start_at
from certibit.data.relaxed.polynomials import RelaxedProblem


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
        """An L1 for which L0 is natural: |a| of a shape that has an a."""
        return abs(getattr(self, "a", 1.0))

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
    natural_L1 = 0.0

    def gap(self, x: Array) -> Array:
        return _total((x - self.centre) ** 2) / 2

    def grad(self, x: Array) -> Array:
        return x - self.centre

    def offset(self, L1: float) -> float:
        return 1.0

    @property
    def minimiser(self) -> float:
        return self.centre


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
    minimiser = math.nan

    def gap(self, x: Array) -> Array:
        return array_namespace(x).exp(self.a * x)[:, 0, :]

    def grad(self, x: Array) -> Array:
        return self.a * array_namespace(x).exp(self.a * x)

    def offset(self, L1: float) -> float:
        _enough(self, L1, abs(self.a))
        return 0.0


@dataclass(frozen=True)
class Cosh(Shape):
    """sum_j cosh(a x_j); sharp pair (a^2, |a|), as cosh <= 1 + |sinh|."""

    a: float = 1.0
    infimum = 1.0

    def gap(self, x: Array) -> Array:
        return _total(2 * array_namespace(x).sinh(self.a * x / 2) ** 2)

    def grad(self, x: Array) -> Array:
        return self.a * array_namespace(x).sinh(self.a * x)

    def offset(self, L1: float) -> float:
        _enough(self, L1, abs(self.a))
        return self.a**2


@dataclass(frozen=True)
class PseudoHuber(Shape):
    """2 eps (sqrt(w^2 + y^2) - w) on R; h'' <= 2 eps/w = L0 with any L1 >= 0, and |h'| < 2 eps."""

    eps: float
    w: float
    natural_L1 = 0.0

    def gap(self, x: Array) -> Array:
        y = x[:, 0, :]
        return 2 * self.eps * y * y / ((self.w**2 + y * y) ** 0.5 + self.w)

    def grad(self, x: Array) -> Array:
        return 2 * self.eps * x / (self.w**2 + x * x) ** 0.5

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

    def offset(self, L1: float) -> float:
        _enough(self, L1, self.a)
        return self.l


def _total(x: Array) -> Array:
    return array_namespace(x).sum(x, axis=1)


def _curved(t: Array) -> Array:
    """exp(t) - 1 - t, without cancellation for small t."""
    xp = array_namespace(t)
    small = xp.abs(t) < 1e-2
    s = xp.where(small, t, 0 * t)
    series = s * s / 2 * (1 + s / 3 * (1 + s / 4 * (1 + s / 5 * (1 + s / 6 * (1 + s / 7)))))
    return xp.where(small, series, xp.expm1(t) - t)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Family(RelaxedProblem):
    """Clients whose average is the shape h itself."""

    shape: Shape

    @property
    def x_star(self) -> Array:
        """A minimiser of h, (1, d, 1)."""
        return 0 * self.x_0[:, :, :1] + self.shape.minimiser

    def gap(self, x: Array) -> Array:
        """h(x) - inf h at (1, d, R), as (R,)."""
        return self.shape.gap(x)[0, :]

    def value(self, x: Array) -> Array:
        """Return f = h at (1, d, R), as (R,)."""
        return self.gap(x) + self.d * self.shape.infimum

    def _constants(self, L0: float, L1: float, kappa: float, rho: float) -> RelaxedConstants:
        return RelaxedConstants(L0, L1, kappa, rho, self._sigma(), self._gap_at_start())


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tilted(_Family):
    """f_i = h + b_i'x with sum_i b_i = 0, so f = h; kappa = max |b_i|, rho = 1.

    Every f_i is (L0 + L1 max |b_i|, L1)-smooth, as |grad h| <= |grad f_i| + |b_i|; f is (L0, L1).

    Parameters
    ----------
    b : array (n, d, R) or (n, d, 1)
        The tilts.
    """

    b: Array

    name: str = "tilted"
    per_run: ClassVar[tuple[str, ...]] = ("x_0", "b")

    @classmethod
    def of(cls, shape: Shape, b: ArrayLike, x_0: ArrayLike, noise: Noise | None = None) -> Self:
        """Make the family of tilts (n, d) or (n, d, R), starting at a number, (d,) or (1, d, R).

        Raises
        ------
        Refusal
            If the tilts do not add up to 0, or do not fit the starting point.
        """
        tilts = own_numbers(b, "the tilts")
        tilts = tilts[:, :, None] if tilts.ndim == 2 else tilts
        start = start_at(x_0)
        if tilts.ndim != 3 or tilts.shape[1] != start.shape[1]:
            raise Refusal(f"tilts of shape {tilts.shape} do not fit d = {start.shape[1]}")
        if np.abs(tilts.sum(axis=0)).max() > 1e-12 * np.abs(tilts).max():
            raise Refusal("the tilts do not add up to 0; subtract their mean")
        return cls(shape=shape, x_0=start, noise=noise, b=tilts)

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.b.shape[0])

    def grad(self, x: Array) -> Array:
        """Gradients grad h(x) + b_i, (n, d, R)."""
        return self.shape.grad(x) + self.b

    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants for a given L1, by default the shape's."""
        L1 = self.shape.natural_L1 if L1 is None else L1
        kappa = float(np.max(np.linalg.norm(np.asarray(self.b), axis=1)))
        return self._constants(self.shape.offset(L1) + L1 * kappa, L1, kappa, 1.0)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Multiples(_Family):
    """f_i = c_i h with mean c_i = 1, so f = h; kappa = 0, rho = max |c_i|.

    Every f_i is (max |c_i| L0, L1)-smooth.

    Parameters
    ----------
    c : array (n, 1, 1)
        The factors.
    """

    c: Array

    name: str = "multiples"

    @classmethod
    def of(
        cls, shape: Shape, c: ArrayLike = (1.0,), x_0: ArrayLike = 1.0, noise: Noise | None = None
    ) -> Self:
        """Make the family of factors (n,); x_0 is a number, (d,), or (1, d, R) for R runs.

        Raises
        ------
        Refusal
            If the mean of the factors is not 1.
        """
        factors = own_numbers(c, "the factors")
        if abs(factors.mean() - 1) > 1e-12:
            raise Refusal(f"the mean of the factors is {factors.mean():g}; it must be 1")
        start = start_at(x_0)
        return cls(shape=shape, x_0=start, noise=noise, c=factors[:, None, None])

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.c.shape[0])

    def grad(self, x: Array) -> Array:
        """Gradients c_i grad h(x), (n, d, R)."""
        return self.c * self.shape.grad(x)

    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants for a given L1, by default the shape's."""
        L1 = self.shape.natural_L1 if L1 is None else L1
        rho = float(array_namespace(self.c).max(array_namespace(self.c).abs(self.c)))
        return self._constants(rho * self.shape.offset(L1), L1, 0.0, rho)


def stalemate(gamma: float = 2.0) -> Tilted:
    """Two parabolas between which CELGC with I = 1, eta = 1 and this threshold does not move.

    f_1 = x^2/2 - (gamma + 1) x and f_2 = x^2/2 + (gamma + 2) x up to a constant, x_0 = 0, x* =
    -1/2. At every x in [-2, 1] both clients clip, to gamma and -gamma. (L0, L1, kappa, rho) =
    (1, 0, gamma + 3/2, 1).
    Source: Crawshaw, Bao, Liu, ICLR 2023 (EPISODE), the example of section 3.
    """
    tilt = gamma + 1.5
    return Tilted.of(Square(-0.5), [[-tilt], [tilt]], 0.0)


def crossed_cosh(X: ArrayLike, noise: Noise | None = None, *, n: int = 4) -> Tilted:
    """Return f_i = sum_j cosh(x_j) + b_i'x, the b_i = +-3 e_j, d = n/2, x_0 = (X, -X, X, ...).

    X is a number, or an array (1, 1, R) for R runs.
    """
    X, d = own_numbers(X, "the numbers X").reshape(1, 1, -1), max(n // 2, 1)
    signs = (-1.0) ** np.arange(2 * d)
    b = 3 * signs[:, None] * np.repeat(np.eye(d), 2, axis=0)
    return Tilted.of(Cosh(), b, signs[None, :d, None] * X, noise)


def tilted_wells(
    kappa: ArrayLike, noise: Noise | None = None, *, n: int = 20, d: int = 5
) -> Tilted:
    """Return f_i = sum_j (x_j^4/4 + x_j^2/2) + b_i'x, x_0 = (3, ..., 3), n even.

    The b_i are kappa times random unit vectors in +- pairs; kappa is a number, or an array
    (1, 1, R) for R runs.
    """
    scale = own_numbers(kappa, "the numbers kappa").reshape(1, 1, -1)
    require_memory(n * d, f"{n} vectors of {d} features")
    vectors = np.random.default_rng(0).standard_normal((n // 2, d, 1))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Tilted.of(Well(), scale * np.concatenate([vectors, -vectors]), np.full(d, 3.0), noise)


def hard_instances(
    M: ArrayLike, Delta: float, eps: float, L0: float = 1.0, L1: float = 1.0
) -> tuple[Multiples, Multiples, Multiples]:
    """Return the three instances that no step size and threshold of clipped minibatch SGD fits.

    Explosion (three times phi), clipping bias (5 phi, -phi, -phi), both with |f'(x_0)| = M, and a
    slow slope (three pseudo-Hubers, |h'| < 2 eps, h(y_0) <= Delta). All are (L0, L1)-smooth, n = 3.

    Parameters
    ----------
    M : number or array (1, 1, R)
        The gradient norm at the start of the first two.
    Delta, eps : float
        The gap at the start of the third, and the gradient norm that is aimed at.

    Raises
    ------
    Refusal
        If M is below L0/L1, the slope from which phi is steep, or another number is not positive.
    """
    M = own_numbers(M, "the numbers M").reshape(1, 1, -1)
    if not (min(Delta, eps, L0, L1) > 0 and (M >= L0 / L1).all()):
        raise Refusal(
            f"M = {M.min():g}, Delta = {Delta:g}, eps = {eps:g} is not possible; give M >= L0/L1 = "
            f"{L0 / L1 if L1 else math.inf:g} and positive numbers"
        )
    explosion = (1 + np.log(M * L1 / L0)) / L1
    bias = (1 + np.log(5 * M * L1 / L0)) / L1
    w = 2 * eps / L0
    slow = np.full((1, 1, 1), Delta / (2 * eps))
    equal = (1.0, 1.0, 1.0)
    return (
        Multiples.of(Steep(L0, L1), equal, explosion),
        Multiples.of(Steep(L0 / 5, L1), (5.0, -1.0, -1.0), bias),
        Multiples.of(PseudoHuber(eps, w), equal, slow),
    )
