"""What a compressor says about itself against what it does: moments, constants, bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.base import Compressor
from bitbound.theory.verdict import Verdict

DEVIATIONS = 7.0
"""Standard errors that a mean may be off; a normal mean is with probability 3e-12."""

_DRAWS = 30_000

_BIASED = "The mean of C(x) is not x, or not what the compressor says: look at its scale."
_VARIANCE = "E|C(x) - x|^2 is not what variance says: look at compress and at variance."
_CONSTANTS = "The variance exceeds what omega or alpha, or omega_av, says: look at these constants."
_BYTES = (
    "A message does not decode to its vector, or has not the bits that are counted: see layout."
)


def compressor_checks(
    compressor: Compressor, d: int = 5, seed: int = 0, draws: int = _DRAWS
) -> tuple[Verdict, ...]:
    """Check a compressor's moments, constants and bytes at awkward vectors of R^d.

    Moments are means over draws, within 7 standard errors; all else is exact.
    """
    compressor.check(d)
    vectors = awkward_vectors(d, seed)
    with np.errstate(all="ignore"):
        return (
            *_moments(compressor, vectors, seed, draws),
            _constants(compressor, vectors),
            _bytes(compressor, vectors, seed),
        )


def awkward_vectors(d: int, seed: int) -> NDArray[np.float64]:
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


def _draw(
    compressor: Compressor, x: NDArray[np.float64], seed: int, draws: int
) -> tuple[tuple[NDArray[Any], ...], NDArray[np.float64]]:
    """Return messages and their vectors, in many runs: (n, d, R)."""
    n, d, _ = x.shape
    senders = 1 if compressor.shared else n
    uniforms = np.random.default_rng(seed).random((senders, compressor.uniforms(d), draws))
    message = compressor.message(np.repeat(x, draws, axis=2), uniforms)
    return message, compressor.vector(message, d)


def _moments(
    compressor: Compressor, x: NDArray[np.float64], seed: int, draws: int
) -> tuple[Verdict, Verdict]:
    """Compare mean and E|C(x) - x|^2 over draws with what the compressor says."""
    _, received = _draw(compressor, x, seed, draws)
    scale = 1e-9 * np.linalg.norm(x, axis=1)
    mean = x if compressor.unbiased else compressor.mean(x)
    # E|C(x) - EC(x)|^2 bounds every standard error; a deviation of one entry is at most the norm.
    spread = received.std(axis=2) / np.sqrt(draws)
    bias = np.abs(received.mean(axis=2) - mean[:, :, 0]) / (DEVIATIONS * spread + scale + 1e-300)
    errors = np.sum((received - x) ** 2, axis=1)
    allowed = DEVIATIONS * errors.std(axis=1) / np.sqrt(draws) + scale[:, 0] ** 2 * 1e9 + 1e-300
    off = np.abs(errors.mean(axis=1) - compressor.variance(x)[:, 0]) / allowed
    note = f"{draws} draws, {DEVIATIONS:g} standard errors"
    return (
        Verdict("mean of C(x)", float(np.max(bias)), 1.0, note, _BIASED),
        Verdict("variance of C(x)", float(np.max(off)), 1.0, note, _VARIANCE),
    )


def _constants(compressor: Compressor, x: NDArray[np.float64]) -> Verdict:
    """Compare the largest relative variance with omega, or with 1 - alpha, and omega_av."""
    n, d, _ = x.shape
    square = np.sum(x**2, axis=(1, 2))
    ratio = compressor.variance(x)[:, 0][square > 0] / square[square > 0]
    bound = compressor.omega(d) if compressor.unbiased else 1 - compressor.alpha(d)
    excess = float(np.max(ratio)) - bound
    if compressor.unbiased:
        joint = compressor.omega(d) if compressor.shared else compressor.omega(d) / n
        excess = max(excess, joint - compressor.omega_av(d, n))
    return Verdict("variance - omega |x|^2", excess, 1e-9, advice=_CONSTANTS)


def _bytes(compressor: Compressor, x: NDArray[np.float64], seed: int) -> Verdict:
    """Check that the bytes of a message give back its vector and are as many as its bits say."""
    d = x.shape[1]
    layout = compressor.layout(d)
    message, received = _draw(compressor, x, seed, 50)
    try:
        payload = layout.encode(message)
        sent = compressor.vector(layout.transmit(message), d)
    except Refusal as refusal:
        return Verdict("bytes of C(x)", float("inf"), 0.0, str(refusal))
    missing = abs(payload.shape[1] - -(-compressor.bits(d) // 8))
    wrong = np.max(np.abs(sent - received)) > 1e-6 * np.max(np.abs(received))
    smallest = _least_bits(message, compressor)
    note = f"{compressor.bits(d)} bits"
    off = float(missing + wrong + max(0, smallest - compressor.bits(d)))
    return Verdict("bytes of C(x)", off, 0.0, note, _BYTES)


def _least_bits(message: tuple[NDArray[Any], ...], compressor: Compressor) -> int:
    """Return log2 of the number of different messages that were seen of one vector."""
    if compressor.shared:
        return 0
    rows = np.concatenate([np.asarray(part, dtype=float) for part in message], axis=1)
    different = max(np.unique(row, axis=1).shape[1] for row in rows)
    return int(np.ceil(np.log2(different)))
