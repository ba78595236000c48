"""Products with the rows of the clients."""

import numpy as np
import scipy.sparse

from bitbound.data.problems import rows


def test_without_the_routines_of_scipy_products_are_the_same(monkeypatch):
    generator = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((6, 5), density=0.5, rng=generator).tocsr()
    s, x = generator.standard_normal((2, 3, 4)), generator.standard_normal((1, 5, 4))
    with_them = rows.sparse(matrix, 2).backward(s, 0.5, x)
    monkeypatch.setattr(rows, "_routines", None)
    without = rows.sparse(matrix, 2).backward(s, 0.5, x)
    by_hand = matrix.toarray().reshape(2, 3, 5).transpose(0, 2, 1) @ s + 0.5 * x
    np.testing.assert_allclose(with_them, by_hand, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(without, by_hand, rtol=1e-13, atol=1e-13)
