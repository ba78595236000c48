"""Promises about convex functions: kept on runs and hard functions, and planted faults seen."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import certibit
from certibit import (
    CARDS,
    METHODS,
    Card,
    Experiment,
    Quadratic,
    RunTheorem,
    Setting,
    check,
    parameters,
    plan,
)
from certibit.solvers.authoring import mean, where
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.theory.cards.diana import ConvexShifts
from certibit.theory.cards.gd import ApproachConvex, LastIterate
from certibit.theory.cards.nesterov import GrowingMomentum
from certibit.theory.checks.method.promise import promise
from certibit.theory.checks.method.whole_runs import bounded_run, on_huber_functions
from certibit.theory.checks.promises import at_the_boundary
from certibit.theory.theorem import Condition, ContractionPromise, DescentPromise, RunPromise

RULES = {
    "gd": "1/L",
    "diana": "convex",
    "sgd": "nonconvex",
    "nesterov": "convex",
    "growing-adiana": "convex",
}
STATED = [(name, theorem) for name, card in CARDS.items() for theorem in card.about("gap")]
LEAST = {"nesterov": 0.4, "growing-adiana": 0.0}
"""The least share of a bound that Huber functions have, where it is not tight."""
PROBLEM = Quadratic.random(3, 4, 1.0, 1e4)


def checked(name, theorem):
    """Return the verdicts of a theorem on hard functions, and at the boundary."""
    card, rule = CARDS[name], RULES[name]
    return on_huber_functions(theorem, card, rule), at_the_boundary(theorem, card, rule)


def test_the_hypothesis_that_fails_is_named_where_all_theorems_are_of_convex_functions():
    """It was left out, and nothing failed."""
    found = check(certibit.Nesterov(gamma=0.4), Quadratic.random(3, 4, 1.0, 10.0), rounds=3)
    assert "accelerated gradient descent, convex: not met, gamma <= 1/L_f" in repr(found)
    assert not found.holds


def test_theorems_about_runs_do_not_apply_to_stochastic_gradients():
    batches = certibit.problem("breast-cancer@9:batch=8")
    found = check(certibit.Nesterov(gamma=0.3), batches, rounds=3)
    assert found.unpromised.endswith("does not apply: accelerated gradient descent, convex")


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("name", "theorem"), STATED, ids=lambda one: getattr(one, "title", one))
def test_convex_theorems_hold_and_are_tight(name, theorem):
    huber, boundary = checked(name, theorem)
    assert huber.holds
    assert huber.note == "tight" or huber.value > LEAST[name]
    assert boundary.holds
    assert boundary.points >= 4


FAULTS = [
    ("gd", LastIterate, "weight", lambda self, m, s: (2 / s.constants.L_f, 4.2 * m.gamma)),
    ("gd", LastIterate, "weight", lambda self, m, s: (3 / s.constants.L_f, 4 * m.gamma)),
    ("gd", ApproachConvex, "descent", lambda self, m, s: 2.1 * m.gamma),
    ("diana", ConvexShifts, "descent", lambda self, m, s: 2.1 * m.gamma),
    ("nesterov", GrowingMomentum, "weight", lambda self, m, s: (m.gamma, m.gamma, m.gamma)),
    (
        "nesterov",
        GrowingMomentum,
        "weight",
        lambda self, m, s: (0.65 * m.gamma, 1.3 * m.gamma, 0.65 * m.gamma),
    ),
]


@pytest.mark.parametrize(("name", "theorem", "part", "wrong"), FAULTS)
def test_planted_a_constant_that_is_too_good_is_seen(monkeypatch, name, theorem, part, wrong):
    monkeypatch.setattr(theorem, part, wrong)
    huber, _ = checked(name, theorem())
    assert not huber.holds


def too_long(theorem, farther):
    """Return the hypotheses of a theorem with a larger limit of the step size."""
    right = theorem.conditions

    def conditions(self, m, setting):
        first, step, *rest = right(self, m, setting)
        return (first, Condition(step.statement, step.left, farther * step.right), *rest)

    return conditions


@pytest.mark.parametrize(
    ("name", "theorem", "farther"),
    [
        ("gd", LastIterate, 1.9),
        ("gd", ApproachConvex, 1.5),
        ("diana", ConvexShifts, 1.3),
        ("nesterov", GrowingMomentum, 1.5),
    ],
)
def test_planted_a_hypothesis_that_asks_for_too_little_is_seen(monkeypatch, name, theorem, farther):
    monkeypatch.setattr(theorem, "conditions", too_long(theorem, farther))
    assert not at_the_boundary(theorem(), METHODS[name], RULES[name]).holds


def test_planted_shifts_that_weigh_too_little_are_seen(monkeypatch):
    right = ConvexShifts.lyapunov

    def lighter(self, m, s, star, setting, problem):
        distance, shifts = right(self, m, s, star, setting, problem)
        return distance, certibit.Squares(shifts.weight / 2, shifts.vectors)

    monkeypatch.setattr(ConvexShifts, "lyapunov", lighter)
    assert not at_the_boundary(ConvexShifts(), METHODS["diana"], "convex").holds


def test_check_holds_a_run_against_the_bound(monkeypatch):
    method = parameters("gd", PROBLEM, rule="1/L")
    found = check(method, PROBLEM, rule="1/L", seeds=1, accuracy=1e-2)
    lines = {verdict.check for verdict in found.verdicts}
    assert found.holds
    assert {"f - f* along a run / bound", "descent along a run", "Huber functions / bound"} <= lines
    assert [one.factor is None for one in found.promised] == [False, True, True]
    assert "met, E[f(x_T)] - f* <= Psi_0/(0.000327328 + 0.000654657 T)" in str(found.promised[1])
    experiment, budget = Experiment.of(method, PROBLEM), Budget(gap=1e-2)
    assert bounded_run(LastIterate(), experiment, budget).holds
    monkeypatch.setattr(LastIterate, "weight", lambda self, m, s: (0.0, 30 * m.gamma))
    assert not bounded_run(LastIterate(), experiment, budget).holds


@dataclass(frozen=True)
class Lazy(certibit.GD):
    """Gradient descent that does a step with probability p."""

    p: float = 0.5

    name = "lazy"

    def communicate(self, s, problem, channel):
        step = self.gamma * mean(channel.send(problem.grad(s.x)))
        return type(s)(where(channel.coin(self.p), channel.broadcast(s.x - step), s.x))


class LazyRuns(RunTheorem):
    """E f(x_T) - f* <= |x_0 - x*|^2/(2 gamma p (T + 1)) for 0 < gamma <= 1/L_f.

    With N steps done it is |x_0 - x*|^2/(2/L_f + 4 gamma N) at most, and with the binomial law
    E 1/(N + 1) <= 1/(p (T + 1)).
    """

    method, title, published = Lazy, "lazy gradient descent", False

    def conditions(self, m, setting):
        return LastIterate().conditions(m, setting)

    def lyapunov(self, m, s, star, setting, problem):
        return (certibit.Squares(1.0, s.x - star.x),)

    def weight(self, m, setting):
        return (2 * m.gamma * m.p,) * 2


LAZY = Card(Lazy, rules={"half": lambda setting: Lazy(1 / setting.constants.L_f, 0.5)})
ROWS = certibit.problem("breast-cancer@5", kappa=100)
SLOW = Budget(iterations=100)


@pytest.mark.parametrize("solved", [PROBLEM, ROWS], ids=["quadratic", "logistic"])
@pytest.mark.parametrize("p", [0.1, 0.9])
def test_random_runs_are_held_against_a_bound_of_their_mean(monkeypatch, solved, p):
    experiment = Experiment.of(Lazy(1 / solved.constants.L_f, p), solved)
    kept = bounded_run(LazyRuns(), experiment, SLOW)
    assert (kept.holds, kept.note) == (True, "means of 200 runs, less 6 standard errors")
    right = LazyRuns.weight
    share = 0.9 * kept.value
    monkeypatch.setattr(LazyRuns, "weight", lambda *of: tuple(w / share for w in right(*of)))
    assert not bounded_run(LazyRuns(), experiment, SLOW).holds


def test_planted_a_probability_that_is_forgotten_is_seen(monkeypatch):
    """On Huber functions and at the boundary, where each was refused before."""
    assert on_huber_functions(LazyRuns(), LAZY, "half").holds
    assert at_the_boundary(LazyRuns(), LAZY, "half").holds
    right = LazyRuns.conditions

    def farther(self, m, setting):
        first, step = right(self, m, setting)
        return first, Condition(step.statement, step.left, 2.2 * step.right)

    with monkeypatch.context() as patched:
        patched.setattr(LazyRuns, "conditions", farther)
        assert not at_the_boundary(LazyRuns(), LAZY, "half").holds
    monkeypatch.setattr(LazyRuns, "weight", lambda self, m, s: (2 * m.gamma, 4 * m.gamma))
    assert not on_huber_functions(LazyRuns(), LAZY, "half").holds


@pytest.mark.parametrize(
    "made", [ContractionPromise(0.9), DescentPromise(0.3), RunPromise((2.0, 4.0)),
             RunPromise((0.5, 1.0, 0.5))]
)  # fmt: skip
def test_three_kinds_of_promise_have_one_interface(made):
    few, many = (made.rounds_to(accuracy, start=3.0, variance=0.0) for accuracy in (0.1, 0.001))
    assert 0 < few < many < math.inf
    assert made.measure in {"potential", "gap", "squared_gradient"}
    if isinstance(made, RunPromise):
        assert made.bound(few, 3.0) <= 0.1 < made.bound(few - 1, 3.0)
        assert RunPromise((1.0,)).rounds_to(0.1) == math.inf


def test_a_plan_takes_the_strongest_of_all_kinds():
    """A factor at a high accuracy, the bound of convex functions at a low one; both are kept."""
    problem = Quadratic.random(3, 4, 1.0, 1e3)
    low, high = (plan(problem, target=target, methods=["gd"]).best for target in (3.0, 1e-4))
    assert low.by == LastIterate.title
    assert high.by == "gradient descent, classical"
    for offer, target in ((low, 3.0), (high, 1e-4)):
        card, setting = offer.card, Setting.at(offer.experiment)
        held = card.about("potential", "gap")
        held = [one for one in held if not one.unmet(offer.experiment.method, setting)]
        rounds = [promise(one, offer.experiment).rounds_to(target) for one in held]
        assert offer.promised.rounds == min(rounds)
        budget = Budget(rounds=int(offer.promised.rounds))
        trace = simulate(offer.experiment, seeds=1, budget=budget)
        assert trace.final("gap")[0] <= target


def test_the_mean_of_a_convex_descent_is_kept():
    sent = certibit.compressor("rand-k:2")
    diana = Experiment.of(parameters("diana", PROBLEM, sent, "convex"), PROBLEM, sent)
    target = 1e4
    steps = int(promise(ConvexShifts(), diana).rounds_to(target))
    trace = simulate(diana, seeds=5, budget=Budget(rounds=steps), record=Record(ratio=1, every=1))
    assert np.mean(trace.columns["gap"]) <= target
