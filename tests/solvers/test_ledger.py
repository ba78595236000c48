"""The ledger adds bits, gradients and synchronisations; masks count what they let through."""

from itertools import product

import array_api_strict
import numpy as np
import pytest

from certibit.solvers.simulation.ledger import Ledger, let_through

SHAPE = (4, 3, 5)
ALL = np.arange(3)


@pytest.mark.parametrize("shape", list(product(*((1, size) for size in SHAPE))))
@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_a_mask_counts_as_often_as_it_is_stretched(shape, xp):
    mask = np.random.default_rng(0).random(shape) < 0.5
    expected = np.broadcast_to(mask, SHAPE).sum(axis=(0, 1))
    found = let_through(xp.asarray(mask), SHAPE)
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_the_server_waits_once_between_two_broadcasts():
    """A message or a broadcast of no bits is none."""
    ledger = Ledger(3)
    for up, down in (([8, 0, 8], 0), ([8, 8, 0], 0), ([0, 0, 0], [16, 0, 16]), ([8, 8, 0], 16)):
        ledger.up(ALL, np.array(up))
        ledger.down(ALL, np.array(down))
    np.testing.assert_array_equal(ledger.uplink_bits, [24, 16, 8])
    np.testing.assert_array_equal(ledger.downlink_bits, [32, 16, 32])
    np.testing.assert_array_equal(ledger.synchronisations, [2, 1, 1])


def test_some_runs_count_and_others_do_not():
    ledger = Ledger(3)
    ledger.up(ALL[1:], 4)
    ledger.evaluate(ALL[:2], 7, 7)
    np.testing.assert_array_equal(ledger.uplink_bits, [0, 4, 4])
    np.testing.assert_array_equal(ledger.gradients, [7, 7, 0])
    np.testing.assert_array_equal(ledger.reached("uplink_bits", ALL, 4), [False, True, True])


def test_a_ledger_that_is_resumed_goes_on_where_the_other_ended():
    first, second = Ledger(2), Ledger(2)
    first.up(ALL[:2], 5)
    second.resume(first.spent)
    first.evaluate(ALL[:2], 1, 1)
    second.up(ALL[:2], 5)
    np.testing.assert_array_equal(second.uplink_bits, [10, 10])
    np.testing.assert_array_equal(second.synchronisations, [1, 1])
    np.testing.assert_array_equal(second.gradients, [0, 0])
