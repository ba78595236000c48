"""Real phase retrieval with a planted signal: a quartic, (L0, L1)-smooth for every L1 > 0."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.memory import require_memory
from certibit.data.noise import Noise
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import start_at
from certibit.data.relaxed.polynomials import RelaxedProblem


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
        return (2 / self.rows.shape[1]) * (self.rows.mT @ (residual * z))

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
