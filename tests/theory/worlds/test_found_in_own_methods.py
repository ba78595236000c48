"""Invariants and fixed points of methods that users write: what is there, and no more."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from small_methods import Moments
from unstated import formulas, quadratic, unstated

import certibit
from certibit import CELGC, EF, GD, CompressedGD, Every, Method, Needs, Refusal, copies, mean
from certibit.solvers.method import WithProbability
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants


@dataclass(frozen=True)
class MomentumDIANA(Method):
    gamma: float = 0.005
    alpha: float = 0.1
    beta: float = 0.2
    name, needs, schedule = "momentum-diana", Needs(compressor="unbiased"), Every()

    def start(self, x, problem, channel):
        return Moments(x, 0 * x, copies(0 * x, problem.n))

    def communicate(self, s, problem, channel):
        m = channel.uplink(problem.grad(s.x) - s.h)
        v = self.beta * s.v + mean(s.h + m)
        return Moments(channel.broadcast(s.x - self.gamma * v), v, s.h + self.alpha * m)


@dataclass(frozen=True)
class Local:
    x: object
    before: object
    v: object
    h: object
    late: object


@dataclass(frozen=True)
class LocalMethod(Method):
    """Local steps with control variates; the server has momentum and keeps where it was before.

    A client is late if its coin says so, and then has 0 for its last change.
    """

    gamma: float = 0.07
    beta: float = 0.25
    name, needs, schedule = "local", Needs(), Every(3)

    def start(self, x, problem, channel):
        h = copies(0 * x, problem.n)
        return Local(copies(x, problem.n), x, 0 * x, h, h[:, :1, :] == 1)

    def local_step(self, s, problem, channel):
        return replace(s, x=s.x - self.gamma * (problem.grad(s.x) - s.h))

    def communicate(self, s, problem, channel):
        sent = channel.send(s.x)
        x = channel.broadcast(mean(sent))
        h = s.h + (x - sent) / (self.gamma * self.schedule.iterations)
        v = self.beta * s.v + x - s.before
        late = channel.client_coins((0.01,) * problem.n)
        return Local(copies(x, problem.n), x, v, h, late)


@dataclass(frozen=True)
class HeavyBall(Method):
    gamma: float = 0.03
    beta: float = 0.7
    name, needs, schedule = "heavy-ball", Needs(), WithProbability(0.5)

    def start(self, x, problem, channel):
        return Moments(x, 0 * x, x)

    def communicate(self, s, problem, channel):
        v = self.beta * s.v + mean(channel.send(problem.grad(s.x)))
        return Moments(s.x - self.gamma * v, v, s.x)

    def local_step(self, s, problem, channel):
        return s


USERS = [
    (MomentumDIANA(), set(), {"x": 1, "v": 0}, {"h": 1}),
    (LocalMethod(), {"+1 x -1 before", "+1 mean h"}, {"x": 1, "before": 1, "v": 0}, {"h": 1}),
    (HeavyBall(), {"+1 x +0.03 v -1 h"}, {"x": 1, "v": 0, "h": 1}, {}),
]


@pytest.mark.parametrize(
    ("method", "kept", "points", "gradients"), USERS, ids=lambda x: getattr(x, "name", "")
)
def test_a_users_method(method, kept, points, gradients):
    """Fields are multiples of x* or of the gradients at x*."""
    assert formulas(method, 4) == kept
    view = quadratic(4, 3)
    star = fixed_point(method, view)
    for name, multiple in points.items():
        right = np.broadcast_to(multiple * view.x_star, getattr(star, name).shape)
        np.testing.assert_allclose(getattr(star, name), right, atol=1e-13)
    for name, multiple in gradients.items():
        right = multiple * view.grad_star
        np.testing.assert_allclose(getattr(star, name), right, atol=1e-12)
    assert all(np.max(np.abs(x)) < 1e-12 for x in invariants(method, star, view))


@dataclass(frozen=True)
class Counting(Method):
    """It does something else in every step, for ever."""

    name, needs, schedule = "counting", Needs(), Every()

    def start(self, x, problem, channel):
        return Moments(x, 0 * x, x)

    def communicate(self, s, problem, channel):
        return Moments(s.x - 0.01 * mean(problem.grad(s.x)), s.v + 1, s.h)


def changed(base, **members):
    return unstated(type(base.__name__, (base,), members)(0.01))


# of unlike clients, neither the noise of compressed gradients vanishes, nor errors
RESTLESS = {
    "compressed gradients": (changed(CompressedGD, needs=Needs(compressor="unbiased")), "x"),
    "error feedback": (changed(EF, needs=Needs(compressor="contractive")), "e|x"),
    "FedAvg": (unstated(CELGC(0.05, np.inf, 3)), "x"),
    "clipped local steps": (unstated(CELGC(0.05, 1.0, 3)), "x"),
    "another model": (changed(GD, model=lambda m, s: s.x + 1), "x|the model"),
    "a counter": (Counting(), "v"),
}


@pytest.mark.parametrize(("method", "field"), RESTLESS.values(), ids=list(RESTLESS))
def test_a_method_without_a_fixed_point_is_refused(method, field):
    with pytest.raises(Refusal, match=rf"no state was found .* ({field}) still changes by"):
        fixed_point(method, quadratic(3, 2))


class OfBothGradients(GD):
    """Gradient descent on f + g, whose two gradients cancel at rest and nowhere else."""

    needs = Needs(composite=True)

    def fixed_point(self, problem):
        return None

    def communicate(self, s, problem, channel):
        gradient = mean(channel.send(problem.grad(s.x))) + problem.grad_g(s.x)
        return type(s)(channel.broadcast(s.x - self.gamma * gradient))


@pytest.mark.parametrize("n", [1, 2, 101])
def test_rest_is_found_where_two_gradients_cancel(n):
    found = certibit.certify(OfBothGradients(0.05), certibit.FunctionClass(n, 1.0, 6.0), "search")
    assert found.factor == pytest.approx(0.81, rel=1e-9)
