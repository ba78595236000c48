"""Every row goes to at most one client, equally many to each, by the rule asked for."""

import numpy as np
import pytest

from certibit.data.errors import Refusal
from certibit.data.files.splits import dirichlet, shuffled, similarity, split


def labels(N=103, positives=40):
    values = np.where(np.arange(N) < positives, 1.0, -1.0)
    return np.random.default_rng(0).permutation(values)


@pytest.mark.parametrize(
    "rule", ["shuffled", "in-order", "similarity:0", "similarity:37.5", "similarity:100"]
)
@pytest.mark.parametrize("n", [1, 4, 10, 103])
def test_equal_shares_without_repetition(rule, n):
    rows = split(labels(), n, rule, seed=5)
    assert rows.shape == (n, 103 // n)
    assert len(np.unique(rows)) == rows.size
    assert rows.min() >= 0
    assert rows.max() < 103


@pytest.mark.parametrize("rule", ["shuffled", "similarity:50"])
def test_a_split_is_its_seed(rule):
    first, again, other = (split(labels(), 10, rule, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_rows_in_order_are_consecutive():
    np.testing.assert_array_equal(split(labels(), 10, "in-order", 3).ravel(), np.arange(100))


def test_full_similarity_is_the_shuffle():
    np.testing.assert_array_equal(similarity(labels(), 10, 100, 3), shuffled(103, 10, 3))


def test_no_similarity_sorts_all():
    dealt = labels()[similarity(labels(), 10, 0, 3)]
    assert (np.diff(dealt.reshape(-1)) >= 0).all()
    assert sum(len(np.unique(client)) == 2 for client in dealt) <= 1


def test_the_mixed_part_comes_first_and_the_rest_is_sorted():
    dealt = labels()[similarity(labels(), 10, 30, 3)]
    rest = dealt[:, 3:]
    np.testing.assert_array_equal(
        similarity(labels(), 10, 30, 3)[:, :3], shuffled(103, 10, 3)[:, :3]
    )
    assert (np.diff(rest.reshape(-1)) >= 0).all()


def test_discarded_rows_vary_with_the_seed():
    left = {frozenset(range(103)) - set(shuffled(103, 10, seed).flat) for seed in range(20)}
    assert len(left) > 10


@pytest.mark.parametrize("concentration", [0.5, 1.0, 100.0])
@pytest.mark.parametrize("n", [1, 4, 20])
def test_dirichlet_deals_every_row_once(concentration, n):
    shares = dirichlet(labels(), n, concentration, seed=4)
    assert len(shares) == n
    assert min(map(len, shares)) >= 1
    np.testing.assert_array_equal(np.sort(np.concatenate(shares)), np.arange(103))
    again, other = (
        dirichlet(labels(), n, concentration, 4),
        dirichlet(labels(), n, concentration, 5),
    )
    for share, same in zip(shares, again, strict=True):
        np.testing.assert_array_equal(share, same)
    assert n == 1 or any(map(np.array_equal, shares, other)) is False


def test_a_large_concentration_gives_alike_clients_and_a_small_one_does_not():
    def spread(concentration):
        shares = dirichlet(labels(2000, 800), 5, concentration, seed=1)
        return np.std([np.mean(labels(2000, 800)[share] > 0) for share in shares])

    assert spread(1e4) < 0.02
    assert spread(0.2) > 0.2


def test_the_proportions_are_those_of_dirichlet():
    """The share of a class at a client has the variance (n - 1)/(n^2 (n c + 1)); 7 deviations."""
    n, c, draws = 4, 2.0, 400
    first = [len(dirichlet(np.zeros(4000), n, c, seed)[0]) / 4000 for seed in range(draws)]
    variance = (n - 1) / (n**2 * (n * c + 1))
    assert abs(np.mean(first) - 1 / n) < 7 * np.sqrt(variance / draws)
    assert abs(np.var(first) / variance - 1) < 7 * np.sqrt(2 / draws)


@pytest.mark.parametrize(
    ("rule", "n", "sentence"),
    [
        ("shuffled", 104, "104 clients for 103 rows; choose from 1 to 103 clients"),
        ("shuffled", 0, "0 clients for 103 rows; choose from 1 to 103 clients"),
        ("similarity:101", 4, "a similarity of 101 percent; expected a number from 0 to 100"),
        ("similarity:-1", 4, "a similarity of -1 percent; expected a number from 0 to 100"),
        ("similarity:nan", 4, "a similarity of nan percent; expected a number from 0 to 100"),
        ("similarity:", 4, "the split 'similarity:' is unknown; choose shuffled, in-order"),
        ("similarity", 4, "the split 'similarity' is unknown; choose shuffled, in-order"),
        ("other:3", 4, "the split 'other:3' is unknown; choose shuffled, in-order"),
    ],
)
def test_refusals(rule, n, sentence):
    with pytest.raises(Refusal) as refusal:
        split(labels(), n, rule, 0)
    assert str(refusal.value).startswith(sentence)
