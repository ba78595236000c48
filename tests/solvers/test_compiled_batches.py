"""Mini-batches by compiled code are those of the plain code."""

from itertools import product

import numpy as np
import pytest

from certibit import PAGE, SGD, Budget, Experiment, MiniBatch, problem
from certibit.data import batch_rows, mini_batch
from certibit.solvers.fast.fast_world import CompiledBatch, CompiledRows
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.engine import simulate

pytest.importorskip("numba")

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((60, 5)) * (DRAW.random((60, 5)) < 0.5)
Y = np.sign(DRAW.standard_normal(60))
UNEQUAL = np.repeat(["a", "b", "c"], [15, 25, 20])
MADE = {
    "logistic": {"clients": 3, "kappa": 10.0},
    "huber": {"clients": UNEQUAL, "loss": "huber:1", "mu": 0.1, "weighting": "clients"},
    "nonconvex": {"clients": UNEQUAL, "nonconvex": 0.1},
}


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    for name in ("LEAST", "GATHERED"):
        monkeypatch.setattr(batch_rows, name, 0)
    with use_extensions("always"):
        yield


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", MADE)
def test_rows_and_gradients_are_those_of_plain_code(monkeypatch, name, again):
    solved = problem(X, Y, storage="sparse", **MADE[name])
    for b, clients, runs in product((1, 4, 15), (1, 3), (1, 3)):
        monkeypatch.setattr(mini_batch, "FLOYD", 100 * (runs - 1))  # in turn both ways to draw
        plain, law = MiniBatch(b, again), CompiledBatch(b, again)
        uniforms = DRAW.random((runs, 3, law.numbers(solved))).transpose(1, 2, 0)
        x = DRAW.standard_normal((clients, 5, runs))
        batch = law.batch(solved, uniforms)
        assert type(batch.rows) is CompiledRows
        expected = plain.gradient(solved, x, uniforms[:], solved.grad)
        for _ in range(2):
            np.testing.assert_allclose(batch.grad(x), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", [SGD(1e-3), PAGE(gamma=1e-4, p=0.3)], ids=["sgd", "page"])
def test_runs_are_those_without_compiled_code(monkeypatch, method):
    """The fast world takes the compiled law, and its costs are the same."""
    solved = problem(X, Y, storage="sparse", batch=4, **MADE["nonconvex"])
    asked, right = [], CompiledRows.backward
    monkeypatch.setattr(CompiledRows, "backward", lambda *given: asked.append(1) or right(*given))
    found = simulate(Experiment.of(method, solved), seeds=3, budget=Budget(rounds=9))
    assert asked
    with use_extensions("never"):
        expected = simulate(Experiment.of(method, solved), seeds=3, budget=Budget(rounds=9))
    for column, values in expected.columns.items():
        np.testing.assert_allclose(found.columns[column], values, rtol=1e-11, err_msg=column)
