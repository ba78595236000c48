"""Random quadratics of all clients, f_i(x) = (1/2) x'H_i x - <b_i, x>, from which samplers draw."""

import numpy as np
from numpy.typing import NDArray

from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic

Matrices = NDArray[np.float64]
"""Symmetric matrices H_i, (n, d, d), or one, (d, d)."""


def quadratics(
    H: Matrices, generator: np.random.Generator, *, apart: bool = True
) -> NonconvexQuadratic:
    """Return the problem of matrices whose average is positive semidefinite.

    Its minimiser is standard normal, and so are the gradients of the f_i there, less their mean;
    unless clients are ``apart``, these are 0.
    """
    n, d, _ = H.shape
    star, slopes = generator.standard_normal((1, d, 1)), generator.standard_normal((n, d, 1))
    b = H @ star + apart * (slopes - slopes.mean(axis=0))
    start = star + generator.standard_normal((1, d, 1))
    return NonconvexQuadratic(name="drawn", x_0=start, H=H, b=b, minimiser=star)


def random_symmetric(n: int, d: int, generator: np.random.Generator) -> Matrices:
    """Return random symmetric matrices, (n, d, d)."""
    drawn = generator.standard_normal((n, d, d))
    return drawn + np.matrix_transpose(drawn)


def away(n: int, d: int, generator: np.random.Generator) -> Matrices:
    """Return random symmetric matrices of zero sum, (n, d, d)."""
    drawn = random_symmetric(n, d, generator)
    return drawn - drawn.mean(axis=0)


def matrix_of(eigenvalues: NDArray[np.float64], generator: np.random.Generator) -> Matrices:
    """Return a matrix with given eigenvalues and random eigenvectors, (d, d)."""
    d = len(eigenvalues)
    q, _ = np.linalg.qr(generator.standard_normal((d, d)))
    found = (q * eigenvalues) @ q.T
    return (found + found.T) / 2


def bounded_below(H: Matrices) -> Matrices:
    """Move matrices so that the eigenvalues of their average become their absolute values."""
    average = H.mean(axis=0)
    eigenvalues, q = np.linalg.eigh(average)
    return H + (q * np.abs(eigenvalues)) @ q.T - average


def around(D: Matrices, n: int, L: float, generator: np.random.Generator) -> Matrices:
    """Return n matrices with |H_i| <= L and the average D, as far from it as this is sure."""
    E, room = away(n, len(D), generator), max(L - largest_size(D), 0.0)
    return D + E * (room / largest_size(E) if largest_size(E) else 0.0)


def within(H: Matrices, L: float) -> Matrices:
    """Return the matrices, divided by a number if one is larger than L."""
    return H / max(1.0, largest_size(H) / L)


def largest_size(H: Matrices) -> float:
    """Return the largest absolute value of an eigenvalue."""
    return float(np.abs(np.linalg.eigvalsh(H)).max())


def root_mean_square(H: Matrices) -> float:
    """Return the root of the largest eigenvalue of the mean of H_i^2."""
    return float(np.linalg.eigvalsh((H @ H).mean(axis=0))[-1]) ** 0.5
