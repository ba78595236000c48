"""Vectors where compressors are at their worst, and the moments of messages over draws of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.compressors.base import Compressor
from certibit.theory.verdict import Verdict, largest

DEVIATIONS = 7.0
"""Standard errors that a mean may be off; a normal mean is with probability 3e-12."""

DRAWS = 30_000

Vectors = NDArray[np.float64]


def awkward_vectors(d: int, seed: int) -> Vectors:
    """Return vectors where compressors are at their worst, one client each: (n, d, 1)."""
    generator = np.random.default_rng(seed)
    ternary = np.full(d, 1 / (1 + np.sqrt(d)))
    ternary[-1] = 1.0
    rows = [
        np.ones(d),
        np.eye(d)[0] * -5.0,
        np.full(d, 4 / 3) * (-1.0) ** np.arange(d),
        ternary,
        np.arange(1.0, d + 1),
        np.zeros(d),
        *generator.standard_normal((3, d)),
    ]
    return np.array(rows)[:, :, None]


def draw(
    compressor: Compressor, x: Vectors, seed: int, draws: int
) -> tuple[tuple[NDArray[Any], ...], Vectors]:
    """Return messages and their vectors, in many runs: (n, d, R)."""
    n, d, _ = x.shape
    senders = 1 if compressor.shared else n
    uniforms = np.random.default_rng(seed).random((senders, compressor.uniforms(d), draws))
    message = compressor.message(np.repeat(x, draws, axis=2), uniforms)
    received = np.asarray(compressor.vector(message, d))
    if received.shape != (n, d, draws):
        raise ValueError(f"vector returns the shape {received.shape} for {(n, d, draws)}")
    return message, received


def mean_of_messages(compressor: Compressor, d: int, seed: int, draws: int = DRAWS) -> Verdict:
    """Compare the mean over draws with x, or with what a biased compressor says."""
    x = awkward_vectors(d, seed)
    _, received = draw(compressor, x, seed, draws)
    said = (x if compressor.unbiased else compressor.mean(x))[:, :, 0]
    mean, scale = received.mean(axis=2), 1e-9 * np.linalg.norm(x, axis=1)
    spread = received.std(axis=2) / np.sqrt(draws)
    off = np.abs(mean - said) / (DEVIATIONS * spread + scale + 1e-300)
    place = place_of_largest(off)
    text = "which is not x" if compressor.unbiased else f"and mean(x) says {said[place]:.6g}"
    advice = (
        f"The mean of C(x) has {mean[place]:.6g} at entry {place[1] + 1} of x = "
        f"{as_text(x[place[0]])}, {text}: look at the scale in vector, and at probabilities."
    )
    note = f"{draws} draws, {DEVIATIONS:g} standard errors"
    return Verdict("mean of C(x)", largest(off.ravel()), 1.0, note, advice)


def variance_of_messages(compressor: Compressor, d: int, seed: int, draws: int = DRAWS) -> Verdict:
    """Compare the mean of |C(x) - x|^2 over draws with the variance that is stated."""
    x = awkward_vectors(d, seed)
    _, received = draw(compressor, x, seed, draws)
    errors, said = np.sum((received - x) ** 2, axis=1), compressor.variance(x)[:, 0]
    found, scale = errors.mean(axis=1), 1e-9 * np.sum(x**2, axis=(1, 2))
    allowed = DEVIATIONS * errors.std(axis=1) / np.sqrt(draws) + scale + 1e-300
    off = np.abs(found - said) / allowed
    place = place_of_largest(off)
    advice = (
        f"E|C(x) - x|^2 is {found[place]:.6g} at x = {as_text(x[place])}, and variance says "
        f"{said[place]:.6g}: look at message and vector, and at variance."
    )
    note = f"{draws} draws, {DEVIATIONS:g} standard errors"
    return Verdict("variance of C(x)", largest(off), 1.0, note, advice)


def place_of_largest(off: Vectors) -> Any:
    """Return where the largest number stands, NaN before all."""
    place = np.unravel_index(np.argmax(np.nan_to_num(off, nan=np.inf)), off.shape)
    return place if off.ndim > 1 else place[0]


def as_text(x: Vectors) -> str:
    """Write a vector (d, 1)."""
    return f"({', '.join(f'{value + 0.0:.4g}' for value in x[:, 0])})"
