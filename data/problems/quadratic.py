"""Random heterogeneous quadratics with prescribed constants and known solution."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certibit.data.arrays import Array, add_scaled, array_namespace
from certibit.data.errors import Refusal
from certibit.data.files.own_data import own_numbers
from certibit.data.memory import require_memory
from certibit.data.numbers import require_possible_kappa
from certibit.data.problem import Constants
from certibit.data.problems.ridge_problem import RidgeProblem
from certibit.data.problems.rows import require_products


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Quadratic(RidgeProblem):
    """f_i(x) = (1/2) (x - c_i)' H_i (x - c_i), in the plain view.

    Parameters
    ----------
    H : array of shape (n, d, d)
        Symmetric positive definite matrices.
    c : array of shape (n, d, 1)
        The minimisers of the f_i.

    Examples
    --------
    >>> from certibit import Quadratic
    >>> Quadratic.random(3, 4, mu=1.0, L=10.0)
    Quadratic('quadratic:d=4@3', n=3, d=4, kappa=10)
    >>> Quadratic.from_arrays([[[2.0]], [[4.0]]], [[0.0], [3.0]]).x_star.item()
    2.0
    """

    H: Array
    c: Array

    @property
    def stated(self) -> Self:
        """The plain view: kappa is max_i L_i over mu of the matrices."""
        return self.plain

    @classmethod
    def from_arrays(
        cls,
        H: NDArray[np.float64],
        c: NDArray[np.float64],
        *,
        name: str = "quadratic",
        seed: int = 0,
    ) -> Self:
        """Make the problem of given matrices (n, d, d) and centres (n, d).

        The solution solves (sum_i H_i) x = sum_i H_i c_i.

        Raises
        ------
        Refusal
            If the shapes do not fit, or if a matrix is not symmetric positive definite.
        """
        H, c = symmetric_matrices(H, c, "centres")
        eigenvalues = np.linalg.eigvalsh(H)
        mu = float(eigenvalues.min())
        if not mu > 0:
            raise Refusal(f"a matrix has the eigenvalue {mu:g}; all have to be positive")
        content = repr(H.shape).encode() + H.tobytes() + c.tobytes()
        return cls._made(H, c, mu, eigenvalues[:, -1], name, seed, content)

    @classmethod
    def _made(
        cls,
        H: NDArray[np.float64],
        c: NDArray[np.float64],
        mu: float,
        L_i: NDArray[np.floating],
        name: str,
        seed: int,
        content: bytes,
    ) -> Self:
        """Make the problem of matrices whose smallest and largest eigenvalues are known.

        ``content`` tells it from others.
        """
        average = H.mean(axis=0)
        pull = np.einsum("nij,nj->i", H, c) / len(H)
        x_star = np.linalg.solve(average, pull)
        x_star += np.linalg.solve(average, pull - average @ x_star)
        return cls(
            name=name,
            seed=seed,
            fingerprint=hashlib.sha256(content).hexdigest(),
            bare=Constants(mu, L_i, float(np.linalg.eigvalsh(average)[-1])),
            ridge=0.0,
            ridge_g=0.0,
            x_star=x_star.reshape(1, -1, 1),
            H=H,
            c=c[:, :, None],
        )

    @classmethod
    def random(
        cls,
        n: int,
        d: int,
        mu: float = 1.0,
        L: float | Sequence[float] | NDArray[np.float64] = 100.0,
        *,
        shared_eigenvectors: bool = False,
        shared_minimiser: bool = False,
        seed: int = 0,
        name: str | None = None,
    ) -> Self:
        """Draw the problem: every H_i has the smallest eigenvalue mu and the largest L_i.

        The other eigenvalues are log-uniform between the two, the eigenvectors uniform on the
        orthogonal group, the centres standard normal.

        Parameters
        ----------
        n, d : int
            Numbers of clients and features.
        mu : float
            Strong convexity of every f_i.
        L : float or array of shape (n,)
            Smoothness of the f_i.
        shared_eigenvectors : bool
            Whether all H_i have the same eigenvectors (and so commute).
        shared_minimiser : bool
            Whether all f_i have the same minimiser.
        seed : int
            Seed of the draw.
        name : str, optional
            By default ``quadratic:d=<d>@<n>``.

        Raises
        ------
        Refusal
            If not 0 < mu <= L_i, or d = 1 and mu is not L_i: one eigenvalue cannot be both; or if
            the machine has not the memory.
        """
        if n < 1 or d < 1:
            raise Refusal(f"a quadratic of {n} clients and {d} features; both are at least 1")
        require_memory(4 * n * (d**2 + 1), f"a quadratic of {n} clients and {d} features")
        smoothness = _per_client(L, n)
        if not (0 < mu <= smoothness.min() and np.isfinite(smoothness).all()):
            raise Refusal(f"mu = {mu:g} and L = {L}; expected 0 < mu <= L_i, all of them finite")
        require_possible_kappa(float(smoothness.max()) / mu)
        if d == 1 and (smoothness != mu).any():
            raise Refusal(
                f"d = 1 leaves one eigenvalue, but mu = {mu:g} is not L = {L}; take d >= 2"
            )
        generator = np.random.default_rng(seed)
        position = generator.random((n, d))
        position[:, 0], position[:, -1] = 0.0, 1.0
        eigenvalues = mu * (smoothness[:, None] / mu) ** position
        q, r = np.linalg.qr(generator.standard_normal((1 if shared_eigenvectors else n, d, d)))
        q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
        H = (q * eigenvalues[:, None, :]) @ np.matrix_transpose(q)
        centres = generator.standard_normal((n, d))
        asked = repr((n, d, float(mu), smoothness.tolist(), shared_eigenvectors, seed))
        asked += " shared minimiser" if shared_minimiser else ""
        return cls._made(
            (H + np.matrix_transpose(H)) / 2,
            np.tile(centres[:1], (n, 1)) if shared_minimiser else centres,
            float(mu),
            smoothness,
            name or f"quadratic:d={d}@{n}",
            seed,
            asked.encode(),
        )

    def _bare_grad(self, x: Array, ridge: float) -> Array:
        return add_scaled(self.H @ (x - self.c), ridge, x)

    def _bare_value(self, x: Array) -> Array:
        step = x - self.c
        return array_namespace(x).sum(step * (self.H @ step), axis=(0, 1)) / (2 * self.n)

    def _bare_gap(self, step: Array) -> Array:
        return array_namespace(step).sum(step * (self.H @ step), axis=(0, 1)) / (2 * self.n)

    def _bare_hessian(self, x: Array) -> Array:
        return array_namespace(x).mean(self.H, axis=0)


def symmetric_matrices(
    H: ArrayLike, vectors: ArrayLike, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return symmetric matrices (n, d, d) and vectors (n, d) of the clients, copied.

    Raises
    ------
    Refusal
        If the shapes do not fit, or a matrix is not symmetric.
    """
    H, vectors = own_numbers(H, "the matrices"), own_numbers(vectors, f"the {name}")
    if H.ndim != 3 or vectors.shape != H.shape[:2] or H.shape[1] != H.shape[2]:
        raise Refusal(
            f"the matrices have the shape {H.shape} and the {name} {vectors.shape};"
            " give (n, d, d) and (n, d)"
        )
    require_products(H, "entry of the matrices")
    require_products(vectors, f"entry of the {name}")
    if not np.array_equal(H, np.matrix_transpose(H)):
        raise Refusal("a matrix is not symmetric; give (H + H') / 2 instead")
    return H, vectors


def _per_client(L: ArrayLike, n: int) -> NDArray[np.float64]:
    values = own_numbers(L, "the numbers L")
    if values.shape not in ((), (n,)):
        raise Refusal(f"L has the shape {values.shape}; give one number or {n}, one per client")
    return np.broadcast_to(values, (n,)).copy()
