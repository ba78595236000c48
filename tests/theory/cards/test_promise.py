"""Promised iterations, rounds and bits: exact by hand, and kept by measurements."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import GD, METHODS, Array, Experiment, Quadratic, Refusal, Scaffnew, Setting
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.solvers.backend import copies, everyone, mean
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.method import Method, Needs
from certibit.solvers.methods.ef21 import State as EF21State
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.theory.cards.gd import GradientDescent
from certibit.theory.catalogue.covered_run import lyapunov_record
from certibit.theory.checks.method.promise import (
    Promise,
    RoundCost,
    accuracy_constant,
    promise,
    round_cost,
)
from certibit.theory.checks.method.whole_runs import whole_runs
from certibit.theory.potential import Gap, Squares, value
from certibit.theory.theorem import ContractionPromise
from certibit.theory.worlds.fixed_points import AboutModel

PROBLEM = Quadratic.random(4, 6, 1.0, 20.0, shared_eigenvectors=True, seed=1)


def by_default_rule(name):
    """Return a method with the parameters of its first rule, fitted."""
    card = METHODS[name]
    need = card.method.needs.compressor
    compressor = {"unbiased": RandK(2), "contractive": RandK(4), None: None}[need]
    return Experiment.of(card.parameters(PROBLEM, compressor), PROBLEM, compressor)


class TestArithmetic:
    promise = Promise(ContractionPromise(0.5), 8.0, 4.0, RoundCost(100.0, 200.0, 4.0, 4.0))

    def test_steps(self):
        assert self.promise.steps_to(1.0) == 3
        assert self.promise.steps_to(8.0) == self.promise.steps_to(100.0) == 0
        assert self.promise.rounds_to(1.0) == 3 / 4
        assert self.promise.bits_to(1.0) == 75
        assert self.promise.reals_to(1.0) == 75 / 32

    def test_ends(self):
        cost = self.promise.cost
        assert Promise(ContractionPromise(1.0), 8.0, 1.0, cost).steps_to(1.0) == math.inf
        assert Promise(ContractionPromise(0.0), 8.0, 1.0, cost).steps_to(1.0) == 1


RULES = [(name, rule) for name, card in METHODS.items() for rule in card.rules]


@pytest.mark.long(keep=10)
@pytest.mark.parametrize(("name", "rule"), RULES)
def test_gradients_of_a_round_are_those_of_runs_in_the_mean(name, rule):
    """Exact without coins, else within 7 standard errors of 256 runs."""
    card = METHODS[name]
    need = None if "5gcs" in rule else card.method.needs.compressor
    compressor = {"unbiased": RandK(2), "contractive": RandK(4), None: None}[need]
    experiment = Experiment.of(card.parameters(PROBLEM, compressor, rule), PROBLEM, compressor)
    stated = round_cost(experiment).gradients
    assert math.isnan(stated) == (name == "gradskip" or rule.endswith("adaptive"))
    if math.isnan(stated):
        if card.gradients is None:
            return
        stated = card.gradients(experiment.method)
    rounds, start = 50, simulate(experiment, seeds=1, budget=Budget(iterations=1))
    trace = simulate(experiment, seeds=256, budget=Budget(rounds=rounds))
    counted = (trace.final("gradients") - start.columns["gradients"][0]) / rounds
    assert abs(counted.mean() - stated) <= 7 * counted.std(ddof=1) / 16 + 1e-12 * stated


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # (L_f/2) |x|^2 <= c |x|^2
        ("gd", lambda m, c: c.L_f / 2),
        ("diana", lambda m, c: c.L_f / 2),
        # f(x) - f* is itself a term
        ("agd", lambda m, c: 1.0),
        ("ef21", lambda m, c: 1.0),
        # the model is a mean of 4 local models
        ("scaffnew", lambda m, c: c.L_f / 2 / 4),
        ("compressed-scaffnew", lambda m, c: c.L_f / 2 * m.gamma / 4),
        # y with weight n/gamma; f + g is smooth with L_f of the composite view and its ridge
        ("locodl", lambda m, c: (c.L_f + c.ridge) / 2 * m.gamma / 4),
    ],
)
def test_accuracy_constant_by_hand(name, expected):
    experiment = by_default_rule(name)
    constant = accuracy_constant(METHODS[name].theorems[0], experiment)
    expected = expected(experiment.method, experiment.problem.constants)
    assert constant == pytest.approx(expected)


class Forms:
    """|grad f(x)|^2, |grad f_1(x)|^2 and |x - x*|^2, with weights."""

    def __init__(self, *weights):
        self.weights = weights

    def lyapunov(self, m, s, star, setting, problem):
        own = problem.grad(s.x) - problem.grad(star.x)
        forms = mean(own), own[:1], s.x - star.x
        pairs = zip(self.weights, forms, strict=True)
        return tuple(Squares(weight, form) for weight, form in pairs if weight)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((5.0, 0.0, 0.0), lambda c: 1 / (2 * c.mu * 5)),
        ((0.0, 0.0, 5.0), lambda c: c.L_f / 2 / 5),
        # on one quadratic they all are multiples of |x - x*|^2, and on others other ones
        ((0.0, 7.0, 5.0), lambda c: c.L_f / 2 / 5),
        ((5.0, 7.0, 0.0), lambda c: 1 / (2 * c.mu * 5)),
        ((1e-9, 0.0, 5.0), lambda c: c.L_f / 2 / 5),
        # what is subtracted is at most |grad f|^2 <= 2 L_f (f - f*)
        ((-1e-3, 0.0, 5.0), lambda c: 1 / (2 * 5 / c.L_f - 2 * c.L_f * 1e-3)),
    ],
)
def test_accuracy_follows_from_gradients_by_strong_convexity(weights, expected):
    experiment = by_default_rule("gd")
    constant = accuracy_constant(Forms(*weights), experiment)
    assert constant == pytest.approx(expected(experiment.problem.constants))


class Less:
    """The squared distance, less a multiple of f - f*."""

    def __init__(self, weight):
        self.weight = weight

    def lyapunov(self, m, s, star, setting, problem):
        return Squares(1.0, s.x - star.x), Gap(-self.weight, s.x)


def test_what_a_potential_subtracts_is_lost():
    experiment = by_default_rule("gd")
    most = 2 / experiment.problem.constants.L_f
    assert accuracy_constant(Less(most / 4), experiment) == pytest.approx(4 / 3 / most)
    with pytest.raises(Refusal, match="give it f - f"):
        accuracy_constant(Less(most), experiment)


@pytest.mark.parametrize(
    "weights", [(0.0, 7.0, 0.0), (0.0, -1e-9, 5.0), (-1e9, 0.0, 5.0), (5.0, 0.0, -1.0)], ids=str
)
def test_no_accuracy_follows_from_the_gradient_of_one_client(weights):
    """Nor where it, or too much of what bounds f - f*, is subtracted."""
    with pytest.raises(Refusal, match="give it f - f"):
        accuracy_constant(Forms(*weights), by_default_rule("gd"))


def assert_bounded(theorem, experiment):
    """Compare f - f* with c Psi at all recorded states of runs."""
    trace = simulate(
        experiment,
        seeds=3,
        budget=Budget(iterations=300),
        record=Record(every=1),
        potential=lyapunov_record(theorem, Setting.at(experiment)),
    )
    there = np.isfinite(trace.columns["lyapunov"])  # elsewhere only an accuracy is recorded
    gap, psi = (trace.columns[name][there] for name in ("gap", "lyapunov"))
    constant, rounding = accuracy_constant(theorem, experiment), 1e-18 * gap.max()
    assert (gap <= constant * psi * (1 + 1e-9) + rounding).all()


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_tight_theorem_of_ef21_bounds_runs_in_any_unit(unit):
    """Its potential has no f - f*; where mu was far from 1, its promises were too small."""
    problem = Quadratic.random(4, 6, unit, 20 * unit, shared_eigenvectors=True, seed=1)
    card = METHODS["ef21"]
    experiment = Experiment.of(card.parameters(problem, RandK(4), "best"), problem, RandK(4))
    assert_bounded(card.about("potential")[1], experiment)


@pytest.mark.long(keep=6)
@pytest.mark.parametrize(
    "name", [name for name, card in METHODS.items() if card.about("potential")]
)
def test_bound_at_every_point_of_a_run(name):
    """f - f* <= c Psi at all recorded states: the constant, exactly."""
    experiment, theorem = by_default_rule(name), METHODS[name].theorems[0]
    assert_bounded(theorem, experiment)


def test_gradient_descent_reaches_its_promise_exactly():
    """In one dimension with gamma = 1/(2 L) the promise is an equation: f - f* = c tau^t Psi^0."""
    problem = Quadratic.from_arrays(np.full((2, 1, 1), 3.0), np.array([[1.0], [2.0]]))
    experiment = Experiment.of(GD(1 / 6), problem)
    promised = promise(GradientDescent(), experiment)
    assert promised.rate == pytest.approx(1 / 4)
    assert promised.start == pytest.approx(1.5 * 1.5**2)
    trace = simulate(
        experiment, seeds=1, budget=Budget(gap=1e-9, iterations=100), record=Record(every=1)
    )
    assert trace.columns["gap"] == pytest.approx(
        promised.start * promised.rate ** trace.columns["iteration"], rel=1e-9
    )
    assert trace.bits_to(1e-9)[0] == promised.bits_to(1e-9)


def test_a_hypothesis_that_fails_is_named():
    with pytest.raises(Refusal, match="gamma < 2/L_f fails with 1 against"):
        promise(GradientDescent(), Experiment.of(GD(1.0), PROBLEM))


def test_a_rate_is_measured_and_promised_per_iteration_where_a_coin_decides():
    """As tau is; a run of T iterations has about p T rounds."""
    experiment = Experiment.of(Scaffnew(0.05, 0.25), PROBLEM)
    theorem, budget = METHODS["scaffnew"].theorems[0], Budget(gap=1e-15, iterations=60)
    found = whole_runs(theorem, experiment, seeds=2, accuracy=1e-15, iterations=60)
    record = lyapunov_record(theorem, Setting.at(experiment))
    trace = simulate(experiment, seeds=2, budget=budget, potential=record)
    ratios = [
        np.log(psi[-1] / psi[0]) for psi in (trace.run(0)["lyapunov"], trace.run(1)["lyapunov"])
    ]
    assert trace.final("iteration").tolist() == [60, 60]
    assert max(trace.final("rounds")) < 30
    assert found.measured == pytest.approx(np.mean(ratios) / 60, rel=1e-9)
    tau = theorem.rate(experiment.method, Setting.at(experiment))
    assert found.promised == pytest.approx(np.log(tau), rel=1e-12)
    assert found.lyapunov.value >= max(ratios) - 60 * np.log(tau) - 1e-9


class TooFast(GradientDescent):
    def rate(self, m, setting):
        return super().rate(m, setting) ** 3


def test_whole_runs_see_a_promise_that_is_too_good():
    experiment = Experiment.of(GD(1 / 20), PROBLEM)
    found = whole_runs(TooFast(), experiment, accuracy=1e-8)
    assert [verdict.holds for verdict in found.verdicts] == [False, False]
    short = whole_runs(TooFast(), experiment, accuracy=1e-300, iterations=300)
    assert not short.lyapunov.holds
    assert short.bits.value == 300 * 6 * 32
    assert "not reached" in short.bits.note
    assert short.bits.outcome == "not tested"


def test_an_accuracy_that_is_not_reached_tests_no_bits():
    experiment = Experiment.of(GD(1 / 20), PROBLEM)
    short = whole_runs(GradientDescent(), experiment, accuracy=1e-8, iterations=5)
    assert short.bits.outcome == "not tested"
    assert short.lyapunov.outcome == "measured"
    late = whole_runs(TooFast(), experiment, accuracy=1e-8, iterations=200)
    assert late.bits.outcome == "FAILS"  # it has spent more than it may


@pytest.mark.parametrize("weight", [0.0, 0.5, 10.0])
@pytest.mark.parametrize("name", ["gd", "diana", "locodl"])
def test_whole_runs_count_what_is_received_by_its_weight(name, weight):
    experiment = by_default_rule(name)
    theorem = METHODS[name].best_theorem(experiment.method, Setting.at(experiment))
    asked = {"seeds": 3, "accuracy": 1e-3, "iterations": 5000}
    alone = whole_runs(theorem, experiment, **asked)
    found = whole_runs(theorem, experiment, downlink=weight, **asked)
    cost = promise(theorem, experiment).cost
    assert found.bits.holds
    assert found.promised_bits / alone.promised_bits == pytest.approx(
        cost.bits(weight) / cost.uplink_bits
    )
    assert found.bits.value / alone.bits.value == pytest.approx(
        cost.bits(weight) / cost.uplink_bits
    )


def test_a_promise_that_forgets_what_is_received_is_seen(monkeypatch):
    experiment = Experiment.of(GD(1 / 20), PROBLEM)
    monkeypatch.setattr(RoundCost, "bits", lambda cost, downlink=0.0: cost.uplink_bits)
    found = whole_runs(GradientDescent(), experiment, accuracy=1e-4, downlink=100.0)
    assert found.bits.outcome == "FAILS"


@pytest.mark.parametrize("feature", [0, 1])
def test_a_start_that_is_drawn_counts_with_its_mean(feature):
    """Psi_0 of seed 0 alone was 0.5 for feature 1, as its first message hit that feature.

    scaled(rand-k:1) of two entries loses half of every |v|^2 in the mean. Promised were 20 % too
    few rounds.
    """
    H = np.array([[[1.0, 1.5], [1.5, 1.0]], [[1.0, -1.5], [-1.5, 1.0]]])
    b = np.zeros((2, 2))
    b[:, feature] = 1.0
    problem, sent = NonconvexQuadratic.from_arrays(H, b), Scaled(RandK(1))
    card = METHODS["ef21"]
    experiment = Experiment.of(card.parameters(problem, sent), problem, sent)
    (theorem,) = card.about("squared_gradient")
    terms = theorem.lyapunov(
        experiment.method,
        EF21State(problem.x_0, 0 * problem.grad(problem.x_0), 0 * problem.x_0),
        experiment.method.fixed_point(AboutModel(problem, problem.x_0)),
        Setting.at(experiment),
        problem,
    )
    unsent = value(terms, problem).item()  # nothing is received
    exact = 0.5 + (unsent - 0.5) / 2
    assert exact < promise(theorem, experiment).start < 1.1 * exact


@pytest.mark.parametrize(
    ("name", "rule", "number"), [("gd", "1/L", 0), ("gd", "1/L", 1), ("diana", "convex", 0)]
)
def test_a_theorem_about_convex_functions_is_met_by_no_others(name, rule, number):
    """All hypotheses held on nonconvex quadratics, and f - f* was promised there."""
    problem, sent = NonconvexQuadratic.random(4, 6), RandK(2) if name == "diana" else None
    card = METHODS[name]
    theorem, method = card.about("gap")[number], card.parameters(problem, sent, rule)
    (unmet,) = theorem.unmet(method, Setting.of(method, problem, sent))
    assert unmet.statement == "0 <= mu"
    convex = replace(PROBLEM.constants, mu=0.0)
    flat = replace(Setting.of(method, PROBLEM, sent), constants=convex)
    assert not theorem.unmet(card.at(flat, rule), flat)


@dataclass(frozen=True)
class Flagged:
    x: Array
    later: Array


@dataclass(frozen=True)
class Louder(Method):
    """A method that sends more from its second round on, by a flag or by what it sends."""

    gamma: float = 0.01
    by_flag: bool = True
    name, needs = "louder", Needs()

    def start(self, x, problem, channel):
        return Flagged(x, ~everyone(copies(x, problem.n)))

    def communicate(self, s, problem, channel):
        g = problem.grad(s.x)
        received = channel.send(g)
        channel.send(g, s.later if self.by_flag else np.abs(g) > 1e-3 * np.abs(s.x) + 1e-9)
        return Flagged(channel.broadcast(s.x - self.gamma * mean(received)), everyone(g))


class Chatting(Louder):
    """Clients with heads send more."""

    def communicate(self, s, problem, channel):
        received = channel.send(problem.grad(s.x))
        channel.send(0 * received, channel.client_coins([0.5] * problem.n))
        return Flagged(channel.broadcast(s.x - self.gamma * mean(received)), s.later)


def test_no_bits_are_promised_that_depend_on_coins_of_clients():
    with pytest.raises(Refusal, match="or on coins of clients"):
        round_cost(Experiment.of(Chatting(), Quadratic.random(5, 3, mu=1.0, L=10.0)))


@pytest.mark.parametrize("by_flag", [True, False])
def test_no_bits_are_promised_that_depend_on_a_state(by_flag):
    curvatures = np.broadcast_to(np.eye(3), (2, 3, 3))
    problem = Quadratic.from_arrays(curvatures, np.array([[1.0, 0, 0], [0, 0, 0]]))
    method = Louder(by_flag=by_flag)
    with pytest.raises(Refusal, match="bits of a round of louder depend on its state"):
        round_cost(Experiment.of(method, problem))
