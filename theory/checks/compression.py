"""What a compressor says about itself against what it does: moments, constants, bytes.

And the same for the random choices of the channel: coins, cohorts, owners.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.identity import Identity
from bitbound.solvers.world.channel import Channel, Ledger
from bitbound.solvers.world.randomness import Streams
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
    vectors = _vectors(d, seed)
    with np.errstate(all="ignore"):
        return (
            *_moments(compressor, vectors, seed, draws),
            _constants(compressor, vectors),
            _bytes(compressor, vectors, seed),
        )


def _vectors(d: int, seed: int) -> NDArray[np.float64]:
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


def channel_checks(
    compressor: Compressor | None = None, n: int = 5, d: int = 5, seed: int = 0, draws: int = 10_000
) -> tuple[Verdict, ...]:
    """Check the channel's random choices: sizes exactly, frequencies within 7 standard errors.

    The choices are coins, cohorts and owners, alone and in pairs, and the messages of n clients,
    which are independent of each other unless the compressor shares its draws.
    """
    compressor = Identity() if compressor is None else compressor
    runs = 200
    channel = Channel(
        n, compressor, np.arange(runs), Streams(range(seed, seed + runs)), Ledger(runs),
        np.zeros((1, d, runs)),
    )  # fmt: skip

    def collect(draw: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([draw() for _ in range(draws // runs)], axis=2)

    q = np.linspace(0, 1, n)
    coin = collect(lambda: channel.coin(0.3))[0, 0]
    coins = collect(lambda: channel.client_coins(q.tolist()))[:, 0]
    frequencies = [
        (coin.mean(), 0.3),
        (np.mean(coin[:-runs] & coin[runs:]), 0.3**2),  # one draw after the other, run by run
        *zip(coins.mean(axis=1), q, strict=True),
        *((np.mean(coins[i] & coins[i + 1]), q[i] * q[i + 1]) for i in range(n - 1)),
    ]
    wrong = 0
    for m in (1, 3):
        cohort = collect(partial(channel.cohort, m))
        wrong += int(np.any(cohort.sum(axis=0) != m))
        frequencies += [(f, m / n) for f in cohort.mean(axis=2)[:, 0]]
        both = m * (m - 1) / (n * (n - 1))
        frequencies += [(np.mean(a & b), both) for a, b in pairwise(cohort)]
    for s, m in ((2, n), (2, 3), (3, n)):
        cohort = channel.cohort(m)
        owned = collect(partial(channel.ownership, s, cohort))
        cohort = np.tile(cohort, draws // runs)
        wrong += int(np.any(owned.sum(axis=0) != s) or np.any(owned & ~cohort))
        share = owned.sum(axis=1)[cohort[:, 0, :]]
        wrong += int(share.max() > -(-s * d // m) or share.min() < s * d // m)
        if m == n:
            frequencies += [(f, s / n) for f in owned.mean(axis=2).ravel()]
            pair = s * (s - 1) / (n * (n - 1))
            frequencies += [
                (np.mean(a & b), pair) for row in np.moveaxis(owned, 1, 0) for a, b in pairwise(row)
            ]
    off = max(
        abs(found - p) / (DEVIATIONS * np.sqrt(p * (1 - p) / draws) + 1e-12)
        for found, p in frequencies
    )
    x = np.repeat(_vectors(d, seed)[-1:], n, axis=0).repeat(runs, axis=2)
    errors = collect(lambda: channel.uplink(x) - x).mean(axis=0)
    squares = np.sum(errors**2, axis=0)
    variance = np.sum((compressor.mean(x) - x)[0, :, 0] ** 2)
    own = compressor.variance(x[:1, :, :1]).item() - variance
    expected = variance + own / (1 if compressor.shared else n)
    joint = abs(squares.mean() - expected) / (
        DEVIATIONS * squares.std() / np.sqrt(draws) + 1e-9 * np.sum(x[0, :, 0] ** 2)
    )
    note = f"{draws} draws, {DEVIATIONS:g} standard errors"
    return (
        Verdict("sizes of cohorts and masks", float(wrong), 0.0),
        Verdict("frequencies of coins, cohorts, masks", float(off), 1.0, note),
        Verdict("variance of the mean message", float(joint), 1.0, note),
    )
