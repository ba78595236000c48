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


@pytest.mark.parametrize("n", [1, 2, 3, 60])
@pytest.mark.parametrize("stored", [rows.sparse, rows.dense])
def test_every_client_has_its_own_rows_and_point(stored, n):
    """Row s of client i is 1 at feature s mod 3 and i + 1 at feature 3; x_i = (i + 1) (1, 2, 3, 4).

    A shared point is (1, 2, 3, 4) for all; run r has r + 1 times either.
    """
    owner, row, run = np.arange(1.0, n + 1)[:, None, None], np.arange(5)[None, :, None], [1.0, 2.0]
    first = np.eye(3)[np.tile(np.arange(5) % 3, n)]
    blocks = stored(scipy.sparse.csr_array(np.column_stack([first, np.repeat(owner, 5)])), n)
    x = np.arange(1.0, 5)[:, None] * run
    products = (row % 3 + 1 + 4 * owner) * run
    np.testing.assert_array_equal(blocks.forward(x[None]), products)
    np.testing.assert_array_equal(blocks.forward(owner * x), owner * products)
    sums = np.broadcast_to(np.array([2.0, 2.0, 1.0])[None, :, None] * owner, (n, 3, 1))
    by_hand = np.concatenate([sums, 5 * owner**2], axis=1) * run
    np.testing.assert_array_equal(blocks.backward(owner * np.ones((n, 5, 1)) * run), by_hand)
