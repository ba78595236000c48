"""The wire against the simulation at every size, up to 130,000 entries."""

import numpy as np

from certibit import Array, Compressor, Refusal
from certibit.solvers.compressors.composition import downward
from certibit.solvers.compressors.wire import Message
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams, generator
from certibit.theory.verdict import Verdict, worst_of

SIZES = (
    (1, 1, 1),
    (3, 5, 2),
    (60, 7, 1),
    (2, 9, 120),
    (400, 2, 1),
    (2, 1000, 2),
    (1, 2**14 + 1, 1),
    (1, 2**16 + 1, 1),
    (1, 2**17 + 1, 1),
)
"""Clients, entries, runs."""

_FEW = 1000


def wire_at_every_size(compressor: Compressor, seed: int = 0) -> Verdict:
    """Check what arrives, and what is counted, with and without the wire, at all ``SIZES``.

    On the wire exactly what the bytes give arrives; without it, exactly the vector of the message.
    The expected message is computed with numbers drawn directly from the stream.
    """
    found: list[tuple[float, str]] = [(0.0, "nothing was sent")]
    largest = 0
    for size in SIZES:
        try:
            compressor.check(size[1])
            found += _at(compressor, size, seed)
            largest = max(largest, size[1])
        except Refusal:  # such as more entries to be kept than there are
            continue
        except MemoryError:
            break
    worst, what = worst_of(found)
    advice = f"{what}: look at uplink, send, broadcast and downlink of the channel, and at layout."
    note = f"up to {largest:,} entries"
    return Verdict("wire and simulation at every size", worst, 0.0, note, advice)


def _at(compressor: Compressor, size: tuple[int, int, int], seed: int) -> list[tuple[float, str]]:
    """Return how far messages of one size are from what should arrive and be counted."""
    n, d, runs = size
    v = np.random.default_rng(seed).standard_normal(size)
    server, layout = downward(compressor), compressor.layout(d)
    message = _message(compressor, v, seed, "compressor")
    answer = _message(server, v[:1], seed, "downlink")
    single = v.astype(np.float32).astype(np.float64)
    answered = server.vector(server.layout(d).transmit(answer), d)
    expected = {
        False: (compressor.vector(message, d), v, server.vector(answer, d)),
        True: (compressor.vector(layout.transmit(message), d), single, answered),
    }
    where = f"n = {n}, d = {d}, {runs} runs"
    found = []
    if d <= _FEW:
        bytes_sent = layout.encode(message).shape[1]
        text = f"a message of {layout.bits} bits has {bytes_sent} bytes, {where}"
        found.append((float(abs(bytes_sent - -(-layout.bits // 8))), text))
    for wire, (sent, plain, answered) in expected.items():
        ledger, streams = Ledger(runs), Streams(range(seed, seed + runs))
        channel = Channel(n, compressor, np.arange(runs), streams, ledger, v[:1], wire)
        way = "on the wire" if wire else "without the wire"
        arrived = {
            "an uplink": (channel.uplink(v), sent),
            "a send": (channel.send(v), plain),
            "a broadcast": (channel.broadcast(v[:1]), plain[:1]),
            "a downlink": (channel.downlink(v[:1]), answered),
        }
        for name, (got, right) in arrived.items():
            off = np.max(np.abs(np.asarray(got) - np.asarray(right)))
            found.append((float(off), f"{name} {way} gives another vector, {where}"))
        up = np.max(np.abs(ledger.uplink_bits - n * (layout.bits + 32 * d)))
        down = np.max(np.abs(ledger.downlink_bits - n * (32 * d + server.layout(d).bits)))
        found.append((float(up), f"bits up are miscounted by {up} {way}, {where}"))
        found.append((float(down), f"bits down are miscounted by {down} {way}, {where}"))
    return found


def _message(compressor: Compressor, v: Array, seed: int, purpose: str) -> Message:
    """Return the message that numbers drawn directly from the streams of a purpose make."""
    n, d, runs = v.shape
    count = compressor.uniforms(d)
    senders = 1 if compressor.shared else n
    drawn = [generator(seed + run, purpose).random(senders * count) for run in range(runs)]
    uniforms = np.stack([row.reshape(senders, count) for row in drawn], axis=2)
    return compressor.message(v, uniforms)
