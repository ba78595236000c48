"""Multiple eigenvalues: as exact as simple ones, and never larger by rounding."""

import numpy as np
import pytest
from by_rule import by_rule

from certibit import FunctionClass
from certibit.theory.exact.long_run import slowest_decrease, spectral_radius


def turned(matrix, seed=0):
    """Return a matrix in other orthonormal coordinates, and these."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal(matrix.shape))[0]
    return turn @ matrix @ turn.T, turn


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [0.1, 1.0])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_multiple_eigenvalue(count, size, seed):
    """One vector belongs to all of them: three that are computed are off by 1e-5."""
    block = np.diag([0.5] * count + [0.3, -0.2]) + size * np.diag(np.ones(count + 1), 1)
    matrix, _ = turned(block, seed)
    assert 0 <= 0.5 - spectral_radius(matrix) < 1e-11


@pytest.mark.parametrize("apart", [1e-10, 1e-6, 1e-3, 0.1])
def test_neighbours_are_not_taken_for_one(apart):
    """Their mean is a bound, and where they are far apart the larger one is a better one."""
    matrix, _ = turned(np.array([[0.5, 1.0, 0.0], [0.0, 0.5 - apart, 1.0], [0.0, 0.0, -0.4]]))
    assert 0 <= 0.5 - spectral_radius(matrix) < min(0.6 * apart, 1e-13 / apart) + 1e-12


def test_a_vector_that_does_not_see_the_largest():
    """Neither the larger neighbour nor a mean with it is the rate at which its powers grow."""
    matrix, turn = turned(np.diag([0.9, 0.8999, 0.3]))
    assert spectral_radius(matrix) == pytest.approx(0.9, abs=1e-14)
    assert spectral_radius(matrix, turn[:, 1]) == pytest.approx(0.8999, abs=1e-14)
    assert spectral_radius(matrix, turn[:, 1] + turn[:, 2]) == pytest.approx(0.8999, abs=1e-14)
    assert spectral_radius(matrix, 0 * turn[:, 1]) == 0


@pytest.mark.parametrize("kappa", [4.0, 10.0, 25.0, 100.0, 1e3, 1e4, 1e6])
def test_the_double_root_of_accelerated_gradient_descent(kappa):
    """Its roots at mu are both 1 - 1/sqrt(kappa); 1 - factor was 2e-4 too large at kappa = 100."""
    method, where = by_rule("agd", 3, kappa, rule="classical")
    found = slowest_decrease(method, FunctionClass.of(where))
    assert found == pytest.approx(1 - (1 - kappa**-0.5) ** 2, rel=1e-11)


def test_equal_eigenvalues_of_which_one_is_seen_have_a_bound():
    """Those that are computed may all be taken for the other one's."""
    assert 0 <= spectral_radius(np.diag([0.5, 0.5, 2.0]), np.array([0.0, 1.0, 0.0])) <= 0.5
