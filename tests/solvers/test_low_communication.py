"""DiLoCo, SparseLoCo and DeMo against loops that are written out, with the optimisers of torch."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
from comparisons import assert_same_columns
from worlds import LIBRARIES, PROBLEMS, simulate, world

from certibit import Budget, Refusal, compressor
from certibit.solvers.deep import demo, diloco, sparseloco
from certibit.solvers.deep.demo import DeMo
from certibit.solvers.deep.diloco import DiLoCo
from certibit.solvers.deep.sparseloco import SparseLoCo

ADAMW = {"beta_1": 0.8, "beta_2": 0.95, "weight_decay": 0.1, "epsilon": 1e-3}
SENT = compressor("chunked:4(dct(top-k:1))")
METHODS = {
    "diloco": (DiLoCo(0.05, 3, alpha=0.6, beta=0.7, **ADAMW), None),
    "sparseloco": (SparseLoCo(0.05, 3, alpha=0.9, beta=0.8, **ADAMW), SENT),
    "demo": (DeMo(0.05, 0.9, 0.1), SENT),
}
each_method = pytest.mark.parametrize("name", METHODS)
ROUNDS = 5


def problem():
    return PROBLEMS["quadratic"]().plain


def gradient(client, x):
    return problem().grad(x[None, :, None])[client, :, 0]


def end(name):
    """Return the last model of our own, (d,)."""
    w = world(METHODS[name][0], problem(), METHODS[name][1], seeds=(0,))
    return w.iterate(w.start(), ROUNDS).x[0, :, 0]


class AdamWOfTorch:
    """The local steps of all clients, by torch's own optimiser, which keeps its moments."""

    def __init__(self):
        torch = pytest.importorskip("torch", reason="torch is not installed")
        self.torch, n = torch, problem().n
        self.models = [torch.zeros(problem().d, dtype=torch.float64) for _ in range(n)]
        self.optimisers = [
            torch.optim.AdamW([y], lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1)
            for y in self.models
        ]

    def after(self, x, steps=3):
        """Return the models of all clients after some steps from x, (n, d)."""
        for client, (y, optimiser) in enumerate(zip(self.models, self.optimisers, strict=True)):
            y.data = self.torch.tensor(x)
            for _ in range(steps):
                y.grad = self.torch.tensor(gradient(client, y.numpy()))
                optimiser.step()
        return np.array([y.numpy().copy() for y in self.models])


def test_diloco_is_two_optimisers_of_torch():
    """AdamW on the clients, SGD with Nesterov momentum at the server."""
    inner = AdamWOfTorch()
    x = inner.torch.tensor(problem().x_0[0, :, 0])
    outer = inner.torch.optim.SGD([x], lr=0.6, momentum=0.7, nesterov=True)
    for _ in range(ROUNDS):
        x.grad = inner.torch.tensor(np.mean(x.numpy() - inner.after(x.numpy()), axis=0))
        outer.step()
    np.testing.assert_allclose(end("diloco"), x.numpy(), rtol=1e-12)


def test_sparseloco_keeps_what_is_not_sent():
    inner, x = AdamWOfTorch(), problem().x_0[0, :, 0]
    e = np.zeros((problem().n, problem().d))
    for _ in range(ROUNDS):
        e = 0.8 * e + x - inner.after(x)
        sent = SENT.mean(e[..., None])[..., 0]
        e, x = e - sent, x - 0.9 * sent.mean(axis=0)
    np.testing.assert_allclose(end("sparseloco"), x, rtol=1e-12)


def test_demo_by_hand():
    x, m = problem().x_0[0, :, 0], np.zeros((problem().n, problem().d))
    for _ in range(ROUNDS):
        m = 0.9 * m + problem().grad(x[None, :, None])[..., 0]
        sent = SENT.mean(m[..., None])[..., 0]
        m, x = m - sent, (1 - 0.05 * 0.1) * x - 0.05 * np.sign(sent.mean(axis=0))
    np.testing.assert_allclose(end("demo"), x, rtol=1e-12)


def test_all_sent_sparseloco_is_diloco_without_momentum():
    pair = SparseLoCo(0.05, 3, alpha=0.9, **ADAMW), DiLoCo(0.05, 3, alpha=0.9, beta=0.0, **ADAMW)
    sent = (compressor("top-k:6"), None)
    options = {"seeds": 1, "budget": Budget(rounds=ROUNDS)}
    sparse, dense = (simulate(m, problem(), c, **options) for m, c in zip(pair, sent, strict=True))
    assert_same_columns(sparse.columns, dense.columns, rtol=1e-12, names=["gap", "gradients"])


@each_method
def test_bits_are_those_of_the_messages(name):
    method, sent = METHODS[name]
    trace = simulate(method, problem(), sent, seeds=2, budget=Budget(rounds=4))
    d = problem().d
    assert set(trace.final("uplink_bits")) == {4 * (sent.bits(d) if sent else 32 * d)}
    assert set(trace.final("downlink_bits")) == {4 * 32 * d}
    assert set(trace.final("gradients")) == {4 * getattr(method, "H", 1)}


@pytest.mark.parametrize("library", LIBRARIES)
@each_method
def test_every_library_gives_the_same(name, library):
    method, sent = METHODS[name]
    options = {"seeds": 2, "budget": Budget(rounds=6)}
    ours, theirs = (
        simulate(method, problem(), sent, library=each, **options) for each in ("numpy", library)
    )
    assert_same_columns(theirs.columns, ours.columns, rtol=1e-10)


@each_method
def test_a_grid_of_parameters_is_one_batch(name):
    method, sent = METHODS[name]
    both = replace(method, eta=np.array([0.02, 0.05]).reshape(1, 1, 2))
    options = {"budget": Budget(rounds=4)}
    together = simulate(both, problem(), sent, seeds=[0, 0], **options).run(1)
    alone = simulate(method, problem(), sent, seeds=[0], **options)
    assert_same_columns(together, alone.columns, rtol=1e-12)


@pytest.mark.parametrize("kind", [DiLoCo, SparseLoCo])
@pytest.mark.parametrize("wrong", [{"eta": 0.0}, {"H": 0}, {"epsilon": 0.0}])
def test_parameters_that_mean_nothing_are_refused(kind, wrong):
    with pytest.raises(Refusal, match="give a number above 0"):
        kind(**{"eta": 0.1, "H": 2} | wrong)


@pytest.mark.parametrize("module", [demo, diloco, sparseloco])
def test_examples_run(module):
    assert doctest.testmod(module).failed == 0
