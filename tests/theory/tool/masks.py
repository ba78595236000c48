"""Checks of the bits of masked messages, for masks over clients, entries or runs."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, common_if
from certibit.solvers.compressors.base import Identity
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams
from certibit.theory.verdict import Verdict, worst_of

_SHAPE = (3, 4, 2)
_BITS = 32


class _Bounded(Ledger):
    """A ledger that records the stated upper bounds of the bits of messages."""

    most = math.inf

    def up(self, runs: Any, bits: Any, busiest: Any, most: int | None = None) -> None:
        self.most = math.inf if most is None else most
        super().up(runs, bits, busiest, most)


def masks_counted(seed: int = 0) -> Verdict:
    """Check the bits of masked messages against the entries that arrive, entry by entry.

    A mask may have one entry along clients, features or runs that applies to all. The upper bound
    of a message's bits that devices use must not be smaller than these bits.
    """
    generator, found = np.random.default_rng(seed), [(0.0, "")]
    v = np.ones(_SHAPE)
    n, _, runs = _SHAPE
    for shape in product(*((1, length) for length in _SHAPE)):
        mask = common_if((), generator.random(shape) < 0.6)
        ledger = _Bounded(runs)
        channel = Channel(n, Identity(), np.arange(runs), Streams(range(runs)), ledger, v[:1])
        ways: list[tuple[str, Callable[..., Any], NDArray[np.int64], Array, Array]] = [
            ("sent", channel.send, ledger.uplink_bits, v, mask),
            ("broadcast", channel.broadcast, ledger.downlink_bits, v[:1], mask),
        ]
        if shape[1] == 1:
            ways.append(("compressed", channel.uplink, ledger.uplink_bits, v, mask))
        for what, way, spent, vector, let in ways:
            before = spent.copy()
            way(vector, let)
            through = np.broadcast_to(let, _SHAPE).sum(axis=(0, 1))
            off = float(np.max(np.abs(spent - before - _BITS * through)))
            found.append((off, f"what is {what} through a mask {shape} is off by {off:g} bits"))
            short = max(0.0, float(np.max(spent - before)) - ledger.most)
            found.append((short, f"the most that may be {what} is {short:g} bits short"))
    worst, what = worst_of(found)
    advice = f"Of vectors {_SHAPE}, {what}: look at how the channel counts a mask."
    return Verdict("bits through masks", worst, 0.0, f"{len(found) - 1} messages", advice)
