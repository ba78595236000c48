"""Iterations that are replayed: bit for bit those of the method, and only where none asks."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import certibit
from certibit import DIANA, METHODS, Budget, Experiment, Quadratic, Record, compressor
from certibit.solvers.methods.diana import State
from certibit.solvers.runs import loop
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.grid import Grid
from certibit.solvers.steps.replay import Replay
from certibit.solvers.world.simulation import simulated_world
from certibit.theory.cards.catalogue import parameters

PROBLEM = certibit.problem("breast-cancer@9", kappa=1e3)
SENT = {
    "unbiased": ("rand-k:2", "natural", "rand-k:1+natural", "l1", "rand-k:1@shared", "identity"),
    "contractive": ("top-k:2",),
    None: ("identity",),
}
ROUNDS = {
    "adiana", "agd", "dasha", "diana", "econtrol", "ef21", "ef21p-diana", "fedcomgate", "gd"
}  # fmt: skip
STEPS = {"compressed-scaffnew", "gradskip", "locodl", "locodl-both-ways", "scaffnew", "tamuna"}
BUDGETS = {
    "iterations": Budget(iterations=101),
    "rounds": Budget(rounds=74),
    "bits": Budget(bits=6e4, iterations=150),
    "gradients": Budget(gradients=70.5),
    "several": Budget(iterations=66, rounds=60, gap=1e-2),
}
CASES = [
    (name, s)
    for name in sorted(ROUNDS | STEPS)
    for s in SENT[METHODS[name].method.needs.compressor]
]


def experiment_of(name, sent="identity", problem=PROBLEM, **changes):
    chosen = compressor(sent)
    method = replace(parameters(name, problem, chosen), **changes)
    return Experiment.of(method, problem, chosen)


def replay(experiment, runs=3, **options):
    channel, oracle = simulated_world(experiment, range(runs), **options)
    state = experiment.method.start(channel.template, oracle, channel)
    return Replay.of(experiment.method, state, oracle, channel)


def assert_same(expected, found):
    assert found.ending == expected.ending
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(found.columns[name], column, err_msg=name)
    np.testing.assert_array_equal(found.x, expected.x)


@pytest.fixture
def one_by_one(monkeypatch):
    """Return traces of the method's own iterations; those replayed are not compiled either."""
    monkeypatch.setattr(loop.LocalSteps, "of", lambda *world: None)

    def run(*arguments, **options):
        with monkeypatch.context() as without:
            without.setattr(loop.Replay, "of", lambda *world: None)
            return simulate(*arguments, **options)

    return run


@pytest.fixture
def at_once(monkeypatch):
    """How many iterations were done at a time."""
    found, done = [], Replay.done

    def counted(self, iterations, *others):
        found.append(iterations)
        return done(self, iterations, *others)

    monkeypatch.setattr(Replay, "done", counted)
    return found


@pytest.mark.parametrize("name", METHODS)
def test_which_methods_are_replayed(name):
    sent = SENT[METHODS[name].method.needs.compressor][0]
    found = replay(experiment_of(name, sent))
    assert (found is not None) == (name in ROUNDS | STEPS)
    assert found is None or found.with_rounds == (name in ROUNDS)


def compared(one_by_one, at_once, name, sent, budget):
    """Compare the traces of a method, with coins that fall both ways."""
    experiment = experiment_of(name, sent, **({"p": 0.3} if name in STEPS | {"adiana"} else {}))
    options = {"seeds": 3, "budget": budget, "record": Record(1.5), "keep_model": True}
    assert_same(one_by_one(experiment, **options), simulate(experiment, **options))
    assert max(at_once) > 1


@pytest.mark.parametrize(("name", "sent"), CASES)
def test_iterations_are_those_of_the_method(one_by_one, at_once, name, sent):
    compared(one_by_one, at_once, name, sent, BUDGETS["several"])


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", sorted(ROUNDS | STEPS))
def test_they_end_with_any_budget(one_by_one, at_once, name, budget):
    sent = SENT[METHODS[name].method.needs.compressor][0]
    compared(one_by_one, at_once, name, sent, BUDGETS[budget])


@pytest.mark.parametrize("name", ["diana", "adiana"])
def test_a_run_is_the_same_in_any_batch(name):
    options = {"budget": Budget(gap=1e-3, iterations=400), "keep_model": True}
    together = simulate(experiment_of(name, "rand-k:2"), seeds=[3, 1, 4], **options)
    for run, seed in enumerate([3, 1, 4]):
        alone = simulate(experiment_of(name, "rand-k:2"), seeds=[seed], **options)
        own = together.columns["run"] == run
        for column in ("iteration", "rounds", "uplink_bits", "gradients", "synchronisations"):
            np.testing.assert_array_equal(together.columns[column][own], alone.columns[column])
        np.testing.assert_allclose(together.columns["gap"][own], alone.columns["gap"], rtol=1e-10)


