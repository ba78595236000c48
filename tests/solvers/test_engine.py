"""The loop: rounds, budgets, endings, recording, drop-out, divergence, refusals."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from comparisons import assert_same_columns
from worlds import recorded_run, simulate, world_of

from certibit import GD, Budget, Constants, Experiment, Quadratic, Record, Setting, compressor
from certibit.solvers.authoring import Every, Method, Needs, mean
from certibit.solvers.runs import engine
from certibit.solvers.runs.engine import _batches
from certibit.solvers.runs.grid import Grid
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.potential import value
from certibit.theory.worlds.fixed_points import fixed_point

RAND_2 = compressor("rand-k:2")


class Own:
    """(L_i/2) |x - 1|^2 without a base class: two clients, three features."""

    name, n, d, noise, per_run, f_star, fingerprint = "own", 2, 3, None, (), 0.0, "own"
    constants = Constants(1.0, np.array([1.0, 3.0]), 2.0)
    x_0, x_star, grad_star = np.zeros((1, 3, 1)), np.ones((1, 3, 1)), np.zeros((2, 3, 1))
    specification: ClassVar = {"name": name}
    plain = composite = property(lambda self: self)

    def grad(self, x):
        return self.constants.L_i[:, None, None] * (x - 1)

    def grad_g(self, y):
        return 0 * y

    def gap(self, x):
        return ((x - 1) ** 2).sum(axis=(0, 1))

    value = gap


@pytest.mark.parametrize("name", ["gd", "diana", "scaffold"])
def test_a_problem_needs_no_base_class(name):
    own, rand = Own(), RAND_2 if name == "diana" else None
    alike = Quadratic.from_arrays(
        own.constants.L_i[:, None, None] * np.eye(3), np.ones((2, 3)), name="alike"
    )
    options = {"seeds": 3, "budget": Budget(rounds=20)}
    ours, theirs = (simulate(parameters(name, p, rand), p, rand, **options) for p in (own, alike))
    for column, values in theirs.columns.items():
        np.testing.assert_allclose(ours.columns[column], values, rtol=1e-9, atol=1e-25)


@dataclass(frozen=True)
class Models:
    x: object  # (n, d, R), the local models


@dataclass(frozen=True)
class LocalGD(Method):
    """K gradient steps on every client, then an average."""

    gamma: object
    K: int

    name, needs = "local-gd", Needs()

    @property
    def schedule(self):
        return Every(self.K)

    def start(self, x, problem, channel):
        return Models(x + 0 * problem.grad(x))

    def local_step(self, s, problem, channel):
        return Models(s.x - self.gamma * problem.grad(s.x))

    def communicate(self, s, problem, channel):
        return Models(channel.broadcast(mean(channel.send(s.x))) + 0 * s.x)

    def model(self, s):
        return mean(s.x)


@pytest.mark.parametrize("K", [1, 2, 5])
def test_a_round_is_every_k_iterations(problem, K):
    """K local steps between two rounds, the last iteration of a budget inside a round or not."""
    gammas, iterations = (0.04, 0.01), 11
    method = LocalGD(np.array(gammas).reshape(1, 1, 2), K)
    budget = Budget(iterations=iterations)
    trace = simulate(method, problem, seeds=2, budget=budget, record=Record(1, 1))
    for run, gamma in enumerate(gammas):
        x, distances = np.zeros((3, 5, 1)), []
        for iteration in range(iterations + 1):
            if iteration:
                x = x - gamma * problem.grad(x)
            if iteration % K == 0:
                x = x.mean(axis=0) + 0 * x
            if iteration % K == 0 or iteration == iterations:
                distances.append(np.sum((x.mean(axis=0, keepdims=True) - problem.x_star) ** 2))
        rows = trace.run(run)
        recorded = [*range(0, iterations, K), iterations]
        assert rows["iteration"].tolist() == recorded
        assert rows["rounds"].tolist() == [iteration // K for iteration in recorded]
        np.testing.assert_array_equal(rows["uplink_bits"], 32 * 5 * rows["rounds"])
        np.testing.assert_array_equal(rows["gradients"], 1 + rows["iteration"])
        np.testing.assert_allclose(rows["distance"], distances, rtol=1e-12)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("name", ["locodl", "scaffnew", "gradskip", "tamuna", "diana"])
def test_runs_that_communicate_and_end_at_different_times_are_those_walked_alone(problem, name):
    """Every recorded column of every run, with the same step sizes, coins and noise."""
    card = METHODS[name]
    sent = RAND_2 if card.method.needs.compressor else None
    method = card.parameters(problem, sent)
    grid = Grid({"gamma": [method.gamma, method.gamma / 3]}, seeds=2)
    batch = Experiment.of(replace(method, gamma=grid["gamma"]), problem, sent)
    budget, theorem = Budget(gap=1e-4, iterations=300), card.theorems[0]
    trace = recorded_run(batch, theorem, seeds=grid.runs, budget=budget, record=Record(1, 1))
    assert len(set(trace.final("iteration"))) > 1
    for run, (gamma, seed) in enumerate(zip(grid["gamma"].ravel(), grid.runs, strict=True)):
        alone = replace(batch, method=replace(method, gamma=float(gamma)))
        setting, star = Setting.at(alone), fixed_point(alone.method, alone.problem)
        rows, row = trace.run(run), 0
        w = world_of(alone, seeds=(seed,), together=False)
        for iteration, s in enumerate(w.walk(int(rows["iteration"][-1]))):
            if rows["iteration"][row] != iteration:
                continue
            x = method.model(s)
            found = {column: values[row] for column, values in rows.items()}
            terms = theorem.lyapunov(alone.method, s, star, setting, w.problem)
            expected = {
                "gradients": w.ledger.gradients[0] / 3,
                "uplink_bits": w.ledger.uplink_bits[0] / 3,
                "downlink_bits": w.ledger.downlink_bits[0] / 3,
                "synchronisations": w.ledger.synchronisations[0],
                "gap": w.problem.gap(x)[0],
                "distance": np.sum((x - w.problem.x_star) ** 2),
                "lyapunov": value(terms, w.problem)[0],
            }
            assert_same_columns(found, expected, rtol=1e-9, names=expected)
            row += 1
        assert row == len(rows["iteration"])


def test_a_lyapunov_function_is_recorded_only_if_it_is_given(problem, locodl):
    options = {"seeds": 2, "budget": Budget(rounds=5)}
    experiment = Experiment.of(locodl, problem, RAND_2)
    assert np.isnan(engine.simulate(experiment, **options).columns["lyapunov"]).all()
    given = engine.simulate(
        experiment, potential=lambda method, s, problem: method.gamma + s.y[0, 0], **options
    )
    assert given.columns["lyapunov"][0] == locodl.gamma
    assert np.isfinite(given.columns["lyapunov"]).all()


def test_divergence_is_recorded_not_raised(problem):
    trace = simulate(GD(gamma=5.0), problem, seeds=2, budget=Budget(rounds=10_000))
    assert trace.ending == ("diverged", "diverged")
    assert not np.isfinite(trace.final("gap")).any()


def test_a_diverging_run_does_not_disturb_the_others(problem, locodl):
    """Only runs whose values are no longer finite end; here none does, in the same batch size."""
    hasty = replace(locodl, gamma=2.5 * locodl.gamma, p=1.0)
    trace = simulate(hasty, problem, RAND_2, seeds=5, budget=Budget(rounds=3000, gap=1e-9))
    for run_number, ending in enumerate(trace.ending):
        assert (ending == "diverged") == (not np.isfinite(trace.run(run_number)["gap"][-1]))


def test_progress_is_that_of_the_slowest_run(problem, locodl):
    """Runs that communicate by chance end at different iterations; only the last one makes it 1."""
    told = []
    trace = simulate(
        locodl, problem, RAND_2, seeds=4, budget=Budget(rounds=9), record=Record(every=1),
        progress=told.append,
    )  # fmt: skip
    assert len(set(trace.final("iteration"))) > 1
    assert told.count(1.0) == 1


@pytest.mark.parametrize(("cached", "sizes"), [(1, [1, 1, 1]), (2.5, [2, 1]), (9, [3])])
def test_runs_in_several_batches_are_those_of_one(problem, locodl, monkeypatch, cached, sizes):
    """A batch holds as many runs as fit, one at least; runs may have their own step sizes."""
    method = replace(locodl, gamma=locodl.gamma * np.array([1.0, 0.5, 0.8]).reshape(1, 1, 3))
    budget = Budget(rounds=40)
    at_once = simulate(method, problem, compressor("rand-k:2"), seeds=(4, 4, 9), budget=budget)
    size = problem.n * problem.d
    monkeypatch.setattr("certibit.solvers.runs.engine._HELD", int(cached * size))
    made = [batch.size for batch in _batches(3, size, "numpy")]
    assert made == sizes
    monkeypatch.setattr("certibit.solvers.runs.engine.most_numbers", lambda library: cached * size)
    assert [batch.size for batch in _batches(3, size, "cupy")] == sizes
    told = []
    trace = simulate(
        method, problem, compressor("rand-k:2"), seeds=(4, 4, 9), budget=budget,
        progress=told.append,
    )  # fmt: skip
    assert (trace.specification, trace.ending) == (at_once.specification, at_once.ending)
    assert_same_columns(trace.columns, at_once.columns, rtol=1e-10)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def test_gradients_of_no_client_are_not_evaluated(problem):
    class Untouchable:
        n, d = problem.n, problem.d

        def grad(self, x):
            raise AssertionError

    oracle = Oracle(Untouchable(), np.arange(2), ledger := Ledger(2))
    x = np.ones((1, problem.d, 2))
    nobody = np.zeros((problem.n, 1, 2), dtype=bool)
    assert np.array_equal(oracle.grad(x, active=nobody), np.zeros((problem.n, problem.d, 2)))
    assert ledger.gradients.tolist() == [0, 0]
    with pytest.raises(AssertionError):
        oracle.grad(x, active=nobody | (np.arange(2) == 1))


def test_single_precision_is_an_option(problem):
    method = parameters("gd", problem)
    trace = simulate(method, problem, seeds=1, budget=Budget(rounds=100), dtype="float32")
    double = simulate(method, problem, seeds=1, budget=Budget(rounds=100))
    assert trace.specification["dtype"] == "float32"
    assert trace.final("gap")[0] != double.final("gap")[0]
    assert trace.run(0)["gap"][3] == pytest.approx(double.run(0)["gap"][3], rel=1e-3)
