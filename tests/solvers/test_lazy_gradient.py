"""Lazy gradients: the same steps as with arrays, nothing evaluated twice, nothing changed."""

import numpy as np
import pytest

import certibit
from certibit import METHODS, Experiment, compressor
from certibit.data.passes.fused import FusedGradients
from certibit.solvers.backend import mean, round_power_of_two, total
from certibit.solvers.compressors.natural import spread_bits
from certibit.solvers.fast import lazy_gradient as module
from certibit.solvers.fast.extension import FastIterations
from certibit.solvers.fast.fast_world import fast_world
from certibit.solvers.fast.lazy_gradient import LazyGradient, lazy_gradient
from certibit.solvers.fast.messages import few_entries, received
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.solvers.state import each

PROBLEM = certibit.problem("breast-cancer@9")
SENT = {"unbiased": ("rand-k:1", "natural", "identity"), "contractive": ("top-k:1",), None: (None,)}
CASES = [
    (name, selector)
    for name, card in METHODS.items()
    for selector in SENT[card.method.needs.compressor]
]
SEEDS = range(5)


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    monkeypatch.setattr(module, "LARGE", 0)


@pytest.fixture
def passes(monkeypatch):
    """The names of the passes over the data, as they are done."""
    done = []
    for name in ("combination", "total", "entries"):
        whole = getattr(FusedGradients, name)

        def counted(self, *arguments, name=name, whole=whole):
            done.append(name)
            return whole(self, *arguments)

        monkeypatch.setattr(FusedGradients, name, counted)
    return done


@pytest.mark.long(keep=4)
@pytest.mark.parametrize(("name", "selector"), CASES)
def test_every_step_is_that_of_numpy(name, selector):
    chosen = compressor(selector) if selector else None
    method = METHODS[name].parameters(PROBLEM, chosen)
    experiment = Experiment.of(method, PROBLEM, chosen)
    (channel, oracle), (_, other) = worlds = [simulated_world(experiment, SEEDS) for _ in range(2)]
    state = method.start(channel.template, oracle, channel)
    method.start(channel.template, other, worlds[1][0])
    fast = FastIterations(method, *fast_world(*worlds[1]), None, True)
    for iteration in range(1, 9):
        kept = each(np.copy, state)
        expected, _ = advance(method, state, oracle, channel, iteration)
        found, *_ = fast.after(state, np.full(len(SEEDS), iteration - 1), 9)
        each(np.testing.assert_array_equal, kept, state)
        each(agree, expected, found)
        assert all(type(x) is np.ndarray for x in vars(found).values())
        state = expected


def gather(x, indices):
    """Return the entries of an array, or of a deferred one without the rest."""
    return x.entries(indices) if hasattr(x, "entries") else np.take_along_axis(x, indices, axis=1)


def agree(expected, found):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * (1e-3 + abs(expected).max()))
    return expected


def gradient(runs=3, shared=False):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1 if shared else PROBLEM.n, PROBLEM.d, runs))
    return x, lazy_gradient(PROBLEM, x), PROBLEM.grad(x)


@pytest.mark.parametrize(("k", "asked"), [(1, "entries"), (2, "combination")])
def test_many_entries_are_found_by_one_pass_over_all(passes, k, asked):
    _, lazy, expected = gradient()
    uniforms = np.random.default_rng(2).random((PROBLEM.n, k, 3))
    indices, values = few_entries(lazy, k, uniforms)
    assert passes == [asked]
    agree(np.take_along_axis(expected, indices, axis=1), values)


OPERATIONS = {
    "scaled": lambda g, x, u: 0.5 * (g * 3),
    "a step": lambda g, x, u: x - 0.1 * (g - u),
    "from a number of runs": lambda g, x, u: u - np.linspace(1, 2, x.shape[2]) * g,
    "two arrays": lambda g, x, u: g - u + 2 * u,
    "shared array": lambda g, x, u: u[:1] - g,
    "the point twice": lambda g, x, u: x + (x + g) + x,
    "negative": lambda g, x, u: -g,
    "other functions": lambda g, x, u: np.abs(g) + g**2,
    "an index": lambda g, x, u: g[1:3, :, 0],
    "both sides": lambda g, x, u: (g - u) - (u - g),
    "a mean": lambda g, x, u: mean(g - u),
    "a total": lambda g, x, u: total(x - g),
    "entries": lambda g, x, u: gather(u - g, np.arange(2 * g.shape[0] * g.shape[2]).reshape(
        g.shape[0], 2, g.shape[2]) % g.shape[1]),
}  # fmt: skip


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_it_is_used_like_an_array(operation, shared):
    x, lazy, written = gradient(shared=shared)
    u = np.random.default_rng(1).standard_normal(written.shape)
    expected = OPERATIONS[operation](written, x, u)
    found = OPERATIONS[operation](lazy, x, u)
    assert found.shape == expected.shape
    agree(expected, np.asarray(found))


