"""Every row goes to at most one client, equally many to each, by the rule asked for."""

import numpy as np
import pytest

from bitbound.data.errors import Refusal
from bitbound.data.files.splits import shuffled, similarity, split


def labels(N=103, positives=40):
    values = np.where(np.arange(N) < positives, 1.0, -1.0)
    return np.random.default_rng(0).permutation(values)


@pytest.mark.parametrize("rule", ["shuffled", "similarity:0", "similarity:37.5", "similarity:100"])
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


@pytest.mark.parametrize(
    ("rule", "n", "sentence"),
    [
        ("shuffled", 104, "104 clients for 103 rows; choose from 1 to 103 clients"),
        ("shuffled", 0, "0 clients for 103 rows; choose from 1 to 103 clients"),
        ("similarity:101", 4, "a similarity of 101 percent; expected a number from 0 to 100"),
        ("similarity:-1", 4, "a similarity of -1 percent; expected a number from 0 to 100"),
        ("similarity:nan", 4, "a similarity of nan percent; expected a number from 0 to 100"),
        ("similarity:", 4, "the split 'similarity:' is unknown; choose shuffled or"),
        ("similarity", 4, "the split 'similarity' is unknown; choose shuffled or"),
        ("other:3", 4, "the split 'other:3' is unknown; choose shuffled or"),
    ],
)
def test_refusals(rule, n, sentence):
    with pytest.raises(Refusal) as refusal:
        split(labels(), n, rule, 0)
    assert str(refusal.value).startswith(sentence)
