"""Large sizes and rare values: a test for each, held against the fault that it is there for."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from faults import BY_PART, FAULTS
from planting import planted

from certibit.data.problems.rows import dense, sparse
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.search import setting
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.verdict import Verdict, largest, worst_of
from certibit.theory.worlds.opaque.exact_numbers import rational

ONE = np.array([0])


def counts_are_exact_far_beyond_32_bits():
    ledger = Ledger(1)
    for bits in (3 * 2**40 + 1, np.array([2**40])):
        ledger.up(ONE, bits, bits)
        ledger.down(ONE, bits)
    for column in (ledger.uplink_bits, ledger.busiest_bits, ledger.downlink_bits):
        assert column[0] == 2**42 + 1
    for column in (ledger.gradients, ledger.synchronisations):
        column[ONE] = 2**40
        assert column[0] == 2**40


def waiting_is_counted_once_between_two_broadcasts():
    """Three messages without an answer are one wait; a message after the answer is another."""
    ledger, both = Ledger(2), np.arange(2)
    for _ in range(3):
        ledger.up(both, 32, 32)
    assert ledger.synchronisations.tolist() == [1, 1]
    ledger.down(both, np.array([32, 0]))
    ledger.up(both, np.array([32, 32]), 32)
    assert ledger.synchronisations.tolist() == [2, 1]
    ledger.down(both, 32)
    ledger.up(both, np.array([0, 32]), 32)
    assert ledger.synchronisations.tolist() == [2, 2]


def messages_go_through_their_bytes_at_every_size():
    """A third is no 32-bit float: what arrives is rounded, whatever n, d and R are."""
    for n, d, runs in ((1, 1, 1), (2, 70_000, 1), (300, 7, 5), (3, 1500, 70)):
        v = np.full((n, d, runs), 1 / 3)
        channel = Channel(
            n, compressor("identity"), np.arange(runs), Streams(range(runs)), Ledger(runs),
            v[:1], wire=True,
        )  # fmt: skip
        for received in (channel.uplink(v), channel.send(v), channel.broadcast(v[:1])):
            assert np.all(received == np.float64(np.float32(1 / 3)))


def sparse_and_dense_rows_agree_for_many_clients():
    """Every client has a point of its own, and there are one or several runs."""
    rng = np.random.default_rng(0)
    for n in (3, 51, 130):
        matrix = scipy.sparse.random_array((4 * n, 6), density=0.3, rng=rng, format="csr")
        slow, fast = dense(matrix, n), sparse(matrix, n)
        for runs in (1, 3):
            for x in (rng.standard_normal((n, 6, runs)), rng.standard_normal((1, 6, runs))):
                np.testing.assert_allclose(fast.forward(x), slow.forward(x), atol=1e-12)
                s = rng.standard_normal((n, 4, runs))
                expected = slow.backward(s, 0.5, x)
                np.testing.assert_allclose(fast.backward(s, 0.5, x), expected, atol=1e-12)


def multipliers_of_either_sign_prove_nothing():
    """A tiny negative multiplier of a form that is 0 does no other harm."""
    method = METHODS["gd"].at(where := setting(3, 1.0, 20.0, 2, compressor("identity")))
    proved, functions = certify(method, where), FunctionClass.of(where)
    step = RationalStep.of(method, functions, proved.potential)
    nothing = step.now[0].plus(rational(-1), step.now[0])
    step = replace(step, inequalities={**step.inequalities, "nothing": nothing})
    for y in (Fraction(0), Fraction(1), Fraction(-1, 10**12)):
        told = replace(proved, multipliers={**proved.multipliers, "nothing": y})
        assert told.holds_for(step) == (y >= 0)


def what_is_not_a_number_does_not_hold():
    for value, limit in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.inf)):
        assert not Verdict("", value, limit).holds
    assert largest([1.0, math.nan, 2.0]) == largest([math.nan]) == math.inf
    assert worst_of([(1.0, "a number"), (math.nan, "none")]) == (math.inf, "none")


FROM_THE_CATALOGUE = [
    (counts_are_exact_far_beyond_32_bits, "ledger: 32-bit counters up"),
    (counts_are_exact_far_beyond_32_bits, "ledger: 32-bit counters down"),
    (counts_are_exact_far_beyond_32_bits, "ledger: 32-bit counters of gradients"),
    (counts_are_exact_far_beyond_32_bits, "ledger: 32-bit counters of synchronisations"),
    (waiting_is_counted_once_between_two_broadcasts, "ledger: every message synchronises"),
    (
        waiting_is_counted_once_between_two_broadcasts,
        "ledger: an answer to one run ends the wait of all",
    ),
    (messages_go_through_their_bytes_at_every_size, "wire: left out above 1000 entries"),
    (
        sparse_and_dense_rows_agree_for_many_clients,
        "rows: only the first client's point above n = 50, sparse",
    ),
]

CASES = [
    *(
        (test, next(fault for fault in FAULTS if fault.name == name))
        for test, name in FROM_THE_CATALOGUE
    ),
    *zip(
        (multipliers_of_either_sign_prove_nothing, *3 * (what_is_not_a_number_does_not_hold,)),
        BY_PART["what judges"],
        strict=True,
    ),
]
"""The last are of what judges: on right code nothing is negative and all are numbers."""


@pytest.mark.parametrize("test", dict.fromkeys(test for test, _ in CASES))
def test_right_code(test):
    test()


@pytest.mark.parametrize(("test", "missed"), CASES, ids=[f.name for _, f in CASES])
def test_the_fault_is_seen(test, missed):
    with planted(missed), pytest.raises((AssertionError, OverflowError, TypeError)):
        test()