def test_a_step_is_one_pass(passes):
    x, *_ = gradient()
    u = np.ones_like(x)
    np.asarray(x - 0.1 * (lazy_gradient(PROBLEM, x) - u))
    assert passes == ["combination"]


def test_means_and_entries_need_no_more(passes):
    x, g, _ = gradient(shared=True)
    mean(g)
    gather(lazy_gradient(PROBLEM, x) - np.ones(g.shape), np.zeros((PROBLEM.n, 1, 3), dtype=int))
    assert passes == ["total", "entries"]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("others", [1, PROBLEM.n])
def test_totals_and_entries_of_what_nobody_else_holds(passes, others, shared):
    x, _, g = gradient(shared=shared)
    u = np.random.default_rng(1).standard_normal((others, *g.shape[1:]))
    indices = np.arange(2 * PROBLEM.n * 3).reshape(PROBLEM.n, 2, 3) % PROBLEM.d
    expected = x - 0.5 * (g - u)
    agree(total(expected), total(x - 0.5 * (lazy_gradient(PROBLEM, x) - u)))
    found = gather(x - 0.5 * (lazy_gradient(PROBLEM, x) - u), indices)
    agree(np.take_along_axis(expected, indices, axis=1), found)
    assert passes == ["total", "entries"]


@pytest.mark.parametrize("first", [np.asarray, mean, lambda v: gather(v, np.zeros((9, 1, 3), int))])
def test_a_gradient_that_is_still_held_is_evaluated_once(passes, first):
    x, g, written = gradient()
    u = np.ones_like(x)
    v = g - u
    first(v)
    agree(written, np.asarray(g))
    agree(written - u, np.asarray(v))
    agree(2 * written, np.asarray(2 * g))
    assert passes == ["combination"]


@pytest.mark.parametrize(
    "x",
    [np.zeros((1, 30, 2), dtype=np.float32), np.zeros((9, 2, 30)).swapaxes(1, 2)],
    ids=["single", "not contiguous"],
)
def test_other_arrays(x):
    lazy = lazy_gradient(PROBLEM, x)
    assert lazy is None or isinstance(lazy, LazyGradient)
    agree(PROBLEM.grad(x), np.asarray(PROBLEM.grad(x) if lazy is None else lazy))


def test_for_other_problems_there_is_none():
    x = np.zeros((1, PROBLEM.d, 1))
    assert lazy_gradient(PROBLEM, x) is not None
    other = certibit.Quadratic.random(3, 4, mu=1.0, L=10.0)
    assert lazy_gradient(other, np.zeros((1, 4, 1))) is None


@pytest.mark.parametrize("d", [1, 3, 4, 7, 30])
def test_compiled_natural_compression_is_that_of_numpy(d):
    rng = np.random.default_rng(d)
    x = rng.standard_normal((5, d, 3)) * 10.0 ** rng.integers(-60, 60, (5, d, 3))
    x.flat[:6] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0**-140]
    uniforms = rng.random((5, min(d, 2), 3))
    found = received(compressor("natural"), x, uniforms)
    expected = round_power_of_two(x, spread_bits(uniforms, d))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("runs", [1, 3, 9])
@pytest.mark.parametrize("shared", [True, False])
def test_lazy_gradients_are_rounded_as_by_the_compressor(runs, shared):
    """Bit for bit."""
    rng, sent, n, d = np.random.default_rng(runs), compressor("natural"), PROBLEM.n, PROBLEM.d
    x, u = rng.standard_normal((1 if shared else n, d, runs)), rng.standard_normal((n, d, runs))
    uniforms = rng.random((n, sent.uniforms(d), runs))
    lazy = lazy_gradient(PROBLEM, x) * 2.0 - u
    found = np.asarray(received(sent, lazy, uniforms))
    np.testing.assert_array_equal(found, sent.compress(np.asarray(lazy), uniforms))
