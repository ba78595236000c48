"""The random choices of the channel: coins, cohorts, owners and messages, alone and together."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.identity import Identity
from bitbound.solvers.world.channel import Channel, Ledger
from bitbound.solvers.world.randomness import Streams
from bitbound.theory.checks.compressor.moments import DEVIATIONS, awkward_vectors
from bitbound.theory.verdict import Verdict


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
    x = np.repeat(awkward_vectors(d, seed)[-1:], n, axis=0).repeat(runs, axis=2)
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
