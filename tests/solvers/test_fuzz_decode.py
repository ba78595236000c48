"""Random bytes for every compressor: a message whose bytes are these, or a refusal.

Each of the compressors is tried 10,000 times, 200 messages at once; where these are refused
together, every one of them is tried alone.
"""

from itertools import product

import numpy as np
import pytest
from compressor_cases import ALL, serves
from fuzzing import answer, generators

from certibit import Refusal, compressor
from certibit.solvers.compressors import wire

CLIENTS, RUNS = 20, 10


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", ALL)
def test_random_bytes_are_a_message_or_refused(name):
    sizes = [d for d in (1, 2, 3, 5, 8, 13) if serves(name, d)]
    c = compressor(name)
    for rng in generators(10_000 // (CLIENTS * RUNS)):
        d = int(rng.choice(sizes))
        layout = c.layout(d)
        length = layout.bytes if rng.integers(8) else int(rng.integers(2 * layout.bytes + 1))
        payload = rng.integers(0, 256, (CLIENTS, length, RUNS), dtype=np.uint8)
        if length == layout.bytes and rng.integers(8):
            payload[:, -1] &= 0xFF << (8 * length - layout.bits) & 0xFF  # what fills the last
        shared = tuple(
            rng.integers(0, d, (CLIENTS, count, RUNS))
            for field, count in layout.fields
            if isinstance(field, wire.Shared) and rng.integers(4)
        )
        if decoded(c, d, payload, shared):
            continue
        for client, run in product(range(CLIENTS), range(RUNS)):
            one = slice(client, client + 1), slice(None), slice(run, run + 1)
            decoded(c, d, payload[one], tuple(array[one] for array in shared))


def decoded(c, d, payload, shared):
    """Whether some messages are not refused; then they must be of the right shapes and bytes."""
    layout, (n, _, runs) = c.layout(d), payload.shape
    message, _ = answer(Refusal, layout.decode, payload, shared)
    if message is None:
        return False
    assert [array.shape for array in message] == [(n, count, runs) for _, count in layout.fields]
    assert np.asarray(c.vector(message, d)).shape == (n, d, runs)
    np.testing.assert_array_equal(layout.encode(message), payload)
    return True
