"""Checks that random choices are independent over clients, rounds, runs and purposes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit import Array, WithProbability
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import TwoWay
from certibit.solvers.compressors.wire import Layout, Message
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams
from certibit.theory.verdict import Verdict

FALSE_ALARM = 1e-6
"""Probability that the check fails on correct code, by Hoeffding's inequality."""

_CLIENTS, _RUNS, _ROUNDS = 4, 64, 128


@dataclass(frozen=True)
class _Echo(Compressor):
    """The received vector is the first of the ``width`` numbers that are drawn for every entry."""

    width: int = 1
    name = "echo"

    def omega(self, d: int) -> float:
        return 0.0

    def layout(self, d: int) -> Layout:
        return Identity().layout(d)

    def uniforms(self, d: int) -> int:
        return self.width * d

    def message(self, x: Array, uniforms: Array) -> Message:
        return (uniforms[:, : x.shape[1]],)

    def vector(self, message: Message, d: int) -> Array:
        return message[0]

    def variance(self, x: Array) -> Array:
        return 0 * x[:, 0]


def independent_choices(seed: int = 0) -> Verdict:
    """Check that fair choices of different clients, rounds, runs and purposes are jointly fair.

    The parity of every set of independent fair bits is fair. All sets of these bits are tried: the
    coin of a run, of the next round and of the next run, the coin of the schedule, the coins and
    the compressors of some clients and of the server, a member of the cohort and an owner.
    """
    bits = _bits(seed)
    names, draws = list(bits), _RUNS * _ROUNDS
    sums = np.zeros((1, draws // 8), dtype=np.uint8)
    for row in bits.values():
        packed = np.packbits(row.ravel())
        sums = np.concatenate([sums, sums ^ packed])
    odd = np.bitwise_count(sums[1:]).sum(axis=1, dtype=np.int64)
    off = np.abs(odd / draws - 0.5)
    limit = math.sqrt(math.log(2 * len(off) / FALSE_ALARM) / (2 * draws))
    place = int(np.argmax(off))
    chosen = [name for number, name in enumerate(names) if (place + 1) >> number & 1]
    what = chosen[0] if len(chosen) == 1 else f"{', '.join(chosen[:-1])} and {chosen[-1]}"
    advice = (
        f"These choices are not independent and fair: {what}; their parity is odd in "
        f"{odd[place] / draws:.1%} of the draws. Look at the purposes of the streams, and at how "
        "many numbers are drawn for each."
    )
    note = f"{len(off):,} sets, false alarm {FALSE_ALARM:g}"
    return Verdict("choices are independent", float(off[place]), limit, note, advice)


def _bits(seed: int) -> dict[str, NDArray[np.bool_]]:
    """Return fair bits that should be independent, (rounds, runs) each."""
    channel = Channel(
        _CLIENTS, TwoWay(_Echo(), _Echo(_CLIENTS)), np.arange(_RUNS),
        Streams(range(seed, seed + _RUNS)), Ledger(_RUNS), np.zeros((1, 1, _RUNS)),
    )  # fmt: skip

    def drawn(draw: Any) -> NDArray[np.bool_]:
        return np.array([np.asarray(draw(), dtype=bool) for _ in range(_ROUNDS + 1)])

    v = np.zeros((_CLIENTS, 1, _RUNS))
    coin = drawn(lambda: channel.coin(0.5)[0, 0])
    schedule = drawn(lambda: channel.talking(WithProbability(0.5), 1))
    clients = drawn(lambda: channel.client_coins([0.5] * _CLIENTS)[:, 0])
    cohort = drawn(lambda: channel.cohort(_CLIENTS // 2)[0, 0])
    owner = drawn(lambda: channel.ownership(_CLIENTS // 2)[0, 0])
    sent = drawn(lambda: np.asarray(channel.uplink(v))[:, 0] < 0.5)
    answered = drawn(lambda: np.asarray(channel.downlink(v[:1]))[0, 0] < 0.5)
    now, later = slice(0, -1), slice(1, None)
    return {
        "the coin": coin[now],
        "the coin of the next round": coin[later],
        "the coin of the next run": np.roll(coin[now], 1, axis=1),
        "the coin of the schedule": schedule[now],
        **{f"the coin of client {i + 1}": clients[now, i] for i in range(_CLIENTS)},
        "the coin of client 1 in the next round": clients[later, 0],
        "client 1 in the cohort": cohort[now],
        "client 1 in the next cohort": cohort[later],
        "client 1 as an owner": owner[now],
        **{f"the draw of client {i + 1}'s compressor": sent[now, i] for i in range(2)},
        "the next draw of client 1's compressor": sent[later, 0],
        "the draw of the server's compressor": answered[now],
    }
