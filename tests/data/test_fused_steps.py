"""Many steps at once against steps of numpy, one after the other."""

import numpy as np
import pytest
import scipy.sparse
from test_fused import RUNS, bare_gradients, close, made

from certibit.data.passes import dense_steps, fused_steps
from certibit.data.passes.dense_steps import DenseSteps
from certibit.data.passes.fused import FusedGradients
from certibit.data.passes.fused_steps import FusedSteps, powers_and_sums


def steps_of(matrix, n):
    """Return the steps that there are, dense ones where clients have many rows."""
    losses = FusedGradients.of(matrix, n)
    return DenseSteps.of(losses) or FusedSteps.of(losses)


@pytest.fixture(autouse=True)
def a_fifth_full_is_dense(monkeypatch):
    """The made rows are not full."""
    monkeypatch.setattr(dense_steps, "_FULL", 0.2)


SHAPES = [(3, 4, 6), (1, 3, 9), (7, 1, 9), (40, 3, 4)]
MANY_ROWS = [(3, 24, 5), (1, 20, 4), (5, 13, 3)]


@pytest.mark.long(keep=16)
@pytest.mark.parametrize("others", [1, None])
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("shape", SHAPES + MANY_ROWS)
def test_every_run_does_its_own_steps(shape, runs, others):
    n, m, d = shape
    matrix, rng = made(n, m, d), np.random.default_rng(runs)
    x, u = rng.standard_normal((n, d, runs)), rng.standard_normal((others or n, d, runs))
    a, b, c = rng.uniform(0.5, 1, runs), rng.uniform(-1, 1, runs), rng.uniform(-0.3, 0, runs)
    count = rng.integers(0, 12, runs)
    kept = x.copy(), u.copy()
    found = steps_of(matrix, n).after(count, x, u, a, b, c)
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(u, kept[1])
    for step in range(12):
        x = np.where(step < count, a * x + b * u + c * bare_gradients(matrix, n, x), x)
    close(found, x)


@pytest.mark.parametrize("shape", SHAPES + MANY_ROWS)
def test_many_rows_are_the_lanes(shape):
    steps = steps_of(made(*shape), shape[0])
    assert isinstance(steps, DenseSteps) == (shape in MANY_ROWS)


def test_large_or_sparse_rows_are_no_lanes(monkeypatch):
    losses = FusedGradients.of(made(3, 24, 5), 3)
    monkeypatch.setattr(dense_steps, "_LARGEST", 24 * 5 - 1)
    assert DenseSteps.of(losses) is None
    monkeypatch.setattr(dense_steps, "_LARGEST", 24 * 5)
    assert DenseSteps.of(losses) is not None
    monkeypatch.setattr(dense_steps, "_FULL", 0.9)
    assert DenseSteps.of(losses) is None


@pytest.mark.parametrize("a", [1.01, 1.0, 1 - 1e-9, 0.6, 0.3, 0.0, -0.7])
def test_powers_and_sums(a):
    steps = np.array([0, 1, 2, 500])
    powers, sums = powers_and_sums(np.full(4, a), steps)
    np.testing.assert_allclose(powers, a**steps, rtol=1e-12)
    np.testing.assert_allclose(sums, [sum(a**k for k in range(t)) for t in steps], rtol=1e-12)


@pytest.mark.parametrize("m", [3, 24])
def test_a_run_is_the_same_alone(m):
    matrix, rng = made(20, m, 5), np.random.default_rng(0)
    x, u = rng.standard_normal((2, 20, 5, 9))
    a, b, c = np.full((3, 9), [[0.9], [0.1], [-0.1]])
    count, steps = np.arange(9), steps_of(matrix, 20)
    together = steps.after(count, x, u, a, b, c)
    for r in range(9):
        own = slice(r, r + 1)
        alone = (np.ascontiguousarray(v[..., own]) for v in (x, u))
        found = steps.after(count[own], *alone, a[own], b[own], c[own])
        np.testing.assert_allclose(found[..., 0], together[..., r], rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("m", [3, 24])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_run(value, m):
    x = np.random.default_rng(0).standard_normal((4, 5, 3))
    x[2, 1, 1] = value
    one = np.ones(3)
    out = steps_of(made(4, m, 5), 4).after(np.array([3, 4, 5]), x, x, one, 0 * one, -0.1 * one)
    assert not np.isfinite(out[2, 1, 1])
    assert np.isfinite(out[:, :, [0, 2]]).all()


def test_where_they_do_not_pay_there_are_none(monkeypatch):
    assert steps_of(scipy.sparse.csr_array(np.eye(20)), 1) is None
    steps = steps_of(made(3, 4, 6), 3)
    monkeypatch.setattr(fused_steps, "_MOST", 8 * steps.grams.size / steps.losses.rows[2].size)
    assert [runs for runs in (1, 2, 8, 9) if steps.pay(runs)] == [1, 2, 8]
