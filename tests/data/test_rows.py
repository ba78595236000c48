"""Products with the rows of the clients."""

import numpy as np
import pytest
import scipy.sparse

from certibit.data.problems import rows


def test_products_are_those_by_hand():
    generator = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((6, 5), density=0.5, rng=generator).tocsr()
    s, x = generator.standard_normal((2, 3, 4)), generator.standard_normal((1, 5, 4))
    by_hand = matrix.toarray().reshape(2, 3, 5).transpose(0, 2, 1) @ s + 0.5 * x
    for stored in (rows.sparse, rows.dense):
        found = stored(matrix, 2).backward(s, 0.5, x)
        np.testing.assert_allclose(found, by_hand, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("density", "kind"), [(0.1, rows.SparseRows), (0.2, rows.DenseRows)])
def test_how_rows_are_stored_does_not_depend_on_time(monkeypatch, density, kind):
    """Whatever a clock says: how rows are stored shows in the last bits of a result."""
    generator = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((300, 14), density=density, rng=generator).tocsr()
    for ticks in (range(100), range(100, 0, -1), generator.random(100)):
        monkeypatch.setattr("time.perf_counter", iter(ticks).__next__)
        assert type(rows.stored(matrix, 30)) is kind


def test_zeros_that_are_written_out_are_not_counted():
    matrix = scipy.sparse.csr_array(np.ones((6, 5)))
    matrix.data[2:] = 0.0
    assert type(rows.stored(matrix, 2)) is rows.SparseRows


def test_a_stack_that_is_too_large_is_not_dense(monkeypatch):
    matrix = scipy.sparse.csr_array(np.ones((6, 5)))
    assert type(rows.stored(matrix, 2)) is rows.DenseRows
    monkeypatch.setattr(rows, "_DENSE_BYTES", 6 * 5 * 8 - 1)
    assert type(rows.stored(matrix, 2)) is rows.SparseRows
