"""Which vectors others follow from does not depend on last bits."""

import numpy as np
import pytest
import scipy.linalg

from certibit.theory.worlds.independent import independent


def test_none_of_none():
    assert independent(np.zeros((0, 3)), 1e-9) == []
    assert independent(np.array([]), 1e-9) == []
    assert independent(np.zeros((2, 3)), 1e-9) == []


def test_what_is_hardly_independent_follows_or_not():
    vectors = np.array([[1.0, 0.0], [1.0, 1e-5]])
    assert independent(vectors, 1e-4) == [0]
    assert independent(vectors, 1e-6) == [0, 1]


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_lengths_do_not_matter(size):
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((4, 6)) * np.array([size, 1.0, 1.0, 1 / size])[:, None]
    assert independent(vectors, 1e-9) == [0, 1, 2, 3]


@pytest.mark.parametrize("size", [1e-15, 1e-12])
def test_rounding_does_not_choose(size):
    """Three of the squares and products of two numbers: which, pivots of equal length would say."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 3))
    forms = [np.outer(v, v).ravel() for v in (a, b, a + b, a - b, 2 * a)]
    vectors = np.array(forms)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found, pivots = set(), set()
    for _ in range(200):
        other = vectors * (1 + size * rng.standard_normal(vectors.shape))
        found.add(tuple(independent(other, 1e-9)))
        _, _, order = scipy.linalg.qr(other.T, mode="economic", pivoting=True)
        pivots.add(tuple(sorted(order[:3].tolist())))
    assert len(found) == 1
    assert len(next(iter(found))) == 3
    assert len(pivots) > 1  # what the product did
