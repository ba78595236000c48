"""Random quadratics with indefinite matrices whose average is positive definite."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from certibit.data.arrays import Array, array_namespace, fetched
from certibit.data.errors import Refusal
from certibit.data.memory import require_memory
from certibit.data.problem import Constants
from certibit.data.problems.nonconvex_problem import NonconvexProblem, start_at
from certibit.data.problems.quadratic import symmetric_matrices

SPREAD = 1.0
"""The default distance of the matrices to their average."""
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NonconvexQuadratic(NonconvexProblem):
    """f_i(x) = (1/2) x' H_i x - b_i' x with symmetric H_i whose average is positive semidefinite.

    L_i = |H_i|, L_f = lambda_max of the average, and mu = min_i lambda_min(H_i), below 0 for those
    of :meth:`from_arrays` and :meth:`random`. The average has a minimiser, which is known.

    Parameters
    ----------
    name : str
        The selector that makes the problem.
    H : array of shape (n, d, d)
        Symmetric matrices.
    b : array of shape (n, d, 1)
        The b_i.
    minimiser : array of shape (1, d, 1)
        A minimiser of the average.

    Examples
    --------
    >>> from certibit import problem
    >>> problem("quadratic:d=5@4:nonconvex")
    NonconvexQuadratic('quadratic:d=5@4:nonconvex', n=4, d=5)
    """

    name: str = ""
    H: Array
    b: Array
    minimiser: Array

    @classmethod
    def from_arrays(
        cls, H: ArrayLike, b: ArrayLike, x_0: ArrayLike = 0.0, *, name: str = "nonconvex quadratic"
    ) -> Self:
        """Make the problem of given matrices (n, d, d) and vectors (n, d).

        Raises
        ------
        Refusal
            If the shapes do not fit, a matrix is not symmetric, none has a negative eigenvalue, or
            the average is not bounded below.
        """
        H, b = symmetric_matrices(H, b, "vectors")
        if not np.linalg.eigvalsh(H).min() < 0:
            raise Refusal("no matrix has a negative eigenvalue; make a Quadratic, which is convex")
        average, pull = H.mean(axis=0), b.mean(axis=0)
        eigenvalues, vectors = np.linalg.eigh(average)
        least = _ROUNDING * np.abs(H).max() * len(average)
        along, flat = vectors.T @ pull, eigenvalues <= least
        most = _ROUNDING * np.abs(b).max() * len(average)
        if eigenvalues[0] < -least or np.abs(along[flat]).max(initial=0.0) > most:
            raise Refusal(
                f"the average has the least eigenvalue {eigenvalues[0]:.3g} and is not bounded "
                "below; give matrices with a positive definite average"
            )
        x = vectors[:, ~flat] @ (along[~flat] / eigenvalues[~flat])
        start = np.broadcast_to(start_at(x_0).ravel(), x.shape).reshape(1, -1, 1)
        return cls(name=name, x_0=start, H=H, b=b[:, :, None], minimiser=x.reshape(1, -1, 1))

    @classmethod
    def random(
        cls, n: int, d: int, *, spread: float = SPREAD, kappa: float = 100.0, seed: int = 0
    ) -> Self:
        """Draw matrices H_i = D + E_i with sum_i E_i = 0.

        The eigenvalues of the average D are log-uniform from 1/kappa to 1, both attained; the E_i
        are random symmetric matrices with max_i |E_i| = spread; the b_i are standard normal. Runs
        start at 0.

        Parameters
        ----------
        n, d : int
            Numbers of clients, at least 2, and of features.
        spread : float
            Distance of the matrices to their average.
        kappa : float
            Condition number of the average.
        seed : int
            Seed of the draw.

        Raises
        ------
        Refusal
            If n or d is below 2, no matrix has a negative eigenvalue because the spread is too
            small, or the machine has not the memory.
        """
        if n < 2 or d < 2:
            raise Refusal(
                f"a nonconvex quadratic of {n} clients and {d} features; both are at least 2"
            )
        if not (0 < spread < math.inf and 1 <= kappa < math.inf):
            raise Refusal(
                f"spread = {spread:g} and kappa = {kappa:g}; give spread > 0 and kappa >= 1"
            )
        require_memory(5 * n * d**2, f"a quadratic of {n} clients and {d} features")
        generator = np.random.default_rng(seed)
        position = generator.random(d)
        position[0], position[-1] = 0.0, 1.0
        q, r = np.linalg.qr(generator.standard_normal((d, d)))
        q *= np.sign(np.diagonal(r))
        average = (q * kappa ** (position - 1)) @ q.T
        drawn = generator.standard_normal((n, d, d))
        away = drawn + np.matrix_transpose(drawn)
        away -= away.mean(axis=0)
        away *= spread / np.linalg.norm(away, 2, axis=(1, 2)).max()
        H = average + away
        H = (H + np.matrix_transpose(H)) / 2
        chosen = "" if spread == SPREAD else f"={float(spread)!r}"
        name = f"quadratic:d={d}@{n}:nonconvex{chosen}"
        return cls.from_arrays(H, generator.standard_normal((n, d)), name=name)

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.H.shape[0])

    @cached_property
    def constants(self) -> Constants:
        """The constants, exact up to rounding; mu is negative."""
        H = fetched(self.H)
        eigenvalues = np.linalg.eigvalsh(H)
        L_f = float(np.linalg.eigvalsh(H.mean(axis=0))[-1])
        return Constants(float(eigenvalues.min()), np.abs(eigenvalues).max(axis=1), L_f)

    @property
    def x_star(self) -> Array:
        """A minimiser of f, (1, d, 1)."""
        return self.minimiser

    def grad(self, x: Array) -> Array:
        """Gradients H_i x - b_i at (n, d, R), or at one point (1, d, R), as (n, d, R)."""
        return self.H @ x - self.b

    def value(self, x: Array) -> Array:
        """f(x) at shared points (1, d, R), as an array (R,)."""
        products = x * (0.5 * (self.H @ x) - self.b)
        return array_namespace(x).sum(products, axis=(0, 1)) / self.n

    def gap(self, x: Array) -> Array:
        """f(x) - min f = (1/2) (x - x*)' H (x - x*), H the average; (1, d, R) to (R,)."""
        xp = array_namespace(x)
        step = x - self.minimiser
        return xp.sum(step * (xp.mean(self.H, axis=0) @ step), axis=(0, 1)) / 2

    def __repr__(self) -> str:
        return f"NonconvexQuadratic({self.name!r}, n={self.n}, d={self.d})"
