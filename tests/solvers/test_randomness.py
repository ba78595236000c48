"""Named streams: what they give does not depend on the batch, the blocks or the cuts."""

import numpy as np
import pytest

from certibit.solvers.simulation.randomness import Stream, generator


def numbers(seed, count, purpose="coin"):
    return generator(seed, purpose).random(count)


@pytest.mark.parametrize("cuts", [[1] * 10, [3, 7, 5000, 2, 9000, 1], [100_000, 4096, 4096]])
def test_a_stream_is_its_generator_however_it_is_cut(cuts):
    stream = Stream([4, 9], "coin")
    drawn = np.concatenate([stream.draw(np.array([0, 1]), count) for count in cuts])
    np.testing.assert_array_equal(drawn[:, 0], numbers(4, sum(cuts)))
    np.testing.assert_array_equal(drawn[:, 1], numbers(9, sum(cuts)))


def test_runs_that_draw_at_different_times_keep_their_own_numbers():
    rng = np.random.default_rng(0)
    stream, got = Stream(range(5), "coin"), [[] for _ in range(5)]
    for _ in range(400):
        runs = np.flatnonzero(rng.random(5) < 0.4)
        drawn = stream.draw(runs, int(rng.integers(1, 300)))
        for place, run in enumerate(runs):
            got[run].append(drawn[:, place])
    for seed, pieces in enumerate(got):
        together = np.concatenate(pieces)
        np.testing.assert_array_equal(together, numbers(seed, together.size))
