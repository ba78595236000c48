"""Random bytes for every compressor: a message that is these bytes, or a refusal.

Each of the 21 compressors is tried 500 times, 10,500 in all, not 10,000 times: that would take
some 80 s of one core.
"""

import numpy as np
import pytest
from compressor_cases import ALL, serves
from fuzzing import answer, generators

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors import wire
from bitbound.solvers.compressors.selector import compressor


@pytest.mark.parametrize("name", ALL)
def test_random_bytes_are_a_message_or_refused(name):
    sizes = [d for d in (1, 2, 3, 5, 8, 13) if serves(name, d)]
    c = compressor(name)
    for rng in generators(500):
        d, n, runs = int(rng.choice(sizes)), *rng.integers(1, 3, 2).tolist()
        layout = c.layout(d)
        length = layout.bytes if rng.integers(8) else int(rng.integers(2 * layout.bytes + 1))
        payload = rng.integers(0, 256, (n, length, runs), dtype=np.uint8)
        shared = [
            rng.integers(0, d, (n, count, runs))
            for field, count in layout.fields
            if isinstance(field, wire.Shared) and rng.integers(4)
        ]
        message, _ = answer(Refusal, layout.decode, payload, tuple(shared))
        if message is None:
            continue
        expected = [(n, count, runs) for _, count in layout.fields]
        assert [array.shape for array in message] == expected
        assert np.asarray(c.vector(message, d)).shape == (n, d, runs)
        again = layout.decode(layout.encode(message), tuple(shared))
        for first, second in zip(message, again, strict=True):
            np.testing.assert_array_equal(first, second)
