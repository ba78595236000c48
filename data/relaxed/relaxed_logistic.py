"""Two losses of logistic regression that are (L0, L1)-smooth: with a margin, and robust."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np
import scipy

from certibit.data.arrays import Array, array_namespace, fetched
from certibit.data.errors import Refusal
from certibit.data.memory import require_memory
from certibit.data.noise import Noise
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import start_at
from certibit.data.relaxed.relaxed_problem import RelaxedProblem


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MarginLogistic(RelaxedProblem):
    """f_i(x) = (1/m) sum_j log(1 + exp(-b_ij'x)), separable: b_ij'u >= margin for a unit u.

    With p = 1/(1 + exp(b'x)) and R = max |b_ij|: |Hess f_i| <= R^2 mean_j p and |grad f_i| >=
    margin mean_j p, hence (0, R^2/margin)-smooth; and (R^2/4, 0) as p (1 - p) <= 1/4. Further
    |grad f_i| <= R mean_j p <= (n R/margin) |grad f|, so kappa = 0. The infimum 0 is not attained.

    Parameters
    ----------
    rows : array (n, m, d)
        The b_ij, features times labels.
    margin : float
        Of the separating direction.
    """

    rows: Array
    margin: float

    name: ClassVar[str] = "margin-logistic"

    @classmethod
    def random(
        cls, n: int, m: int, d: int, *, margin: float = 0.5, seed: int = 0,
        noise: Noise | None = None,
    ) -> Self:  # fmt: skip
        """Make one whose margin is that of the first unit vector; runs start at 0.

        Raises
        ------
        Refusal
            If the machine has not the memory.
        """
        require_memory(n * m * d, f"{n} clients with {m} rows of {d} features")
        rows = np.random.default_rng(seed).standard_normal((n, m, d))
        rows[:, :, 0] = margin + np.abs(rows[:, :, 0])
        return cls(x_0=start_at(np.zeros(d)), noise=noise, rows=rows, margin=margin)

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.rows.shape[0])

    @property
    def x_star(self) -> Array:
        """NaN, (1, d, 1): the infimum is not attained."""
        return self.x_0 * math.nan

    def grad(self, x: Array) -> Array:
        """-(1/m) sum_j p b, (n, d, R)."""
        p = _sigmoid(-(self.rows @ x))
        return self.rows.mT @ p / -self.rows.shape[1]

    def value(self, x: Array) -> Array:
        """Return f at (1, d, R), as (R,)."""
        return array_namespace(x).mean(_softplus(-(self.rows @ x)), axis=(0, 1))

    def gap(self, x: Array) -> Array:
        """Return f at (1, d, R), as (R,): the infimum is 0."""
        return self.value(x)

    @cached_property
    def _radius(self) -> float:
        return float(np.linalg.norm(fetched(self.rows), axis=2).max())

    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants; L0 is 0 from L1 = R^2/margin on, the default, and R^2/4 below."""
        enough = self._radius**2 / self.margin
        L1 = enough if L1 is None else L1
        L0 = 0.0 if enough <= L1 else self._radius**2 / 4
        rho = max(1.0, self.n * self._radius / self.margin)
        return RelaxedConstants(L0, L1, 0.0, rho, self._sigma(), self._gap_at_start())


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RobustLogistic(RelaxedProblem):
    """Distributionally robust logistic loss with a penalised divergence, in its dual form.

    F(x, e) = lam mean_j psi((l_j(x) - G e)/lam) + G e on one machine, l_j = log(1 + exp(-b_j'x)),
    with G = max |b_j| and L = G^2/4: each l_j is G-Lipschitz and L-smooth. As d_e F = G (1 - mean
    psi'), mean psi' <= 1 + |grad F|/G. With psi'' <= 1/2 (chi-square, psi = ((t + 2)_+)^2/4 - 1):
    (L + G^2/lam, L/G); with psi'' = psi' (KL, psi = e^t - 1): (K, K/G), K = L + 2 G^2/lam.

    Parameters
    ----------
    rows : array (1, m, d)
        The b_j, features times labels.
    penalty : float
        lam.
    divergence : "chi-square" or "kl"
        Which psi.
    minimiser : array (1, d + 1, 1)
        The solution (x, e).
    """

    rows: Array
    penalty: float
    divergence: Literal["chi-square", "kl"]
    minimiser: Array

    name: ClassVar[str] = "robust-logistic"
    n: ClassVar[int] = 1

    @classmethod
    def random(
        cls, m: int, d: int, *, penalty: float = 1.0,
        divergence: Literal["chi-square", "kl"] = "chi-square", seed: int = 0,
        noise: Noise | None = None,
    ) -> Self:  # fmt: skip
        """Make one with normal rows; runs start at 0, and the solution is found by BFGS.

        Raises
        ------
        Refusal
            If m < 4d: the data could be separable, and there would be no solution.
        """
        if m < 4 * d:
            raise Refusal(f"m = {m} rows are too few for d = {d}; give at least {4 * d}")
        require_memory(m * d, f"{m} rows of {d} features")
        rows = np.random.default_rng(seed).standard_normal((1, m, d))
        start = start_at(np.zeros(d + 1))
        problem = cls(
            x_0=start, noise=noise, rows=rows, penalty=penalty, divergence=divergence,
            minimiser=start,
        )  # fmt: skip

        def value(x: Array) -> float:
            return float(problem.value(start_at(x))[0])

        def slope(x: Array) -> Array:
            return problem.grad(start_at(x))[0, :, 0]

        found = scipy.optimize.minimize(
            value,
            np.zeros(d + 1),
            jac=slope,
            method="BFGS",
            options={"gtol": 1e-10, "maxiter": 10_000},
        )
        return cls(
            x_0=start, noise=noise, rows=rows, penalty=penalty, divergence=divergence,
            minimiser=start_at(found.x),
        )  # fmt: skip

    @property
    def x_star(self) -> Array:
        """The solution (x, e), (1, d + 1, 1)."""
        return self.minimiser

    @cached_property
    def G(self) -> float:  # noqa: N802  (the paper's symbol)
        """The Lipschitz constant of the losses."""
        return float(np.linalg.norm(fetched(self.rows), axis=2).max())

    def grad(self, x: Array) -> Array:
        """Gradient in (x, e), (1, d + 1, R)."""
        xp = array_namespace(x)
        z = self.rows @ x[:, :-1, :]
        slopes = self._psi_slope(self._argument(x))
        by_x = self.rows.mT @ (slopes * _sigmoid(-z)) / -self.rows.shape[1]
        by_e = self.G * (1 - xp.mean(slopes, axis=1, keepdims=True))
        return xp.concat([by_x, by_e], axis=1)

    def value(self, x: Array) -> Array:
        """Return F at (1, d + 1, R), as (R,)."""
        xp = array_namespace(x)
        t = self._argument(x)
        psi = xp.expm1(t) if self.divergence == "kl" else self._psi_slope(t) ** 2 - 1
        return self.penalty * xp.mean(psi, axis=1)[0, :] + self.G * x[0, -1, :]

    def gap(self, x: Array) -> Array:
        """Return F - min F at (1, d + 1, R), as (R,), accurate to rounding of F."""
        return self.value(x) - self.value(self.minimiser)

    def _argument(self, x: Array) -> Array:
        losses = _softplus(-(self.rows @ x[:, :-1, :]))
        return (losses - self.G * x[:, -1:, :]) / self.penalty

    def _psi_slope(self, t: Array) -> Array:
        xp = array_namespace(t)
        return xp.exp(t) if self.divergence == "kl" else xp.where(t > -2, t / 2 + 1, 0 * t)

    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants for the natural L1 or a larger one.

        Raises
        ------
        Refusal
            If L1 is smaller.
        """
        G, smooth = self.G, self.G**2 / 4
        if self.divergence == "kl":
            L0 = smooth + 2 * G**2 / self.penalty
            least = L0 / G
        else:
            L0, least = smooth + G**2 / self.penalty, smooth / G
        L1 = least if L1 is None else L1
        if least > L1:
            raise Refusal(f"no L0 is known for L1 = {L1:g}; give {least:g} or more")
        return RelaxedConstants(L0, L1, 0.0, 1.0, self._sigma(), self._gap_at_start())


def _sigmoid(z: Array) -> Array:
    xp = array_namespace(z)
    half = xp.exp(-xp.abs(z))
    return xp.where(z >= 0, 1 + 0 * z, half) / (1 + half)


def _softplus(z: Array) -> Array:
    """log(1 + exp(z)) without overflow."""
    xp = array_namespace(z)
    return xp.where(z > 0, z, 0 * z) + xp.log1p(xp.exp(-xp.abs(z)))
