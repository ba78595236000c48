"""One step in many spellings gives the same numbers: small and large, fast and plain, any seeds."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest

from certibit import Budget, Experiment, Record, problem
from certibit.solvers.authoring import Method, Needs, WithProbability, copies, mean
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.natural import Natural
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.engine import simulate
from certibit.theory.worlds.outcomes import Scripted

STEP = 0.05
CLIENTS, ROUNDS = 30, 6
SIZES = {"small": 20, "large": 560}  # features; 30 times 560 is above 2^14
COMPRESSORS = [Identity(), RandK(3), Natural()]


# Spellings of y - STEP (g + m) / 2: y, g and m are arrays of the state, of gradients, of messages.
def as_formula(y, g, m):
    return y - STEP * (g + m) / 2


def into_the_message(y, g, m):
    m += g
    m *= -0.5 * STEP
    m += y
    return m


def with_out(y, g, m):
    np.add(g, m, out=g)
    np.multiply(g, 0.5 * STEP, out=m)
    return np.subtract(y, m, out=g)


def through_views(y, g, m):
    flat, alias = y.reshape(-1), y
    flat -= 0.5 * STEP * (g + m).reshape(-1)
    return alias


SPELLINGS = [
    value for value in vars().copy().values() if getattr(value, "__module__", 0) == __name__
]


@dataclass(frozen=True)
class State:
    x: Any
    y: Any
    h: Any
    again: Any = None


@dataclass(frozen=True)
class Spelled(Method):
    """Local steps on y, a memory h, rounds by coins; fields may share memory."""

    spelling: Any
    draw: int
    p: float = 0.5
    name, needs = "spelled", Needs(compressor="unbiased")
    per_run: ClassVar[tuple[str, ...]] = ()

    @property
    def schedule(self):
        return WithProbability(self.p)

    def start(self, x, problem, channel):
        y = copies(x, problem.n) + np.linspace(0, 1, problem.n)[:, None, None]
        g = problem.grad(y)
        x += 0.1
        return State(x, y, g, y)  # y twice

    def local_step(self, s, problem, channel):
        y = s.y
        kept = problem.grad(y)
        y = SPELLINGS[self.spelling](y, problem.grad(y), kept)
        return State(s.x, y, s.h, y)

    def communicate(self, s, problem, channel):
        rng = np.random.default_rng(self.draw)
        y, h, again = s.y, s.h, s.again
        difference = problem.grad(y) - h
        kept = difference.copy()
        m = channel.uplink(difference)
        if rng.random() < 0.5:  # nothing that was sent is needed, nor what is received twice
            difference *= 0.0
        else:
            difference = 2 * difference
        z = h + m
        if rng.random() < 0.5:
            h += 0.02 * m
        else:
            h = h + 0.02 * m
        if rng.random() < 0.5:
            m *= 7.0
        y = SPELLINGS[(self.spelling + 1) % len(SPELLINGS)](y, z, kept)
        middle = mean(y)
        x = channel.broadcast(middle)
        if rng.random() < 0.5:
            middle += 100.0
        both = np.broadcast_to(x, y.shape) + 0 * y
        return State(x, both, h, again)

    def model(self, s):
        x = s.x
        x *= 2.0
        return x


@dataclass(frozen=True)
class Pure(Spelled):
    """The same step, in which nothing is written over."""

    def start(self, x, problem, channel):
        y = copies(x, problem.n) + np.linspace(0, 1, problem.n)[:, None, None]
        return State(x + 0.1, y, problem.grad(y), 0 * y)

    def local_step(self, s, problem, channel):
        return replace(s, y=s.y - STEP * (problem.grad(s.y) + problem.grad(s.y)) / 2)

    def communicate(self, s, problem, channel):
        difference = problem.grad(s.y) - s.h
        m = channel.uplink(difference + 0)
        y = s.y - STEP * ((s.h + m) + difference) / 2
        x = channel.broadcast(mean(y))
        return State(x, copies(x, problem.n), s.h + 0.02 * m, s.again)

    def model(self, s):
        return 2 * s.x


@cache
def made(size):
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((2 * CLIENTS, SIZES[size])), rng.standard_normal(2 * CLIENTS)
    return problem(rows, np.sign(labels), clients=CLIENTS, kappa=50.0)


@cache
def traced(method, size, sent, seeds, fast=False):
    """Return the columns of a run, and its models."""
    experiment = Experiment.of(method, made(size), COMPRESSORS[sent])
    budget, record = Budget(rounds=ROUNDS), Record(ratio=1.0)
    options = {"record": record, "keep_model": True}
    with use_extensions("always" if fast else "never"):
        trace = simulate(experiment, seeds=seeds, budget=budget, **options)
    return trace.columns, trace.x


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("spelling", range(len(SPELLINGS)), ids=lambda k: SPELLINGS[k].__name__)
def test_a_step_is_the_same_in_every_spelling(spelling, size):
    sent = spelling % len(COMPRESSORS)
    for seeds, fast, draw in product((1, 3), (False, True), (0, 1)):
        right, models = traced(Pure(0, 0), size, sent, 3, False)
        found, ends = traced(Spelled(spelling, draw), size, sent, seeds, fast)
        chosen = right["run"] < seeds
        for name, values in found.items():
            np.testing.assert_allclose(
                values, right[name][chosen], rtol=1e-10, atol=1e-12, err_msg=f"{name}, {seeds}"
            )
        np.testing.assert_allclose(ends, models[:, :, :seeds], rtol=1e-10, atol=1e-12)


def test_every_step_goes_somewhere():
    """Else all spellings would agree."""
    columns, _ = traced(Pure(0, 0), "small", 1, 3, False)
    assert len(np.unique(columns["gap"])) > 3 * ROUNDS - 3


@pytest.mark.parametrize("kind", ["uplink", "send", "broadcast", "downlink"])
def test_in_exact_worlds_a_message_has_memory_of_its_own(kind):
    v = np.ones((3, 2, 1))
    m = getattr(Scripted(3, 2), kind)(v)
    m *= 0.0
    assert v.all()
