"""Every point of rest is the solution, and a check says so where it is not."""

from dataclasses import dataclass

import pytest
from small_methods import Moments

from certibit import Card, Experiment, Method, Needs, Quadratic, copies, mean, problem
from certibit.solvers.compressors.selection import RandK, TopK
from certibit.solvers.methods.gd import GD, State
from certibit.theory.catalogue.catalogue import METHODS, SHARED_MINIMISER
from certibit.theory.checks.examination import check, soundness
from certibit.theory.checks.method.conduct import rests_at_the_solution_only

SENT = {None: None, "unbiased": RandK(2), "contractive": TopK(2)}


@pytest.mark.long(keep=12)
@pytest.mark.parametrize("kappa", [10.0, 1e4])
@pytest.mark.parametrize("name", METHODS | SHARED_MINIMISER)
def test_methods_of_the_package_rest_at_the_solution_only(name, kappa):
    card = (METHODS | SHARED_MINIMISER)[name]
    sent, shared = SENT[card.method.needs.compressor], card.method.needs.shared_minimiser
    functions = Quadratic.random(3, 4, 1.0, [kappa, 5.0, 2.0], shared_minimiser=shared)
    experiment = Experiment.of(card.parameters(functions, sent), functions, sent)
    assert rests_at_the_solution_only(experiment).holds


@dataclass(frozen=True)
class Still(GD):
    """It evaluates and sends gradients, and never moves."""

    name = "still"

    def communicate(self, s, problem, channel):
        mean(channel.send(problem.grad(s.x)))
        return State(channel.broadcast(s.x))


@dataclass(frozen=True)
class MomentumOfTheMessage(Method):
    """Every state with v = 0 and h = grad is at rest: the message is 0 there."""

    gamma: float

    name, needs = "momentum-of-the-message", Needs(compressor="unbiased", nonconvex=True)

    def start(self, x, problem, channel):
        return Moments(x, 0 * x, 0 * problem.grad(x))

    def moved_by(self, m, s):
        return mean(m)

    def communicate(self, s, problem, channel):
        m = channel.uplink(problem.grad(s.x) - s.h)
        v = 0.5 * s.v + self.moved_by(m, s)
        return Moments(channel.broadcast(s.x - self.gamma * v), v, s.h + 0.3 * m)


class MomentumOfTheEstimate(MomentumOfTheMessage):
    name = "momentum-of-the-estimate"

    def moved_by(self, m, s):
        return mean(s.h + m)


class HalfOfTheFeatures(Still):
    """The last feature stays where it was."""

    name = "half-of-the-features"

    def communicate(self, s, problem, channel):
        step = self.gamma * mean(channel.send(problem.grad(s.x)))
        step[:, -1] = 0.0
        return State(channel.broadcast(s.x - step))


@dataclass(frozen=True)
class ClientsAlone(Method):
    """The clients hear nothing of each other."""

    name, needs = "clients-alone", Needs()

    def start(self, x, problem, channel):
        return State(copies(x, problem.n))

    def communicate(self, s, problem, channel):
        mean(channel.send(s.x))
        return State(s.x - 0.02 * problem.grad(s.x))

    def model(self, s):
        return mean(s.x)


FUNCTIONS = Quadratic.random(3, 4, mu=1.0, L=10.0)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize(
    "method", [Still(0.05), MomentumOfTheMessage(0.01), HalfOfTheFeatures(0.05)]
)
@pytest.mark.parametrize(
    "functions",
    [FUNCTIONS, "quadratic:d=4@3:nonconvex", "quadratic:d=4@3:nonconvex:noise=0.1"],
)
def test_what_rests_elsewhere_is_caught(method, functions):
    functions = problem(functions) if isinstance(functions, str) else functions
    sent = RandK(2) if method.needs.compressor else None
    found = check(method, functions, sent, card=Card(type(method)), seeds=1, iterations=50)
    failing = [verdict.check for verdict in found.verdicts if not verdict.holds]
    assert "rests at the solution only" in failing
    assert not found.holds


def test_the_same_method_that_does_not_is_not():
    experiment = Experiment.of(MomentumOfTheEstimate(0.01), FUNCTIONS, RandK(2))
    assert rests_at_the_solution_only(experiment).holds


def test_clients_that_hear_nothing_are_caught():
    found = check(ClientsAlone(), FUNCTIONS, card=Card(ClientsAlone), seeds=1, iterations=50)
    assert not found.holds


@dataclass(frozen=True)
class Leaking(MomentumOfTheEstimate):
    """It needs no strong convexity, and does not keep what it says that it keeps."""

    name, needs = "leaking", Needs(strongly_convex=False)

    def start(self, x, problem, channel):
        return Moments(x, 0 * x, problem.grad(x))

    def invariants(self, s, problem):
        return (s.h - problem.grad(s.x),)

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return Moments(channel.broadcast(s.x - self.gamma * g), s.v, s.h)


def test_invariants_are_tested_of_methods_that_need_no_strong_convexity():
    verdicts = soundness(Card(Leaking), Experiment.of(Leaking(0.01), FUNCTIONS))
    (found,) = (verdict for verdict in verdicts if verdict.check == "invariants")
    assert not found.holds
