"""Problems whose smoothness may grow with the gradient; polynomials, and EPISODE's quartics.

A function h is (L0, L1)-smooth if |Hess h(x)| <= L0 + L1 |grad h(x)| for all x. The problems here
have what the engine asks of a problem, no ridge, a starting point and, if wanted, gradient noise.
The relaxed smoothness of polynomials of one variable is exact.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.files.own_data import own_numbers
from certibit.data.memory import require_memory
from certibit.data.noise import Noise
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import NonconvexProblem, start_at


@dataclass(frozen=True, eq=False, kw_only=True)
class RelaxedProblem(NonconvexProblem):
    """Minimise f = (1/n) sum_i f_i with (L0, L1)-smooth f_i, perhaps not convex."""

    @abstractmethod
    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants for a given L1, by default for that of the problem's family."""

    @cached_property
    def constants(self) -> RelaxedConstants:
        """The constants for the natural L1."""
        return self.relaxed()

    def __repr__(self) -> str:
        runs = max(getattr(self, name).shape[2] for name in self.per_run)
        constants = (
            f"{runs=}" if runs > 1 else f"L0={self.constants.L0:.4g}, L1={self.constants.L1:.4g}"
        )
        return f"{type(self).__name__}(n={self.n}, d={self.d}, {constants}, noise={self.noise})"

    def _sigma(self) -> float:
        return float(getattr(self.noise, "sigma", 0.0))

    def _gap_at_start(self) -> float:
        return float(array_namespace(self.x_0).max(self.gap(self.x_0)))


