"""Client families with closed constants: tilts f_i = h + b_i'x and multiples f_i = c_i h."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.files.own_data import own_numbers
from certibit.data.noise import Noise
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import start_at
from certibit.data.relaxed.polynomials import RelaxedProblem
from certibit.data.relaxed.shapes import Cosh, PseudoHuber, Shape, Square, Steep, Well, unit_vectors


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

    name: ClassVar[str] = "tilted"
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

    name: ClassVar[str] = "multiples"

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


def crossed_cosh(X: ArrayLike, noise: Noise | None = None) -> Tilted:
    """Return f_i = cosh(x_1) + cosh(x_2) + b_i'x, b = (+-3, 0) and (0, +-3), x_0 = (X, -X).

    X is a number, or an array (1, 1, R) for R runs.
    """
    X = own_numbers(X, "the numbers X").reshape(1, 1, -1)
    start = np.concatenate([X, -X], axis=1)
    return Tilted.of(Cosh(), [[3, 0], [-3, 0], [0, 3], [0, -3]], start, noise)


def tilted_wells(
    kappa: ArrayLike, noise: Noise | None = None, *, n: int = 20, d: int = 5
) -> Tilted:
    """Return f_i = sum_j (x_j^4/4 + x_j^2/2) + b_i'x, x_0 = (3, ..., 3), n even.

    The b_i are kappa times random unit vectors in +- pairs; kappa is a number, or an array
    (1, 1, R) for R runs.
    """
    scale = own_numbers(kappa, "the numbers kappa").reshape(1, 1, -1)
    return Tilted.of(Well(), scale * unit_vectors(n // 2, d, seed=0), np.full(d, 3.0), noise)


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
    """
    M = own_numbers(M, "the numbers M").reshape(1, 1, -1)
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
