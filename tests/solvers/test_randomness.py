"""Named streams: what they give does not depend on the batch, the blocks or the cuts."""

import numpy as np
import pytest

from certibit.solvers.simulation.randomness import AHEAD, Stream, Streams, generator


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


def test_purposes_and_seeds_have_streams_of_their_own():
    firsts = {numbers(seed, 1, purpose)[0] for seed in range(20) for purpose in ("a", "b", "c")}
    assert len(firsts) == 60


def test_shape_is_rows_columns_runs():
    drawn = Streams([1, 2, 3]).uniform("mask", np.array([2, 0]), (4, 5))
    assert drawn.shape == (4, 5, 2)
    np.testing.assert_array_equal(drawn[:, :, 0].ravel(), numbers(3, 20, "mask"))
    np.testing.assert_array_equal(drawn[:, :, 1].ravel(), numbers(1, 20, "mask"))


def test_a_stream_looks_uniform():
    """Mean of 10^6 numbers within 5 standard deviations: false alarm below 6e-7."""
    drawn = numbers(0, 1_000_000)
    assert abs(drawn.mean() - 0.5) < 5 * np.sqrt(1 / 12 / drawn.size)


def test_numbers_are_drawn_until_one_is_below():
    """As many as one at a time would be, and other draws go on behind them."""
    streams, runs = Streams([4, 7, 9]), np.arange(3)
    limits, position = np.array([0.5, 0.01, 0.0]), np.zeros(3, dtype=int)
    for most in (1, 5, 1000, AHEAD, 3):
        drawn, found = streams.draw_until("round", runs, limits, np.full(3, most))
        for run, seed in enumerate((4, 7, 9)):
            ahead = numbers(seed, position[run] + most, "round")[position[run] :]
            below = np.flatnonzero(ahead < limits[run])
            assert found[run] == (below.size > 0)
            assert drawn[run] == (below[0] + 1 if below.size else most)
        position += drawn
        np.testing.assert_array_equal(streams.drawn["round"], position)
    following = streams.uniform("round", runs, (1, 2))[0]
    for run, seed in enumerate((4, 7, 9)):
        expected = numbers(seed, position[run] + 2, "round")[position[run] :]
        np.testing.assert_array_equal(following[:, run], expected)