def smallest_offset(coefficients: Sequence[float], L1: float) -> float:
    """Return the smallest L0 with |p''| <= L0 + L1 |p'| everywhere, for degree >= 2 and L1 > 0.

    |p''| - L1 |p'| is largest where p' = 0 or p''' = +- L1 p'', or is nowhere positive.

    Parameters
    ----------
    coefficients : sequence of float
        Of 1, x, x^2, ...
    """
    first = Polynomial(coefficients).deriv()
    second, third = first.deriv(), first.deriv(2)
    places = [first.roots(), (third - L1 * second).roots(), (third + L1 * second).roots()]
    x = np.concatenate(places)
    x = x.real[np.abs(x.imag) <= 1e-7 * (1 + np.abs(x))]
    return float(max(0.0, np.max(np.abs(second(x)) - L1 * np.abs(first(x)), initial=0.0)))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Quartics(RelaxedProblem):
    """EPISODE's synthetic problem: two quartics whose heterogeneity grows with H.

    f_1 = x^4 - 3x^3 + H x^2 + x,  f_2 = x^4 - 3x^3 - 2H x^2 + x, so
    f = x^4 - 3x^3 - (H/2) x^2 + x and f_i' - f' = 3Hx and -3Hx.

    With rho = 2 the best kappa is 3 H x*: the supremum of 3H|x| - |f'(x)| is at x*.
    Source: Crawshaw, Bao, Liu, ICLR 2023 (EPISODE), section 5. The paper names no start; x_0 = 1 is
    our choice, and is what the authors' script takes.

    Parameters
    ----------
    H : array (1, 1, R) or (1, 1, 1)
        The heterogeneity.
    minimiser : array (1, 1, R) or (1, 1, 1)
        The global minimiser of f.

    Examples
    --------
    >>> from certibit import Quartics
    >>> Quartics.of(H=8)
    Quartics(n=2, d=1, L0=100.7, L1=2, noise=None)
    """

    H: Array
    minimiser: Array

    name: str = "episode-quartics"
    per_run: ClassVar[tuple[str, ...]] = ("x_0", "H", "minimiser")
    n: ClassVar[int] = 2

    @classmethod
    def of(cls, H: ArrayLike, *, x_0: float = 1.0, noise: Noise | None = None) -> Self:
        """Make the problem for one H, or for one in every run, (1, 1, R).

        Raises
        ------
        Refusal
            If an H is not positive.
        """
        values = own_numbers(H, "the numbers H").reshape(1, 1, -1)
        if not (values > 0).all():
            raise Refusal(f"H = {values.min()} is not possible; give positive numbers")
        return cls(x_0=start_at(x_0), noise=noise, H=values, minimiser=_largest_root(values))

    @property
    def x_star(self) -> Array:
        """The global minimiser of f, (1, 1, R) or (1, 1, 1)."""
        return self.minimiser

    def grad(self, x: Array) -> Array:
        """f_i' = 4x^3 - 9x^2 + 2Hx + 1 and 4x^3 - 9x^2 - 4Hx + 1."""
        slopes = array_namespace(x).concat([2 * self.H, -4 * self.H], axis=0)
        return ((4 * x - 9) * x + slopes) * x + 1

    def value(self, x: Array) -> Array:
        """Return f at (1, 1, R), as (R,)."""
        return ((((x - 3) * x - self.H / 2) * x + 1) * x)[0, 0, :]

    def gap(self, x: Array) -> Array:
        """Taylor's formula at x*: s^2 (f''(x*)/2 + (4x* - 3) s + s^2) with s = x - x*."""
        star = self.minimiser
        half = 6 * star * star - 9 * star - self.H / 2
        s = x - star
        return (s * s * (half + (4 * star - 3) * s + s * s))[0, 0, :]

    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the least L0 with which f_1, f_2, f are (L0, L1)-smooth; L1 = 2 by default."""
        if self.H.shape[2] > 1:
            raise Refusal("the constants are those of one H; make the problem for that H alone")
        H, L1 = float(self.H[0, 0, 0]), 2.0 if L1 is None else L1
        L0 = max(smallest_offset((0, 1, c, -3, 1), L1) for c in (H, -2 * H, -H / 2))
        kappa = 3 * H * float(self.minimiser[0, 0, 0])
        return RelaxedConstants(L0, L1, kappa, 2.0, self._sigma(), self._gap_at_start())


def _largest_root(H: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest root of 4x^3 - 9x^2 - Hx + 1, by Newton's method from the right of it."""
    x = 3 + np.sqrt(H)
    for _ in range(60):
        x = x - (((4 * x - 9) * x - H) * x + 1) / ((12 * x - 18) * x - H)
    return x


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PhaseRetrieval(RelaxedProblem):
    """f_i(x) = (1/(2m)) sum_j (y_ij - (a_ij'x)^2)^2 with y_ij = (a_ij'x*)^2; min f = 0.

    With Lambda = |mean |a|^2 a a'|, Y = |mean y a a'|, lam = smin(mean a a')^2 and s = |x|:
    |Hess| <= 6 Lambda s^2 + 2Y and |grad| >= 2 (lam s^3 - Y s), the latter by the inner product
    with x/s and Jensen. Where the latter is positive, s^2 >= Y/lam, the bound of |Hess| - L1 |grad|
    is largest at the root s0 of its derivative, or at once; before that it increases.

    Parameters
    ----------
    rows : array (n, m, d)
        The a_ij.
    signal : array (1, d, 1)
        The planted x*.
    """

    rows: Array
    signal: Array

    name: str = "phase-retrieval"

    @classmethod
    def random(cls, n: int, m: int, d: int, *, seed: int = 0, noise: Noise | None = None) -> Self:
        """Make one with normal rows and a unit signal; runs start at a random point of length 3.

        Raises
        ------
        Refusal
            If m < d, as L0 would not be finite; or if the machine has not the memory.
        """
        if m < d:
            raise Refusal(f"m = {m} rows per client are too few for d = {d}; give at least {d}")
        require_memory(n * m * d, f"{n} clients with {m} rows of {d} features")
        generator = np.random.default_rng(seed)
        signal, start = generator.standard_normal((2, d))
        return cls(
            x_0=start_at(3 * start / np.linalg.norm(start)),
            noise=noise,
            rows=generator.standard_normal((n, m, d)),
            signal=start_at(signal / np.linalg.norm(signal)),
        )

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.rows.shape[0])

    @property
    def x_star(self) -> Array:
        """The planted signal, (1, d, 1); its negative is as good."""
        return self.signal

    def grad(self, x: Array) -> Array:
        """(2/m) sum_j ((a'x)^2 - y)(a'x) a, (n, d, R)."""
        z = self.rows @ x
        residual = (self.rows @ (x - self.signal)) * (self.rows @ (x + self.signal))
        transposed = array_namespace(self.rows).matrix_transpose(self.rows)  # cupy has no mT
        return (2 / self.rows.shape[1]) * (transposed @ (residual * z))

    def value(self, x: Array) -> Array:
        """Return f at (1, d, R), as (R,)."""
        residual = (self.rows @ (x - self.signal)) * (self.rows @ (x + self.signal))
        return array_namespace(x).mean(residual * residual, axis=(0, 1)) / 2

    def gap(self, x: Array) -> Array:
        """Return f at (1, d, R), as (R,): the minimum is 0."""
        return self.value(x)

    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants for a given L1 > 0, by default 1; kappa and rho are not known."""
        L1 = 1.0 if L1 is None else L1
        y = np.asarray(self.rows @ self.signal)[:, :, 0] ** 2
        L0 = max(_offset(rows, values, L1) for rows, values in zip(self.rows, y, strict=True))
        return RelaxedConstants(L0, L1, sigma=self._sigma(), Delta=self._gap_at_start())


def _offset(rows: NDArray[np.float64], y: NDArray[np.float64], L1: float) -> float:
    m = len(rows)
    squares = (rows**2).sum(axis=1)
    Lambda = np.linalg.norm(rows.T @ (squares[:, None] * rows) / m, 2)
    Y = np.linalg.norm(rows.T @ (y[:, None] * rows) / m, 2)
    lam = np.linalg.eigvalsh(rows.T @ rows / m)[0] ** 2
    s0 = (12 * Lambda + math.sqrt(144 * Lambda**2 + 48 * L1**2 * lam * Y)) / (12 * L1 * lam)
    s = max(s0, math.sqrt(Y / lam))
    return float(2 * Y + 6 * Lambda * s**2 - 2 * L1 * (lam * s**3 - Y * s))
