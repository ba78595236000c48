"""Methods that name no samples: every gradient of a step has a noise of its own."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from attack import largest_excess
from small_methods import DrawsUndeclared, Undeclared

from certibit import (
    GD,
    MARINA,
    SGD,
    FiveGCSCC,
    FunctionClass,
    GradientNoise,
    LocalSGD,
    Refusal,
    certify,
)
from certibit.solvers.authoring import Method, Needs, copies, mean
from certibit.solvers.local_solve import gradient_steps
from certibit.theory.proofs import symbolic_step
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.worlds.symbolic import symbols

CLOSE = 1e-8


def noisy(n, **constants):
    return FunctionClass.nonconvex(n, L=1.0, noise=GradientNoise(), **constants)


@dataclass(frozen=True)
class TwoCalls(GD):
    """A step with a (g + g'), for two gradients g, g' at one point: 2 a = 1 for their mean."""

    first: float = 0.5
    second: float = 0.5

    name = "two-calls"

    def communicate(self, s, problem, channel):
        sent = self.first * problem.grad(s.x) + self.second * problem.grad(s.x)
        return type(s)(channel.broadcast(s.x - self.gamma * mean(channel.send(sent))))


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("n", [1, 10])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 0.0), (3.0, -2.0)])
def test_two_calls_are_two_samples(n, a, b):
    """c = gamma (1 - gamma L/2) and e = (a^2 + b^2) L gamma^2/(2 n) for Psi = f - inf f."""
    gamma = 0.2
    c = gamma * (1 - gamma / 2)
    proof = certify(TwoCalls(gamma, a, b), noisy(n), AtModel("gap"), least=c * (1 - CLOSE))
    assert proof.c == pytest.approx(c, rel=1e-7)
    assert proof.e == pytest.approx((a**2 + b**2) * gamma**2 / (2 * n), rel=1e-6)
    assert proof.verify()


def test_two_calls_as_one_sample_are_caught(monkeypatch):
    """Their difference would have no noise."""
    method = TwoCalls(0.2, 3.0, -2.0)
    right = symbols.MessageErrors.unknown

    def again(self, sent, law, beside=None):
        self.places.clear()
        return right(self, sent, law, beside)

    proof = certify(method, noisy(1), AtModel("gap"), least=0.17)
    assert max(largest_excess(proof, (h,)) for h in (-1.0, 0.4, 1.0)) <= 1e-9
    monkeypatch.setattr(symbols.MessageErrors, "unknown", again)
    wrong = certify(method, noisy(1), AtModel("gap"), least=0.17)
    assert max(largest_excess(wrong, (h,)) for h in (-1.0, 0.4, 1.0)) > 0.1


SOLVING = FiveGCSCC(gamma=0.14, tau=0.8, mu=0.1, L_F=0.3, omega=1.0, cohort=3, K=40)


def test_a_relation_that_noise_breaks_is_not_used(monkeypatch):
    """MARINA keeps grad f_i(x), which is that of a sample here; taken as exact, e is too small."""
    method, functions = MARINA(0.3, 0.3), noisy(1, omega=1.0)
    monkeypatch.setattr(symbolic_step.Premises, "relations", (0,))
    wrong = certify(method, functions)
    assert max(largest_excess(wrong, (h,)) for h in (-1.0, 0.4, 1.0)) > 1e-3


@dataclass(frozen=True)
class Slopes:
    x: Any  # (1, d, R), the model
    a: Any  # (1, d, R), two gradients at the start, halved in every step
    b: Any  # (1, d, R)


@dataclass(frozen=True)
class Twice(Method):
    """Gradient descent less the difference of two gradients at the start, which are of samples."""

    gamma: float

    name, needs = "twice", Needs(nonconvex=True)

    def start(self, x, problem, channel):
        return Slopes(x, *(mean(channel.send(problem.grad(x))) for _ in range(2)))

    def communicate(self, s, problem, channel):
        step = self.gamma * mean(channel.send(problem.grad(s.x))) + s.a - s.b
        return Slopes(channel.broadcast(s.x - step), s.a / 2, s.b / 2)

    def fixed_point(self, problem):
        return Slopes(problem.x_star, 0 * problem.x_star, 0 * problem.x_star)

    def invariants(self, s, problem):
        return (s.a - s.b,)


def test_a_relation_that_noise_breaks_at_the_start_is_not_used(monkeypatch):
    """Every step keeps a = b, which holds at the start without noise only."""
    with pytest.raises(Refusal, match="no descent is proved"):
        certify(Twice(0.1), noisy(1), AtModel("gap"))
    monkeypatch.setattr(symbolic_step.Premises, "relations", (0,))
    wrong = certify(Twice(0.1), noisy(1), AtModel("gap"))
    assert wrong.c > 0


@pytest.mark.parametrize("noise", [None, GradientNoise()])
@pytest.mark.parametrize("method", [Undeclared(0.1), DrawsUndeclared(0.1)])
def test_a_sample_that_is_not_declared_is_refused(method, noise):
    with pytest.raises(Refusal, match="write samples=True in its Needs"):
        certify(method, replace(noisy(2), noise=noise))


def test_plain_gradients_of_a_method_that_names_samples_are_exact():
    class Named(GD):
        name, needs = "named", Needs(nonconvex=True, samples=True)

    proof = certify(Named(0.5), noisy(5))
    exact = certify(GD(0.5), replace(noisy(5), noise=None))
    assert (proof.e, proof.c) == (0.0, pytest.approx(exact.c))


@dataclass(frozen=True)
class ManySteps(SGD):
    """Many local steps of SGD, which are no inequality about exact gradients."""

    name, needs = "many-steps", LocalSGD.needs

    def communicate(self, s, problem, channel):
        y = gradient_steps(
            lambda y: problem.grad(y, sample=0),
            copies(s.x, problem.n),
            channel.cohort(problem.n),
            problem,
            step=self.gamma,
            count=40,
        )
        return type(s)(channel.broadcast(mean(channel.send(y))))


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (SOLVING, "take fewer local steps"),
        (replace(SOLVING, adaptive=True), "up to an accuracy"),
        (ManySteps(0.01), "take fewer local steps"),
    ],
)
def test_local_solves_are_of_exact_gradients(method, sentence):
    functions = noisy(1) if isinstance(method, ManySteps) else noisy(3, omega=1.0)
    with pytest.raises(Refusal, match=sentence):
        certify(method, functions)
