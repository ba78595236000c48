"""A rank that floats do not decide is refused."""

import numpy as np
import pytest

from certibit import Refusal
from certibit.theory.worlds.ranks import above_zero, null_space


def test_a_null_space_is_orthonormal_and_orthogonal_to_the_rows():
    rows = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1e-17]])
    kernel = null_space(rows)
    assert kernel.shape == (3, 2)
    np.testing.assert_allclose(kernel.T @ kernel, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(rows @ kernel, 0, atol=1e-15)
    assert null_space(np.zeros((2, 3))).shape == (3, 3)


@pytest.mark.parametrize("small", [2e-11, 1e-10, 5e-10])
def test_what_is_neither_0_nor_not_is_refused(small):
    with pytest.raises(Refusal, match="floats do not decide"):
        null_space(np.diag([1.0, small]))


@pytest.mark.parametrize(("sizes", "found"), [([3.0, 1e-6], 2), ([3.0, -1e-15], 1), ([0.0], 0)])
def test_with_a_gap_the_rank_is_that_of_the_larger_ones(sizes, found):
    assert above_zero(np.array(sizes)).sum() == found
