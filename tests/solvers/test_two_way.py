"""Compression on the way down: its bits, its own random numbers, and what is refused."""

import numpy as np
import pytest

from certibit import DIANA, EF21PDIANA, Experiment, Quadratic, Refusal, compressor
from certibit.solvers.compressors.two_way import downward, upward
from certibit.solvers.simulation.simulated_world import simulated_world

PROBLEM = Quadratic.random(3, 6, mu=1.0, L=10.0)
METHOD = EF21PDIANA(gamma=0.001, beta=0.3)
SELECTORS = ["identity", "natural", "top-k:2", "scaled(rand-k:2)", "sign"]


def channel_of(selector, wire=False):
    experiment = Experiment.of(METHOD, PROBLEM, compressor(selector))
    return simulated_world(experiment, [4, 5], wire)[0]


@pytest.mark.parametrize("down", SELECTORS)
def test_every_client_receives_the_bits_that_are_encoded(down):
    channel, wired = (channel_of(f"two-way(rand-k:2;{down})", wire) for wire in (False, True))
    v = np.random.default_rng(0).standard_normal((1, 6, 2))
    sent, received = channel.downlink(v), wired.downlink(v)
    np.testing.assert_allclose(received, sent, rtol=1e-6)
    assert np.shape(sent) == v.shape
    bits = compressor(down).bits(6)
    for each in (channel, wired):
        np.testing.assert_array_equal(each.ledger.downlink_bits, 3 * bits)
        np.testing.assert_array_equal(each.ledger.uplink_bits, 0)


def test_the_server_draws_from_a_stream_of_its_own():
    """What clients send does not depend on whether the server draws, and the other way round."""
    first, second = (channel_of(f"two-way(rand-k:2;{down})") for down in ("identity", "natural"))
    v = np.random.default_rng(0).standard_normal((3, 6, 2))
    second.downlink(v[:1])
    np.testing.assert_array_equal(np.asarray(first.uplink(v)), np.asarray(second.uplink(v)))
    again = channel_of("two-way(natural;natural)")
    down = again.downlink(v[:1])
    assert not np.array_equal(down, np.asarray(again.uplink(v))[:1])
    np.testing.assert_array_equal(down, channel_of("two-way(rand-k:2;natural)").downlink(v[:1]))


def test_a_pair_is_made_again_by_its_name():
    pair = compressor("two-way(rand-k:2;scaled(rand-k:1))")
    assert compressor(pair.name) == pair
    assert (upward(pair).name, downward(pair).name) == ("rand-k:2", "scaled(rand-k:1)")
    assert downward(compressor("natural")).name == "identity"


@pytest.mark.parametrize(
    ("method", "selector", "words"),
    [
        (DIANA(0.01, 0.3), "two-way(rand-k:2;top-k:2)", "broadcasts uncompressed vectors"),
        (METHOD, "two-way(top-k:2;top-k:2)", "biased and ef21p-diana needs an unbiased"),
        (METHOD, "two-way(rand-k:2;rand-k:2)", "is no contraction"),
        (METHOD, "two-way(rand-k:2;top-k:7)", "top-k:7"),
        (METHOD, "two-way(rand-k:2;two-way(natural;natural))", "goes both ways already"),
    ],
)
def test_what_does_not_fit_is_refused(method, selector, words):
    with pytest.raises(Refusal, match=words):
        Experiment.of(method, PROBLEM, compressor(selector))
