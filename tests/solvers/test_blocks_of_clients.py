"""All clients, or a large cohort, in blocks that fit the cache: memory, work and time of rounds."""

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers import parts
from certibit.solvers.cohorts import cohort_loop
from certibit.solvers.cohorts.cohort_loop import CohortLoop
from certibit.solvers.cohorts.delayed import Delayed
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.loop import Loop
from certibit.solvers.runs.points import Wishes
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.catalogue.covered_run import lyapunov_record
from certibit.theory.setting import Setting

N, D = 6000, 16
WISHES = Wishes(Budget(rounds=100), Record(), None, None)
VECTORS = {"ef21": 1, "diana": 1, "locodl": 2, "fedcomgate": 2, "dasha": 3}
"""Vectors (n, d) of a method: those of its state, and those that it refers to at a sum."""


def quadratics(n):
    """Return a problem that is fast to make: all clients have one of 50 matrices."""
    few = Quadratic.random(50, D, mu=1.0, L=5.0)
    places = np.arange(n) % 50
    return Quadratic.from_arrays(few.H[places], few.c[places, :, 0])


@pytest.fixture(scope="module")
def solved():
    return quadratics(N)


def loop_of(name, solved, made=CohortLoop):
    words = {"unbiased": "rand-k:2", "contractive": "top-k:2"}.get(
        METHODS[name].method.needs.compressor
    )
    used = words and compressor(words)
    experiment = Experiment.of(parameters(name, solved, used), solved, used)
    return made(experiment, (0,), WISHES, wire=False)


def few_at_once(monkeypatch):
    """Take six thousand clients for very many, and compute 32 at a time."""
    monkeypatch.setattr(cohort_loop, "_AT_ONCE", 32 * D)
    monkeypatch.setattr(parts, "_NUMBERS", N)


def most_vectors(name, solved, made=CohortLoop, step=CohortLoop._step):
    """Return the most memory that a few rounds take, in vectors (n, d) of all clients."""
    for traced in (False, True):  # what the first run loads is not counted
        if traced:
            tracemalloc.start()
        loop = loop_of(name, solved, made)
        for _ in range(2):
            step(loop)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / (8 * N * D)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", VECTORS)
def test_no_vector_is_held_twice(name, solved, monkeypatch):
    """Messages, of two numbers and their indices, take a quarter of a vector."""
    few_at_once(monkeypatch)
    most = most_vectors(name, solved)
    assert VECTORS[name] <= most < VECTORS[name] + 1
    plain = most_vectors(name, solved, Loop, Loop._advance)
    assert plain > VECTORS[name] + 2


def test_a_lyapunov_function_is_summed_block_by_block(solved, monkeypatch):
    """A vector of all clients, such as their gradients at the solution, is not stored."""
    few_at_once(monkeypatch)
    sent = compressor("rand-k:2")
    experiment = Experiment.of(parameters("diana", solved, sent), solved, sent)
    setting = Setting.at(experiment)
    potential = lyapunov_record(METHODS["diana"].potential(experiment.method, setting), setting)
    loop = CohortLoop(experiment, (0,), replace(WISHES, potential=potential), wire=False)
    loop._step()
    loop._note(np.arange(1))  # what is loaded is not counted
    tracemalloc.start()
    loop._note(np.arange(1))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 0.7 * 8 * N * D


@pytest.mark.long
def test_planted_stored_intermediates_are_seen(solved, monkeypatch):
    few_at_once(monkeypatch)
    store = Delayed.__init__
    monkeypatch.setattr(
        Delayed, "__init__", lambda self, *a, **more: store(self, *a, **(more | {"lasting": True}))
    )
    assert most_vectors("diana", solved) > 3


def gradients_computed(name, solved, monkeypatch):
    """Return how many gradients a few rounds compute, and how many they count."""
    computed, grad = [], Quadratic.grad
    loop = loop_of(name, solved)
    with monkeypatch.context() as patch:
        patch.setattr(Quadratic, "grad", lambda self, x: computed.append(self.n) or grad(self, x))
        before = loop.now.ledger.gradients.item()
        for _ in range(3):
            loop._step()
    return sum(computed), loop.now.ledger.gradients.item() - before


@pytest.mark.parametrize("name", VECTORS)
def test_no_gradient_is_computed_twice(name, solved, monkeypatch):
    few_at_once(monkeypatch)
    computed, counted = gradients_computed(name, solved, monkeypatch)
    assert computed in (counted, counted + 2 * (100 + 50))  # parts are compared at two points


def test_planted_vectors_that_are_not_stored_are_seen(solved, monkeypatch):
    few_at_once(monkeypatch)
    monkeypatch.setattr(Delayed, "hold", lambda self, holder: None)
    computed, counted = gradients_computed("dasha", solved, monkeypatch)
    assert computed > 1.5 * counted


@pytest.mark.long
def test_the_time_of_a_round_is_linear_in_the_clients():
    """Processor time of a client in a round, least of three, at 4,000 and at 40,000 clients."""
    each = {}
    for n in (4000, 40_000):
        loop, taken = loop_of("diana", quadratics(n)), []
        for _ in range(4):
            start = time.process_time()
            loop._step()
            taken.append(time.process_time() - start)
        each[n] = min(taken[1:]) / n
    assert each[40_000] < 1.7 * each[4000]