def test_parameters_of_every_run(one_by_one, at_once):
    grid = Grid({"gamma": (0.1, 0.5), "alpha": (0.1, 0.4)}, seeds=2)
    experiment = experiment_of("diana", "l1", gamma=grid["gamma"], alpha=grid["alpha"])
    options = {"seeds": grid.runs, "budget": Budget(rounds=40), "keep_model": True}
    assert_same(one_by_one(experiment, **options), simulate(experiment, **options))
    assert at_once


def test_any_problem_and_any_ending_in_between(one_by_one, at_once):
    experiment = experiment_of("diana", "rand-k:1", problem=Quadratic.random(3, 4, 1.0, 10.0))
    budget = Budget(gap=1e-6)
    options = {"seeds": 9, "budget": budget, "record": Record(1.1), "keep_model": True}
    found = simulate(experiment, **options)
    assert_same(one_by_one(experiment, **options), found)
    assert len(set(found.final("rounds"))) > 1
    assert max(at_once) > 1


def stepped(change):
    """Return DIANA with something else for its new x, of itself, s, its gradients and channel."""

    @dataclass(frozen=True)
    class Changed(DIANA):
        name: ClassVar[str] = "changed"

        def communicate(self, s, problem, channel):
            return State(channel.broadcast(change(self, s, problem, channel)), s.h, s.h_mean)

    return Experiment.of(Changed(0.3, 0.2), PROBLEM)


OTHER = {
    "a condition": lambda m, s, f, c: s.x if s.x > 0 else -s.x,
    "numbers": lambda m, s, f, c: s.x * float(np.linalg.norm(s.x)),
    "other functions": lambda m, s, f, c: np.clip(s.x, -1, 1),
    "sums of features": lambda m, s, f, c: s.x * s.x.sum(axis=1, keepdims=True),
    "entries": lambda m, s, f, c: s.x[:, ::-1],
    "reductions": lambda m, s, f, c: s.x + np.add.reduce(s.x, axis=0),
    "arrays": lambda m, s, f, c: np.asarray(s.x) + 0,
    "a cohort": lambda m, s, f, c: s.x * c.cohort(3)[:1],
}


OWN = np.random.default_rng(0)
COUNT = iter(range(10**6))
IMPURE = {
    "randomness of its own": lambda m, s, f, c: s.x * OWN.random(),
    "a count of its own": lambda m, s, f, c: s.x / (2 + next(COUNT)),
    "other operations": lambda m, s, f, c: s.x if next(COUNT) % 2 else 0.5 * s.x,
    "other operators": lambda m, s, f, c: s.x + 0.5 if next(COUNT) % 2 else s.x - 0.5,
    "other fields": lambda m, s, f, c: (s.x * 0.5, s.x * 2.0)[next(COUNT) % 2],
}


@pytest.mark.parametrize("step", IMPURE)
def test_a_round_that_is_not_the_same_twice_is_not_replayed(step):
    assert replay(stepped(IMPURE[step])) is None


@pytest.mark.parametrize("step", OTHER)
def test_a_round_that_asks_for_numbers_is_not_replayed(step):
    assert replay(stepped(OTHER[step])) is None


def test_a_round_that_does_not_is_replayed(one_by_one):
    experiment = stepped(lambda m, s, f, c: s.x * 0.5 - c.coin(0.5) * m.gamma * s.x)
    assert replay(experiment) is not None
    options = {"seeds": 3, "budget": Budget(rounds=40), "keep_model": True}
    assert_same(one_by_one(experiment, **options), simulate(experiment, **options))


def test_results_lie_where_others_lay():
    steps = replay(experiment_of("adiana", "rand-k:2")).steps
    places = [place for *_, place in steps.operations]
    assert len(set(places)) < 0.6 * len(places)


def test_fields_that_are_exchanged(one_by_one):
    @dataclass(frozen=True)
    class Exchanging(DIANA):
        name: ClassVar[str] = "exchanging"

        def start(self, x, problem, channel):
            return State(x + 1, 0 * x, x + 2)

        def communicate(self, s, problem, channel):
            return State(s.h_mean, channel.broadcast(s.x), s.x)

    experiment = Experiment.of(Exchanging(0.3, 0.2), PROBLEM)
    assert replay(experiment) is not None
    options = {"seeds": 2, "budget": Budget(rounds=39), "record": Record(1.3), "keep_model": True}
    assert_same(one_by_one(experiment, **options), simulate(experiment, **options))


def test_where_it_is_not_done():
    experiment = experiment_of("diana", "l1")
    assert replay(experiment) is not None
    assert replay(experiment, wire=True) is None
    assert replay(experiment, runs=64) is None  # vectors that are not small


def test_a_callback_sees_every_iteration(at_once):
    simulate(
        experiment_of("diana", "l1"), seeds=2, budget=Budget(rounds=40), callback=lambda row: False
    )
    assert at_once == []
