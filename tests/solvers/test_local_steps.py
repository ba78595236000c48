"""Many local steps at once: the same traces as one by one, and only where the step is linear."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import certibit
from certibit import METHODS, Budget, Every, Experiment, Quadratic, Record, Scaffnew, compressor
from certibit.solvers.fast.extension import FastIterations
from certibit.solvers.fast.local_steps import LocalSteps
from certibit.solvers.methods.scaffnew import State
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.grid import Grid
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.catalogue.catalogue import parameters

PROBLEM = certibit.problem("breast-cancer@9", kappa=1e3)
SENT = {"unbiased": "rand-k:1", "contractive": "top-k:1", None: None}
LOCAL = {"scaffnew", "locodl", "locodl-both-ways", "tamuna", "compressed-scaffnew"}
BUDGETS = {
    "iterations": Budget(iterations=101),
    "rounds": Budget(rounds=12),
    "bits": Budget(bits=3000.0),
    "gradients": Budget(gradients=70.0),
    "several": Budget(iterations=60, rounds=7, gap=1e-3),
}


def experiment_of(name, problem=PROBLEM, **changes):
    needs = METHODS[name].method.needs
    sent = compressor(SENT[needs.compressor]) if needs.compressor else None
    return Experiment.of(replace(parameters(name, problem, sent), **changes), problem, sent)


def local_steps(experiment, runs=3):
    channel, oracle = simulated_world(experiment, range(runs))
    state = experiment.method.start(channel.template, oracle, channel)
    return LocalSteps.of(experiment.method, state, oracle)


def both_ways(monkeypatch, experiment, **options):
    """Return the traces of steps one by one and of many at once."""
    traces = []
    for switch in "01":
        monkeypatch.setenv("CERTIBIT_FAST", switch)
        traces.append(simulate(experiment, keep_model=True, **options))
    return traces


def assert_same(expected, found):
    assert found.ending == expected.ending
    for name, column in expected.columns.items():
        if column.dtype.kind == "i" or name in ("gradients", "uplink_bits", "downlink_bits"):
            np.testing.assert_array_equal(found.columns[name], column, err_msg=name)
        else:
            np.testing.assert_allclose(found.columns[name], column, rtol=1e-10, err_msg=name)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)


@pytest.fixture
def leaps(monkeypatch):
    """How many iterations each run did at a time."""
    done, after = [], FastIterations.after

    def counted(self, state, before, last):
        state, talking, iteration = after(self, state, before, last)
        if self.local_steps is not None:
            done.append(iteration - before)
        return state, talking, iteration

    monkeypatch.setattr(FastIterations, "after", counted)
    return done


@pytest.mark.parametrize("name", METHODS)
def test_which_methods_take_them(name):
    assert (local_steps(experiment_of(name)) is not None) == (name in LOCAL)


@pytest.mark.long(keep=7)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", sorted(LOCAL))
def test_traces_are_those_of_single_steps(monkeypatch, leaps, name, budget):
    options = {"seeds": 5, "budget": BUDGETS[budget], "record": Record(1, 2)}
    assert_same(*both_ways(monkeypatch, experiment_of(name, p=0.2), **options))
    assert max(steps.max() for steps in leaps) > 1
    assert any(np.unique(steps).size > 1 for steps in leaps)


def test_with_bytes_on_the_wire(monkeypatch):
    experiment = experiment_of("locodl")
    assert_same(*both_ways(monkeypatch, experiment, seeds=3, budget=Budget(rounds=9), wire=True))


@pytest.mark.parametrize(("p", "iterations"), [(0.0005, 2500), (1.0, 100)])
def test_rounds_that_are_far_and_near(monkeypatch, leaps, p, iterations):
    experiment = experiment_of("scaffnew", p=p)
    assert_same(*both_ways(monkeypatch, experiment, seeds=3, budget=Budget(iterations=iterations)))
    assert (max(steps.max() for steps in leaps) == 1) == (p == 1)


def test_parameters_of_every_run(monkeypatch, leaps):
    grid = Grid({"gamma": (0.1, 0.5), "p": (0.1, 0.4)}, seeds=2)
    experiment = experiment_of("scaffnew", gamma=grid["gamma"], p=grid["p"])
    options = {"seeds": grid.runs, "budget": Budget(rounds=15)}
    assert_same(*both_ways(monkeypatch, experiment, **options))
    assert leaps


@dataclass(frozen=True)
class Regular(Scaffnew):
    """Scaffnew with a round after every five iterations."""

    name: ClassVar[str] = "regular"
    schedule = Every(5)


def test_a_schedule_without_coins(monkeypatch, leaps):
    experiment = Experiment.of(Regular(0.3, 0.2), PROBLEM)
    assert_same(*both_ways(monkeypatch, experiment, seeds=2, budget=Budget(iterations=33)))
    assert {int(steps[0]) for steps in leaps} == {5, 3}


def test_a_run_is_the_same_in_any_batch():
    options = {"budget": Budget(rounds=10), "record": Record(1, 1)}
    together = simulate(experiment_of("locodl"), seeds=[3, 1, 4], **options)
    for run, seed in enumerate([3, 1, 4]):
        alone = simulate(experiment_of("locodl"), seeds=[seed], **options)
        own = together.columns["run"] == run
        for name in ("iteration", "rounds", "uplink_bits", "gradients"):
            np.testing.assert_array_equal(together.columns[name][own], alone.columns[name])
        np.testing.assert_allclose(together.columns["gap"][own], alone.columns["gap"], rtol=1e-10)


def test_a_callback_is_told_runs_at_the_same_iteration(leaps):
    told = []
    simulate(
        experiment_of("scaffnew", p=0.3), seeds=4, budget=Budget(rounds=5),
        callback=lambda point: told.append(np.unique(point["iteration"]).size) is not None,
    )  # fmt: skip
    assert set(told) == {1}
    assert leaps == []


def stepped(change):
    """Return Scaffnew with something else for its new x and h, of s, its gradients and channel."""

    @dataclass(frozen=True)
    class Changed(Scaffnew):
        name: ClassVar[str] = "changed"

        def local_step(self, s, problem, channel):
            return State(*change(self, s, problem, channel))

    return Experiment.of(Changed(0.3, 0.2), PROBLEM)


LINEAR = {
    "gradient first": lambda m, s, f, c: (-0.3 * f.grad(s.x) + 0.3 * s.h + s.x, s.h),
    "without the other": lambda m, s, f, c: (s.x - m.gamma * f.grad(s.x), s.h),
    "two gradients": lambda m, s, f, c: (s.x - 0.1 * f.grad(s.x) - 0.2 * f.grad(s.x), s.h),
    "of some": lambda m, s, f, c: (s.x - 0.1 * f.grad(s.x, active=4), s.h),
    "both": lambda m, s, f, c: (s.x - 0.1 * f.grad(s.x), s.h - 0.1 * f.grad(s.h)),
}
OTHER = {
    "products": lambda m, s, f, c: (s.x - 0.3 * f.grad(s.x) * s.x, s.h),
    "functions": lambda m, s, f, c: (np.clip(s.x - 0.3 * f.grad(s.x), -9, 9), s.h),
    "array": lambda m, s, f, c: (s.x - 0.3 * f.grad(s.x) + np.ones((9, 30, 1)), s.h),
    "choice": lambda m, s, f, c: (s.x - 0.3 * f.grad(s.x) if (s.h == 0).all() else s.x, s.h),
    "other point": lambda m, s, f, c: (s.x - 0.3 * f.grad(s.x + s.h), s.h),
    "scaled point": lambda m, s, f, c: (s.x - 0.3 * f.grad(0.5 * s.x), s.h),
    "gradient of the other": lambda m, s, f, c: (s.x - 0.3 * f.grad(s.h), s.h),
    "the other moves": lambda m, s, f, c: (s.x - 0.3 * (f.grad(s.x) - s.h), 0.9 * s.h),
    "exchanged": lambda m, s, f, c: (s.h, s.x),
    "a coin": lambda m, s, f, c: (s.x - 0.3 * c.coin(0.5) * f.grad(s.x), s.h),
    "noise": lambda m, s, f, c: (s.x - 0.3 * f.grad(s.x, sample=0), s.h),
    "nothing": lambda m, s, f, c: (s.x, s.h),
}


@pytest.mark.parametrize("step", LINEAR)
def test_linear_steps(monkeypatch, step):
    experiment = stepped(LINEAR[step])
    assert local_steps(experiment) is not None
    assert_same(*both_ways(monkeypatch, experiment, seeds=2, budget=Budget(rounds=6)))


@pytest.mark.parametrize("step", OTHER)
def test_other_steps_are_done_one_by_one(step):
    assert local_steps(stepped(OTHER[step])) is None


def test_other_problems_have_none():
    assert local_steps(Experiment.of(Scaffnew(0.1, 0.2), Quadratic.random(3, 4, 1.0, 10.0))) is None
    assert local_steps(experiment_of("scaffnew"), runs=64) is None  # it would not pay
