"""Runs that no machine could end or hold are refused before they begin."""

import time
from dataclasses import dataclass, fields, replace

import numpy as np
import psutil
import pytest
from worlds import simulate

from certibit import CELGC, GD, METHODS, Budget, Experiment, Quadratic, compressor, parameters
from certibit.solvers.authoring import Array, Method, Needs, Refusal
from certibit.solvers.runs import engine
from certibit.solvers.runs.engine import _numbers_of_state
from certibit.solvers.simulation.iteration import simulated_world
from certibit.theory.catalogue.catalogue import CLIPPING

PROBLEM = Quadratic.random(5, 7, mu=1.0, L=10.0)
SENT = {None: None, "unbiased": compressor("rand-k:2"), "contractive": compressor("top-k:2")}
MANY = 10**15
BOTH = Budget(rounds=MANY, iterations=MANY)


def names(card):
    return {field.name for field in fields(card.method)}


def experiment(name):
    sent = SENT[METHODS[name].method.needs.compressor]
    return Experiment.of(parameters(name, PROBLEM, sent), PROBLEM, sent)


@pytest.mark.parametrize("name", [n for n, card in METHODS.items() if "K" in names(card)])
def test_endless_local_steps_of_methods_are_refused(name):
    made = experiment(name)
    method = replace(made.method, K=MANY)
    with pytest.raises(Refusal, match=rf"^{name} would evaluate at least 1e\+15 gradients, which"):
        simulate(method, PROBLEM, made.compressor, seeds=1, budget=Budget(gap=1e-3))


@pytest.mark.parametrize("name", [n for n, card in CLIPPING.items() if "I" in names(card)])
def test_endless_local_steps_of_clipping_methods_are_refused(name):
    card = CLIPPING[name]
    method = card.method(**dict.fromkeys({"eta", "gamma", "beta"} & names(card), 0.1), I=MANY)
    with pytest.raises(Refusal, match=r"days on this machine; choose fewer local steps"):
        simulate(method, PROBLEM, seeds=1, budget=Budget(gap=1e-3))


@pytest.mark.parametrize("budget", [Budget(iterations=MANY), BOTH])
def test_endless_iterations_are_refused(budget):
    with pytest.raises(Refusal, match=r"gd would evaluate at least 1e\+15 gradients"):
        simulate(GD(0.01), PROBLEM, seeds=1, budget=budget)


def test_days_are_those_that_one_gradient_takes(monkeypatch):
    """Of 0.2 seconds each, 20 million gradients take 46 days."""
    monkeypatch.setattr(time, "perf_counter", iter(0.2 * np.arange(100)).__next__)
    with pytest.raises(Refusal, match="takes about 46 days on this machine"):
        Budget(iterations=20_000_000).require_days(GD(0.1), PROBLEM)


@pytest.mark.parametrize("limit", [{"gap": 1e-2}, {"bits": 900.0}, {"gradients": 3.0}])
def test_what_another_limit_ends_is_not_refused(limit):
    (ending,) = simulate(GD(0.1), PROBLEM, seeds=1, budget=replace(BOTH, **limit)).ending
    assert ending in limit


def test_what_a_callback_ends_is_not_refused():
    trace = simulate(GD(0.1), PROBLEM, seeds=1, budget=BOTH, callback=lambda point: True)
    assert trace.ending == ("callback",)


def test_many_local_steps_are_not_refused():
    trace = simulate(CELGC(eta=0.01, gamma=0.1, I=5000), PROBLEM, seeds=1, budget=Budget(rounds=2))
    assert trace.final("gradients") == 10_000


@pytest.mark.parametrize("name", METHODS)
def test_the_estimate_counts_the_state_that_a_method_starts_with(name):
    made = experiment(name)
    channel, oracle = simulated_world(made)
    state = made.method.start(channel.template, oracle, channel)
    assert _numbers_of_state(made) == sum(x.shape[0] * x.shape[1] for x in vars(state).values())


@pytest.mark.parametrize("name", ["gd", "diana"])
def test_state_gradients_and_random_numbers_are_estimated(name, monkeypatch):
    """With one message drawn at once in place of many."""
    made, asked = experiment(name), []
    monkeypatch.setattr(engine, "stream_width", lambda message: message)
    monkeypatch.setattr(engine, "require_memory", lambda numbers, _: asked.append(numbers))
    engine.require_memory_of_runs(made, 3)
    drawn = made.n * made.compressor.uniforms(made.d)
    assert asked == [3 * (_numbers_of_state(made) + made.n * made.d + drawn)]


@dataclass(frozen=True)
class Remembered:
    """Many vectors, under a name that is not usual."""

    x: Array
    first: Array
    second: Array
    third: Array


@dataclass(frozen=True)
class Remembering(GD):
    """Gradient descent whose clients keep three vectors."""

    name = "remembering"

    def start(self, x, problem, channel):
        return Remembered(x, *(problem.grad(x) for _ in range(3)))


def test_a_state_of_any_name_is_counted(monkeypatch):
    """5 clients, 7 features: x, the gradients and three more are 147 numbers, and a random one."""

    class Machine:
        total = 8 * 147

    monkeypatch.setattr(psutil, "virtual_memory", Machine)
    with pytest.raises(Refusal, match="remembering with 5 clients, 7 features and 1 runs at once"):
        simulate(Remembering(0.01), PROBLEM, seeds=1, budget=Budget(rounds=1))


@dataclass(frozen=True)
class Tossing(Method):
    """A method that begins with chance and with the parameters of every run."""

    gamma: Array

    name, needs = "tossing", Needs()

    def start(self, x, problem, channel):
        cohort = channel.cohort(2) & channel.client_coins(problem.n * [0.5]) & channel.coin(0.5)
        return Remembered(x, self.gamma * x, channel.uplink(cohort * problem.grad(x)), 0 * x)

    communicate = local_step = None


def test_a_start_with_chance_is_counted():
    gamma = PROBLEM.x_0[:, :1] + [[[0.1, 0.2]]]
    assert _numbers_of_state(Experiment.of(Tossing(gamma), PROBLEM)) == 7 * (1 + 1 + 5 + 1)
