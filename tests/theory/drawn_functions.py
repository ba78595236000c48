"""Quadratics that satisfy an assumption, drawn without the inequality that it states."""

from dataclasses import replace

import numpy as np

from certibit import (
    BoundedDissimilarity,
    MeanSmoothness,
    PolyakLojasiewicz,
    QuasiStrongConvexity,
    Similarity,
)
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.theory.assumptions.assumption import Infimum


def sample(assumption, n, d, L, generator):
    """Return L-smooth quadratics that satisfy it, with equality somewhere if L allows."""
    return LAWS[type(assumption)](assumption, n, d, L, generator)


def infimum(one, n, d, L, generator):
    eigenvalues = generator.uniform(0, min(one.L, L), d)
    eigenvalues[0] = min(one.L, L)
    return quadratics(around(matrix_of(eigenvalues, generator), n, L, generator), generator)


def polyak_lojasiewicz(one, n, d, L, generator):
    eigenvalues = generator.uniform(one.mu, max(one.mu, L), d) * (generator.random(d) < 0.7)
    eigenvalues[0] = one.mu
    return quadratics(around(matrix_of(eigenvalues, generator), n, L, generator), generator)


def quasi_strong_convexity(one, n, d, L, generator):
    eigenvalues = generator.uniform(one.mu, max(one.mu, L), d)
    eigenvalues[0] = one.mu
    return quadratics(around(matrix_of(eigenvalues, generator), n, L, generator), generator)


def mean_smoothness(one, n, d, L, generator):
    """Draw H_i whose mean square has the largest eigenvalue L_tilde^2, or one below it."""
    drawn = random_symmetric(n, d, generator)
    average = drawn.mean(axis=0)
    eigenvalues, q = np.linalg.eigh(average)
    H = drawn + (q * np.abs(eigenvalues)) @ q.T - average
    return quadratics(within(H * (one.L_tilde / root_mean_square(H)), L), generator)


def similarity(one, n, d, L, generator):
    """Draw H_i = D + E_i with sum_i E_i = 0, mean E_i^2 with the largest eigenvalue delta^2."""
    E = away(n, d, generator)
    if n > 1:
        E = within(E * (one.delta / root_mean_square(E)), L)
    room = max(L - float(np.abs(np.linalg.eigvalsh(E)).max()), 0.0)
    return quadratics(E + matrix_of(generator.uniform(0, room, d), generator), generator)


def bounded_dissimilarity(one, n, d, L, generator):
    """Draw H_i = D + E_i with sum_i E_i = 0, mean E_i^2 <= (B^2 - 1) D^2 with equality.

    With zeta > 0 half of it, and gradients of mean square zeta^2/2 at the minimiser.
    """
    part = 2 if one.zeta else 1
    D, E = matrix_of(generator.uniform(0.2, 1.0, d), generator), away(n, d, generator)
    relative = float(np.linalg.norm(np.concatenate(E @ np.linalg.inv(D)), 2)) / n**0.5
    H = D + E * (((one.B**2 - 1) / part) ** 0.5 / relative if relative else 0.0)
    H = (H + np.matrix_transpose(H)) / 2
    drawn = quadratics(H * (L / largest_size(H)), generator, apart=False)
    if not one.zeta:
        return drawn
    slopes = generator.standard_normal((n, d, 1))
    slopes -= slopes.mean(axis=0)
    size = float(np.mean(np.sum(slopes**2, axis=1))) ** 0.5
    return replace(drawn, b=drawn.b + slopes * (one.zeta / (2**0.5 * size) if size else 0.0))


LAWS = {
    Infimum: infimum,
    PolyakLojasiewicz: polyak_lojasiewicz,
    QuasiStrongConvexity: quasi_strong_convexity,
    MeanSmoothness: mean_smoothness,
    Similarity: similarity,
    BoundedDissimilarity: bounded_dissimilarity,
}


def quadratics(H, generator, *, apart=True):
    """Return the problem of matrices (n, d, d) whose average is positive semidefinite.

    Its minimiser is standard normal, and so are the gradients of the f_i there, less their mean;
    unless clients are ``apart``, these are 0.
    """
    n, d, _ = H.shape
    star, slopes = generator.standard_normal((1, d, 1)), generator.standard_normal((n, d, 1))
    b = H @ star + apart * (slopes - slopes.mean(axis=0))
    start = star + generator.standard_normal((1, d, 1))
    return NonconvexQuadratic(name="drawn", x_0=start, H=H, b=b, minimiser=star)


def random_symmetric(n, d, generator):
    drawn = generator.standard_normal((n, d, d))
    return drawn + np.matrix_transpose(drawn)


def away(n, d, generator):
    """Return random symmetric matrices of zero sum, (n, d, d)."""
    drawn = random_symmetric(n, d, generator)
    return drawn - drawn.mean(axis=0)


def matrix_of(eigenvalues, generator):
    """Return a matrix with given eigenvalues and random eigenvectors, (d, d)."""
    d = len(eigenvalues)
    q, _ = np.linalg.qr(generator.standard_normal((d, d)))
    found = (q * eigenvalues) @ q.T
    return (found + found.T) / 2


def around(D, n, L, generator):
    """Return n matrices with |H_i| <= L and the average D, as far from it as this is sure."""
    E, room = away(n, len(D), generator), max(L - largest_size(D), 0.0)
    return D + E * (room / largest_size(E) if largest_size(E) else 0.0)


def within(H, L):
    """Return the matrices, divided by a number if one is larger than L."""
    return H / max(1.0, largest_size(H) / L)


def largest_size(H):
    return float(np.abs(np.linalg.eigvalsh(H)).max())


def root_mean_square(H):
    return float(np.linalg.eigvalsh((H @ H).mean(axis=0))[-1]) ** 0.5
