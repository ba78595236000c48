"""Local solves in one compiled pass against those of numpy, all clients at every step."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from test_fused import RUNS, bare_gradients, close, made

from certibit.data.passes.fused import FusedGradients
from certibit.data.passes.fused_solves import solved
from certibit.solvers.local_solve import minimise

SCALE, A, B = 0.7, 0.2, -0.9
EASY = {"accuracy": 0.5, "L": 1.5, "mu": 0.3, "most": 40}
RULES = {
    "easy": EASY,
    "exact": EASY | {"accuracy": 1e-20},
    "once again": EASY | {"accuracy": 1e-8, "most": 4},
    "no steps": EASY | {"most": 0},
    "without momentum": EASY | {"mu": 1.5},
}


@dataclass(frozen=True)
class Given:
    u: np.ndarray


def by_numpy(matrix, start, centre, going, u, rule):
    """Return what is found, and the gradients that are counted."""
    n, counted = len(start), np.zeros(start.shape[2], dtype=np.int64)

    def gradient(y, given, active, problem):
        np.add(counted, active.sum(axis=(0, 1)), out=counted)
        return SCALE * bare_gradients(matrix, n, y) + A * y + B * given.u

    problem = SimpleNamespace(n=n, d=start.shape[1])
    return *minimise(gradient, start, centre, Given(u), going, problem, **rule), counted


def by_pass(matrix, start, centre, going, u, rule):
    losses = FusedGradients.of(matrix, len(start))
    return solved(losses, start, centre, going, SCALE, A, u, B, **rule)


def vectors(n, d, runs, others):
    rng = np.random.default_rng(runs)
    start, centre = rng.standard_normal((n, d, runs)), rng.standard_normal((1, d, runs))
    going = rng.random((n, 1, runs)) < 0.8
    return start, centre, going, rng.standard_normal((others, d, runs))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("shape", [(3, 4, 6, 3), (1, 3, 9, 1), (7, 1, 9, 1), (40, 3, 4, 40)])
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("rule", RULES)
def test_every_client_of_every_run_ends_by_itself(rule, runs, shape):
    n, m, d, others = shape
    matrix, given = made(n, m, d), vectors(n, d, runs, others)
    kept = [x.copy() for x in given]
    expected, found = (way(matrix, *given, RULES[rule]) for way in (by_numpy, by_pass))
    for x, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(x, before)
    for one, other in zip(found[:2], expected[:2], strict=True):
        close(one, other)
    np.testing.assert_array_equal(found[2], expected[2])


@pytest.mark.long
def test_a_run_is_the_same_alone():
    matrix, given = made(20, 3, 5), vectors(20, 5, 9, 20)
    together = by_pass(matrix, *given, EASY)
    for r in range(9):
        alone = [np.ascontiguousarray(x[..., r : r + 1]) for x in given]
        z, change, counted = by_pass(matrix, *alone, EASY)
        np.testing.assert_allclose(z[..., 0], together[0][..., r], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(change[..., 0], together[1][..., r], rtol=1e-14, atol=1e-15)
        assert counted == together[2][r]


@pytest.mark.long
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_client_and_run(value):
    matrix, (start, centre, going, u) = made(4, 3, 5), vectors(4, 5, 3, 4)
    going[:] = True
    u[2, 1, 1] = value
    z, change, counted = by_pass(matrix, start, centre, going, u, EASY)
    whole = np.ones_like(z, dtype=bool)
    whole[2, :, 1] = False
    assert not np.isfinite(change[2, 1, 1])
    assert np.isfinite(z[whole]).all()
    assert np.isfinite(change[whole]).all()
    _, _, expected = by_numpy(matrix, start, centre, going, u, EASY)
    np.testing.assert_array_equal(counted, expected)
