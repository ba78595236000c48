"""Runs that are lent: the same numbers as arrays, put back in place, and nothing else changed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from test_lazy_gradient import CASES, PROBLEM, SEEDS, agree, gather

from certibit import METHODS, Experiment, compressor
from certibit.solvers.backend import mean
from certibit.solvers.fast import columns, lazy_gradient, messages
from certibit.solvers.fast.columns import Columns
from certibit.solvers.fast.entries import Entries
from certibit.solvers.fast.extension import FastIterations
from certibit.solvers.fast.fast_world import fast_world
from certibit.solvers.fast.lending import lent, returned
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.solvers.state import copied, each

N, D, R = 4, 6, 5
RUNS = [np.array([3]), np.array([0, 2, 4]), np.arange(R)]


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    for module, name in (
        (columns, "LARGE"),
        (columns, "ALL_LARGE"),
        (lazy_gradient, "LARGE"),
        (messages, "LARGE"),
    ):
        monkeypatch.setattr(module, name, 0)


@pytest.mark.long(keep=8)
@pytest.mark.parametrize(("name", "selector"), CASES)
def test_a_state_that_is_used_up_gives_the_step_of_numpy(name, selector):
    chosen = compressor(selector) if selector else None
    method = METHODS[name].parameters(PROBLEM, chosen)
    experiment = Experiment.of(method, PROBLEM, chosen)
    (channel, oracle), (_, other) = worlds = [simulated_world(experiment, SEEDS) for _ in range(2)]
    state = method.start(channel.template, oracle, channel)
    method.start(channel.template, other, worlds[1][0])
    fast = FastIterations(method, *fast_world(*worlds[1]), None, False)
    for iteration in range(1, 9):
        kept = each(np.copy, state)
        expected, _ = advance(method, state, oracle, channel, iteration)
        found, *_ = fast.after(copied(state), np.full(len(SEEDS), iteration - 1), 9)
        each(np.testing.assert_array_equal, kept, state)
        each(agree, expected, found)
        assert all(type(x) is np.ndarray for x in vars(found).values())
        state = expected


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def few(runs):
    indices = np.arange(2 * N * runs).reshape(N, 2, runs) % D
    return Entries(indices, random(N, 2, runs), D)


OPERATIONS = {
    "nothing": lambda x, r: x,
    "scaled": lambda x, r: 0.5 * (x * 3),
    "by run": lambda x, r: np.linspace(1, 2, r)[None, None] * x,
    "shared": lambda x, r: (x - random(1, D, r)) * 2 + random(1, D, r),
    "taken from": lambda x, r: random(1, D, r) - x,
    "added": lambda x, r: x + random(N, D, r) - random(N, D, r),
    "entries": lambda x, r: x - 0.3 * few(r),
    "shared entries": lambda x, r: x + 2 * (random(1, D, r) - few(r)),
    "entries and more": lambda x, r: random(N, D, r) - (x + few(r)) + few(r),
    "negative": lambda x, r: -x,
    "itself": lambda x, r: x - 0.5 * x,
    "other functions": lambda x, r: np.abs(x) + x**2,
    "a mean": lambda x, r: mean(x - random(1, D, r)),
    "some entries": lambda x, r: gather(2 * x - random(1, D, r) + few(r), few(r).indices),
    "an index": lambda x, r: x[1:3, :, 0],
}


@pytest.mark.parametrize("runs", RUNS, ids=len)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_columns_are_used_like_an_array(operation, runs):
    x = random(N, D, R)
    kept, lent_ = x.copy(), columns.columns(x, runs)
    expected = OPERATIONS[operation](x[:, :, runs], runs.size)
    found = OPERATIONS[operation](lent_, runs.size)
    assert found.shape == expected.shape
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(x, kept)
    if isinstance(found, Columns):
        found.put_back()
        kept[:, :, runs] = expected
        np.testing.assert_allclose(x, kept, rtol=1e-13, atol=1e-13)


@dataclass(frozen=True)
class State:
    """Two vectors of the clients, and one that they share."""

    x: Any
    h: Any
    y: Any


def steps(s):
    """Return what a round makes of a state: x and h of each other."""
    return State(x=0.5 * s.x + s.y, h=s.h - s.x, y=s.y + mean(s.h))


@pytest.mark.parametrize("runs", RUNS, ids=len)
@pytest.mark.parametrize("alike", [False, True, "view"])
def test_what_is_put_back_does_not_disturb_the_rest(alike, runs):
    """Also where two fields are one array, or share its memory."""
    x, y = random(N, D, R), random(1, D, R)
    h = {False: random(N, D, R), True: x, "view": x[:]}[alike]
    state = State(x, h, y)
    some = steps(each(lambda v: v[:, :, runs], each(np.copy, state)))
    expected = each(np.copy, state)
    for name, values in vars(some).items():
        getattr(expected, name)[:, :, runs] = values
    kept = y.copy()
    found = returned(state, runs, steps(lent(state, runs)))
    each(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13), found, expected)
    np.testing.assert_array_equal(y, kept)
    assert (found.x is x) == (alike is False), "it is put back in place where it is alone"


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((1, D, R)),
        np.zeros((N, D, R), dtype=np.float32),
        np.zeros((N, R, D)).swapaxes(1, 2),
        np.broadcast_to(np.zeros((1, D, R)), (N, D, R)),
    ],
    ids=["shared", "single", "not contiguous", "read only"],
)
def test_other_arrays_are_not_lent(x):
    assert columns.columns(np.zeros((N, D, R)), RUNS[0]) is not None
    assert columns.columns(x, RUNS[0]) is None
