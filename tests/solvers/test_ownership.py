"""The masks of CompressedScaffnew and TAMUNA, over all their equally likely outcomes."""

from fractions import Fraction
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest

from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Identity
from certibit.solvers.simulation.channel import Channel, ownership_template
from certibit.solvers.simulation.ledger import Ledger
from certibit.theory.cards.compressed_scaffnew import dual_gain, primal_gain

# (d, m, s), four with s d > m, two with s d = m, four with s d < m
TRIPLES = [(3, 4, 2), (5, 5, 3), (2, 3, 3), (4, 6, 5), (3, 6, 2), (2, 6, 3)]
TRIPLES += [(1, 5, 2), (2, 5, 2), (1, 6, 4), (2, 6, 2)]
each_triple = pytest.mark.parametrize(("d", "m", "s"), TRIPLES)


class Orders:
    """Uniform numbers that put the clients in every order, one order per run."""

    def __init__(self, n: int) -> None:
        self.orders = np.array(list(permutations(range(n)))).T / n

    def uniform(self, purpose, runs, shape):
        return self.orders[:, None, runs]


def channel(n: int, d: int) -> Channel:
    """Serve n! runs, one for every order of the clients."""
    runs = factorial(n)
    zero = np.zeros((1, d, runs))
    return Channel(n, Identity(), np.arange(runs), Orders(n), Ledger(runs), zero)


def masks(d: int, m: int, s: int) -> np.ndarray:
    """Return every outcome of the channel's mask, equally likely: (m, d, m!)."""
    return channel(m, d).ownership(s)


@pytest.mark.parametrize("d", range(1, 9))
def test_template_sums(d):
    """Every row has s ones; the columns are as even as can be."""
    for m in range(2, 20):
        for s in range(2, m + 1):
            template = ownership_template(d, m, s)
            assert template.shape == (d, m)
            assert (template.sum(axis=1) == s).all()
            assert set(template.sum(axis=0)) <= {s * d // m, -(-s * d // m)}


def test_geometry_of_both_regimes():
    wrapping = ["110000", "001100", "000011", "110000"]
    single = ["10100000", "01010000"]
    for d, m, rows in ((4, 6, wrapping), (2, 8, single)):
        expected = np.array([[one == "1" for one in row] for row in rows])
        np.testing.assert_array_equal(ownership_template(d, m, 2), expected)


@pytest.mark.parametrize("s", [-1, 0, 1, 6])
def test_impossible_owners_are_refused(s):
    with pytest.raises(Refusal, match="choose s between 2 and 5"):
        ownership_template(3, 5, s)
    with pytest.raises(Refusal, match="at least 2 clients"):
        ownership_template(3, 1, s)


@each_triple
def test_masks_are_the_template_with_permuted_columns(d, m, s):
    template = sorted(ownership_template(d, m, s).T.tolist())
    for mask in np.moveaxis(masks(d, m, s), 2, 0):
        assert sorted(mask.tolist()) == template


@each_triple
def test_owners_are_a_uniform_subset(d, m, s):
    """Each s-subset owns a feature equally often."""
    outcomes = masks(d, m, s)
    runs = outcomes.shape[2]
    for feature in range(d):
        owns = outcomes[:, feature, :]
        for owners in combinations(range(m), s):
            only = np.isin(np.arange(m), owners)[:, None]
            assert (owns == only).all(axis=0).sum() * comb(m, s) == runs


@pytest.mark.parametrize(("m", "s"), sorted({(m, s) for _, m, s in TRIPLES}))
def test_gains(m, s):
    """Of numbers a_i, over all owners: m |average - mean|^2, and the squares about the average."""
    a = [Fraction(i * i + 1) for i in range(m)]
    mean, off, left = sum(a) / m, Fraction(0), Fraction(0)
    for owned in combinations(a, s):
        average = sum(owned) / s
        off += m * (average - mean) ** 2 / comb(m, s)
        left += sum((x - average) ** 2 for x in owned) / comb(m, s)
    spread = sum((x - mean) ** 2 for x in a)
    gains = primal_gain(m, s), dual_gain(m, s)
    assert gains == pytest.approx((float(1 - off / spread), float(left / spread)), rel=1e-14)


@pytest.mark.parametrize(
    ("n", "members", "s", "d"),
    [(4, (1, 2, 3), 2, 2), (5, (0, 2, 4), 2, 1), (5, (0, 1, 3, 4), 3, 3), (5, (1, 4), 2, 2)],
)
def test_masks_within_a_cohort(n, members, s, d):
    """Nobody outside owns anything; the owners are a uniform s-subset of the cohort."""
    inside = np.isin(np.arange(n), members)
    cohort = np.repeat(inside[:, None, None], factorial(n), axis=2)
    outcomes = channel(n, d).ownership(s, cohort)
    assert not outcomes[~inside].any()
    assert (outcomes.sum(axis=0) == s).all()
    for owners in combinations(members, s):
        only = np.isin(np.arange(n), owners)[:, None, None]
        often = (outcomes == only).all(axis=0).sum(axis=1)
        assert (often * comb(len(members), s) == factorial(n)).all()


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 1), (4, 3), (5, 2), (5, 5)])
def test_cohorts_are_uniform_subsets(n, m):
    outcomes = channel(n, 1).cohort(m)[:, 0, :]
    for members in combinations(range(n), m):
        only = np.isin(np.arange(n), members)[:, None]
        assert (outcomes == only).all(axis=0).sum() * comb(n, m) == factorial(n)


@each_triple
def test_masked_bits(d, m, s):
    """Owned entries cost 32 bits each and no index: s d in all, at most ceil(s d/m) a client."""
    w = channel(m, d)
    mask = w.ownership(s)
    v = np.ones((m, d, factorial(m)))
    np.testing.assert_array_equal(w.send(v, mask), mask)
    assert (w.ledger.uplink_bits == 32 * s * d).all()
    assert (w.ledger.busiest_bits == 32 * -(-s * d // m)).all()
    assert mask.sum(axis=1).max() == -(-s * d // m)
