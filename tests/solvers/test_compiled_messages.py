"""What compiled code draws and writes is what numpy does: the same numbers, and the same sums."""

from itertools import product

import numpy as np
import pytest

from certibit import PAGE, SGD, Budget, Experiment, MiniBatch, compressor, problem
from certibit.data import batch_rows, mini_batch
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.fast.fast_world import CompiledBatch, CompiledRows, received
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.engine import simulate

SHAPES = [(1, 1, 1), (5, 7, 3), (40, 8, 1), (6, 8, 5), (3, 5, 64), (2, 200, 1)]


def vectors(shape):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-60, 60, shape)
    if x.size > 8:
        x[0], x[1] = 0.0, np.resize((np.nan, np.inf, -np.inf), x[1].shape)
    return x


def both_ways(sent, x, uniforms):
    """Return what is received by compiled code, and by the compressor's own."""
    with np.errstate(invalid="ignore"):
        return np.asarray(received(sent, x, uniforms)), sent.compress(x, uniforms)


def assert_same(sent, x, uniforms):
    found, expected = both_ways(sent, x, uniforms)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


@pytest.fixture
def loaded():
    with use_extensions("always"):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["rand-k:1", "rand-k:3", "natural"])
def test_messages_are_those_of_numpy(loaded, name, shape):
    n, d, runs = shape
    sent = compressor(name.replace("3", str(min(3, d))))
    x = vectors(shape)
    drawn = np.random.default_rng(1).random((runs, n * sent.uniforms(d)))
    uniforms = drawn.T.reshape(n, -1, runs)  # in the order in which streams give them
    assert_same(sent, x, uniforms)


@pytest.mark.parametrize("stretch", [(1, 3, 4), (5, 3, 1), (1, 3, 1)])
@pytest.mark.parametrize("name", ["rand-k:3", "rand-k:3@shared", "natural"])
def test_what_clients_or_runs_have_alike_is_stretched(loaded, name, stretch):
    sent, x = compressor(name), np.random.default_rng(2).standard_normal((5, 12, 4))
    n, _, runs = stretch
    uniforms = np.random.default_rng(1).random((n, sent.uniforms(12), runs))
    assert_same(sent, x, uniforms)


def test_what_a_subclass_receives_is_its_own(loaded):
    class Doubled(RandK):
        def vector(self, message, d):
            return 2 * super().vector(message, d)

    x, uniforms = np.ones((4, 8, 3)), np.full((4, 1, 3), 0.5)
    np.testing.assert_array_equal(
        received(Doubled(1), x, uniforms), 2 * RandK(1).compress(x, uniforms)
    )


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
