"""The random choices of the channel: coins, cohorts, owners and messages, alone and together."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tool.independence import independent_choices
from tool.masks import masks_counted
from tool.on_device import device_as_host
from tool.sizes import wire_at_every_size

from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams
from certibit.theory.checks.compressor.compression import DEVIATIONS, awkward_vectors
from certibit.theory.verdict import Verdict, worst_of

_LOOK = "look at coin, client_coins, cohort and ownership of the channel"


def channel_checks(
    compressor: Compressor | None = None,
    n: int = 5,
    d: int = 5,
    seed: int = 0,
    draws: int = 10_000,
) -> tuple[Verdict, ...]:
    """Check the channel's random choices: sizes exactly, frequencies within 7 standard errors.

    The choices are coins, cohorts and owners, alone, in pairs and all together, and the messages of
    n clients, which are independent of each other unless the compressor shares its draws. Received
    vectors are compared at every size.
    """
    compressor = Identity() if compressor is None else compressor
    runs = 200
    channel = Channel(
        n, compressor, np.arange(runs), Streams(range(seed, seed + runs)), Ledger(runs),
        np.zeros((1, d, runs)),
    )  # fmt: skip

    def collect(draw: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        return np.array(np.concatenate([draw() for _ in range(draws // runs)], axis=2))

    q = np.linspace(0, 1, n)
    coin = collect(lambda: channel.coin(0.3))[0, 0]
    coins = collect(lambda: channel.client_coins(q.tolist()))[:, 0]
    frequencies = [
        ("a coin", coin.mean(), 0.3),
        ("a coin and the next one", np.mean(coin[:-runs] & coin[runs:]), 0.3**2),
        *((f"the coin of client {i + 1}", coins[i].mean(), q[i]) for i in range(n)),
        *(
            (f"the coins of clients {i + 1} and {i + 2}", np.mean(coins[i] & coins[i + 1]),
             q[i] * q[i + 1])
            for i in range(n - 1)
        ),
    ]  # fmt: skip
    sizes = []
    for m in (1, 3):
        cohort = collect(partial(channel.cohort, m))
        sizes.append((np.max(np.abs(cohort.sum(axis=0) - m)), f"a cohort of {m} has another size"))
        name, both = f"in a cohort of {m}", m * (m - 1) / (n * (n - 1))
        frequencies += [
            (f"client {i + 1} {name}", f, m / n) for i, f in enumerate(cohort.mean(axis=2)[:, 0])
        ]
        frequencies += [(f"two clients {name}", np.mean(a & b), both) for a, b in pairwise(cohort)]
    for s, m in ((2, n), (2, 3), (3, n)):
        cohort = channel.cohort(m)
        owned = collect(partial(channel.ownership, s, cohort))
        cohort = np.tile(cohort, draws // runs)
        name = f"with {s} owners among {m} clients"
        share = owned.sum(axis=1)[cohort[:, 0, :]]
        uneven = max(share.max() - -(-s * d // m), s * d // m - share.min(), 0)
        sizes += [
            (np.max(np.abs(owned.sum(axis=0) - s)), f"an entry has not {s} owners, {name}"),
            (np.count_nonzero(owned & ~cohort), f"a client outside the cohort owns, {name}"),
            (uneven, f"a client owns {share.max()} or {share.min()} of {d} entries, {name}"),
        ]
        if m == n:
            frequencies += [(f"an owner {name}", f, s / n) for f in owned.mean(axis=2).ravel()]
            pair = s * (s - 1) / (n * (n - 1))
            frequencies += [
                (f"two owners of an entry {name}", np.mean(a & b), pair)
                for row in np.moveaxis(owned, 1, 0)
                for a, b in pairwise(row)
            ]
    wrong, what = worst_of(sizes)
    off, rare = worst_of(
        (
            abs(found - p) / (DEVIATIONS * np.sqrt(p * (1 - p) / draws) + 1e-12),
            f"{name} has the frequency {found:.4f}, and the probability should be {p:.4f}",
        )
        for name, found, p in frequencies
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
    shared = "share" if compressor.shared else "do not share"
    advice = (
        f"The mean of {n} messages has the error {squares.mean():.6g}, and should have "
        f"{expected:.6g} as the clients {shared} their draws: look at uplink."
    )
    note = f"{draws} draws, {DEVIATIONS:g} standard errors"
    return (
        Verdict("sizes of cohorts and masks", wrong, 0.0, advice=f"{what}: {_LOOK}."),
        Verdict("frequencies of coins, cohorts, masks", off, 1.0, note, f"{rare}: {_LOOK}."),
        Verdict("variance of the mean message", float(joint), 1.0, note, advice),
        independent_choices(seed),
        device_as_host(seed),
        masks_counted(seed),
        wire_at_every_size(compressor, seed),
    )
