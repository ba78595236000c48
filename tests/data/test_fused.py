"""Gradients in one compiled pass against products of numpy and scipy."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from certibit.data.problems.rows import dense, sparse
from certibit.solvers.fast.fast_world import FusedGradients, fused_gradients

SHAPES = [(3, 4, 6), (1, 5, 3), (7, 1, 9), (40, 3, 2)]
RUNS = [1, 2, 3, 4, 5, 8, 9, 16, 17, 33]


def made(n, m, d, density=0.4):
    """Rows of which some are empty, and features that some clients, or all, do not have."""
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((n * m, d)) * (rng.random((n * m, d)) < density)
    matrix[0] = matrix[:, -1] = 0.0
    return scipy.sparse.csr_array(matrix)


def bare_gradients(matrix, n, x):
    rows = dense(matrix, n)
    m = rows.shape[1]
    return rows.backward(-1 / m / (1 + np.exp(rows.forward(x))))


def close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-13 * (1 + np.abs(expected).max()))


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_agree_with_numpy(shape, runs):
    n, m, d = shape
    matrix, rng = made(n, m, d), np.random.default_rng(runs)
    fused = FusedGradients.of(matrix, n)
    for senders in (n, 1):
        x = rng.standard_normal((senders, d, runs))
        kept, gradients = x.copy(), bare_gradients(matrix, n, x)
        close(fused.at(x, 1.2), gradients + 1.2 * x)
        close(fused.at(np.asfortranarray(x)), gradients)
        np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("storage", [dense, sparse])
def test_both_storages_have_the_same_pass(storage):
    matrix = made(5, 3, 4)
    x = np.random.default_rng(0).standard_normal((5, 4, 2))
    close(fused_gradients(storage(matrix, 5)).at(x), bare_gradients(matrix, 5, x))


def test_margins_of_every_size():
    """The sigmoid from e^-700 to 1, to 1e-15 relative; beyond, 0 and 1."""
    z = np.concatenate([np.linspace(-800, 800, 4001), np.linspace(-1, 1, 1001), [0.0, 1e300]])
    fused = FusedGradients.of(scipy.sparse.csr_array(np.ones((1, 1))), 1)
    slopes = -fused.at(z[None, None, :]).ravel()
    bounded = np.clip(z, -700, 700)
    np.testing.assert_allclose(slopes, 1 / (1 + np.exp(bounded)), rtol=2e-15, atol=1e-300)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_run(value):
    matrix = made(4, 3, 5)
    x = np.random.default_rng(0).standard_normal((4, 5, 3))
    x[2, 1, 1] = value
    out = FusedGradients.of(matrix, 4).at(x, 1.0)
    assert not np.isfinite(out[2, 1, 1])
    assert np.isfinite(out[:, :, [0, 2]]).all()


@pytest.mark.parametrize("command", ["import certibit", "import certibit.cli"])
def test_numba_is_not_loaded_before_it_is_needed(command):
    code = f"{command}, sys; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", f"import sys; {code}"], check=True)
