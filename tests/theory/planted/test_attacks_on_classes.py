"""What a class says of f + g, of messages drawn together, and of a stated state at rest."""

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from small_methods import Memory, Model, Pair, Psi

from certibit import GD, Assumption, Gap, GradientNoise, Method, Refusal, Squares, certify, total
from certibit.solvers.authoring import Needs, copies, everyone, masked, mean
from certibit.theory.chains.certify_steps import certify_steps
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import AtModel


@dataclass(frozen=True)
class Shifted(Method):
    """Gradient descent with a shift on every client."""

    gamma: float = 0.05
    alpha: float = 0.5
    name, needs = "shifted", Needs()

    def start(self, x, problem, channel):
        return Memory(x, copies(0 * x, problem.n))

    def communicate(self, s, problem, channel):
        message = channel.send(problem.grad(s.x) - s.h)
        x = channel.broadcast(s.x - self.gamma * mean(s.h + message))
        return Memory(x, s.h + self.alpha * message)


@dataclass(frozen=True)
class OfBothParts:
    """|x - x*|^2 + weight times the sum of |h_i - h_i*|^2, and f - f* if there is a share of it."""

    weight: float
    share: float = 0.0

    def lyapunov(self, m, s, star, setting, problem):
        squares = Squares(1.0, s.x - star.x), Squares(self.weight, s.h - star.h)
        return (Gap(self.share, s.x), *squares) if self.share else squares


@dataclass(frozen=True)
class HasASolution(Assumption):
    """The function that is minimised has a minimiser."""

    needs_solution: ClassVar[bool] = True


class OfBoth(Shifted):
    """A step of f + g that keeps x: Psi+ has a gradient of f beside f - f*."""

    needs = Needs(composite=True, strongly_convex=False, nonconvex=True)

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x + 0 * problem.grad_g(s.x))
        return Memory(x, problem.grad(s.x) - s.x)

    def fixed_point(self, p):
        return Memory(p.x_star, p.grad_star - p.x_star)


def test_f_alone_has_no_infimum_at_the_solution_of_f_and_g():
    """f = -x^2/4 and g = 0.51 x^2/2 have the factor 3.239; 2.87 was proved by an infimum of f."""
    functions = FunctionClass(1, -0.5, 1.0, assumptions=(HasASolution(),))
    with pytest.raises(Refusal, match="below its value at the solution of f \\+ g"):
        certify(OfBoth(), functions, OfBothParts(1.0, 1.0), "potential")


@dataclass(frozen=True)
class Sampled(Method):
    """SGD that keeps the exact gradient, and may say that it keeps the sampled one."""

    gamma: float = 0.5
    sample: int | None = None
    name, needs = "sampled", Needs(nonconvex=True, samples=True)

    def start(self, x, problem, channel):
        return Memory(x, problem.grad(x))

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x, sample=0)))
        x = channel.broadcast(s.x - self.gamma * g)
        return Memory(x, problem.grad(x))

    def invariants(self, s, problem):
        asked = {} if self.sample is None else {"sample": self.sample}
        return (s.h - problem.grad(s.x, **asked),)


@pytest.mark.parametrize("functions", [FunctionClass.nonconvex(2, 1.0), FunctionClass(2, 0.0, 1.0)])
def test_an_invariant_has_no_noise(functions):
    """That of the step was taken for the one of the invariant, and so for 0: e = 0 was proved."""
    noisy = replace(functions, noise=GradientNoise())
    assert certify(Sampled(), noisy).e > 0.06
    with pytest.raises(Refusal, match="asks for gradients of some clients or of a sample"):
        certify(Sampled(sample=0), noisy)


class Rounded(Shifted):
    def fixed_point(self, p):
        return Memory(p.x_star, ((1.0 + 2 * self.alpha * 1e16) - 1e16) * p.grad_star)


class Asked(Shifted):
    def fixed_point(self, p):
        return Memory(p.x_star, p.grad_star if 3 * self.gamma <= 0.15 else 7 * p.grad_star)


@pytest.mark.parametrize("method", [Rounded, Asked])
def test_a_stated_state_at_rest_is_the_same_in_floats(method):
    """The Lyapunov function of a run is about the one of floats, and did not decrease."""
    functions = FunctionClass(2, 1.0, 10.0)
    assert certify(Shifted(), functions, OfBothParts(0.01)).c > 0
    with pytest.raises(Refusal, match="does not do with floats what it does with the rational"):
        certify(method(), functions, OfBothParts(0.01))


@dataclass(frozen=True)
class Picked(Method):
    """With floats 100 * 0.29 is below 29, and it takes another point, model or message."""

    where: str
    share: float = 0.29
    name, needs = "picked", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return Pair(x, x)

    def picked(self, where, x, v):
        return (v, x)[int(100 * self.share) - 28] if self.where == where else x

    def communicate(self, s, problem, channel):
        g = problem.grad(self.picked("point", s.x, s.v))
        sent = self.picked("message", 0 * g + s.x - s.v, g)
        received = g + channel.uplink(sent) - sent
        return Pair(channel.broadcast(s.x - 0.05 * mean(received)), s.v)

    def model(self, s):
        return self.picked("model", s.x, s.v)

    def fixed_point(self, problem):
        return Pair(problem.x_star, problem.x_star)


@pytest.mark.parametrize("where", ["point", "message", "model"])
@pytest.mark.parametrize("mu", [1.0, 0.0])
def test_a_step_asks_with_floats_what_it_asks_with_rationals(where, mu):
    functions = FunctionClass(3, mu, 10.0, omega=0.5)
    with pytest.raises(Refusal, match="does not do with floats what it does with the rational"):
        certify(Picked(where), functions, AtModel("distance"))


@dataclass(frozen=True)
class OfACohort(Method):
    gamma: float = 0.8
    name, needs = "of a cohort", Needs(compressor="unbiased", shared_minimiser=True)

    def start(self, x, problem, channel):
        return Model(x)

    def communicate(self, s, problem, channel):
        cohort = channel.cohort(2)
        received = channel.uplink(problem.grad(s.x, cohort), cohort)
        return Model(channel.broadcast(s.x - self.gamma * total(received) / 2))


@pytest.mark.parametrize("measure", ["potential", "gap"])
def test_messages_drawn_together_are_not_those_of_a_cohort(measure):
    """0.467 was proved, and two senders with one sign have 0.68."""
    functions = FunctionClass(4, 1.0, 1.001, omega=1.0, omega_joint=0.5)
    with pytest.raises(Refusal, match="share their randomness cannot be certified together"):
        certify(OfACohort(), functions, AtModel("distance"), measure)


@dataclass(frozen=True)
class Apart(Method):
    """Sends what clients differ by beside the differences to their shifts."""

    gamma: float
    alpha: float
    kappa: float
    name, needs = "apart", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return Memory(x, copies(0 * x, problem.n))

    def communicate(self, s, problem, channel):
        gradients = problem.grad(s.x)
        change = gradients - s.h
        apart, message = channel.uplink(change - mean(change)), channel.uplink(change)
        x = s.x - self.gamma * mean(channel.send(gradients)) + self.kappa * mean(apart)
        return Memory(channel.broadcast(x), s.h + self.alpha * message)


def attained(method, psi, functions, steps, measure):
    """Return a factor of two clients in one dimension whose noises are v times the same sign.

    E|noise_i|^2 = omega |v_i|^2, and |mean noise|^2 is at most that mean; either client may have
    the other sign.
    """
    root, unit, worst = np.sqrt(functions.omega), np.eye(3), 0.0
    for slopes in product((functions.mu, functions.L), repeat=2):
        change = np.stack([slopes[i] * unit[0] - unit[1 + i] for i in range(2)])
        apart = change - change.mean(0)
        steady = unit.copy()
        steady[0] -= method.gamma * np.mean(slopes) * unit[0]
        steady[1:] += method.alpha * change
        start = np.diag([1.0, psi.weight, psi.weight])
        for signs in product((1, -1), repeat=2):
            of_apart = np.outer(unit[0], method.kappa * root / 2 * (apart[0] + signs[0] * apart[1]))
            of_shift = (
                method.alpha * root * np.stack([0 * unit[0], change[0], signs[1] * change[1]])
            )
            form = start if measure == "potential" else np.diag([1.0, 0.0, 0.0])
            for _ in range(steps):
                form = sum(one.T @ form @ one for one in (steady, of_apart, of_shift))
            ratios = np.linalg.eigvals(np.linalg.solve(start, form))
            worst = max(worst, float(ratios.real.max()))
    return worst


@pytest.mark.parametrize("measure", ["potential", "distance"])
@pytest.mark.parametrize(
    ("method", "weight"), [(Apart(0.3, 0.5, 1.0), 1.0), (Apart(0.3, 0.5, 0.35), 0.1)], ids=repr
)
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_noises_drawn_together_are_bounded_for_one_law_over_steps(method, weight, steps, measure):
    """1.88 was proved of two steps, where 4.52 is attained: each form had a law of its own."""
    functions, psi = FunctionClass(2, 1.0, 2.0, omega=2.0, omega_joint=2.0), OfBothParts(weight)
    true = attained(method, psi, functions, steps, measure)
    assert true > 1
    chain = certify_steps(method, functions, steps, psi, measure)
    assert chain.verify()
    assert chain.factor >= true * (1 - 1e-9)
    if steps == 1:
        assert chain.factor <= true * 1.01


@dataclass(frozen=True)
class Turning:
    x: object
    h: object
    up: object  # a flag that all share


@dataclass(frozen=True)
class Offset(Method):
    """With the flag down, as it is after the start, it adds the gradients at 0 somewhere."""

    where: str
    name, needs = "offset", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return Turning(x, problem.grad(x), everyone(x))

    def communicate(self, s, problem, channel):
        more = masked(~s.up, problem.grad(0 * s.x, active=~s.up))
        more = channel.uplink(more) if self.where == "message" else more
        g, used = problem.grad(s.x), 0 * more if self.where == "memory" else more
        kept = g + more if self.where == "memory" else g
        sent = s.h if self.where == "memory" else g + used
        up = channel.coin(0.5) if self.where == "memory" else s.up & ~s.up
        return Turning(channel.broadcast(s.x - 0.05 * mean(channel.send(sent))), kept, up)

    def fixed_point(self, problem):
        return Turning(problem.x_star, problem.grad_star, everyone(problem.x_star))


@pytest.mark.parametrize("where", ["step", "message", "memory"])
@pytest.mark.parametrize("mu", [1.0, 0.0])
@pytest.mark.parametrize("n", [1, 3])
def test_the_state_at_rest_is_kept_with_every_flag(where, mu, n):
    functions = FunctionClass(n, mu, 10.0, omega=1.0)
    with pytest.raises(Refusal, match="does not stay at its fixed point"):
        certify(Offset(where), functions)
    if mu:
        with pytest.raises(Refusal, match="does not stay at its fixed point"):
            certify_steps(Offset(where), functions, 3)


POINTS = {
    "a difference": (lambda s, star: s.x - star.x, lambda s, star: 0 * s.x),
    "twice a difference": (lambda s, star: 2 * (s.x - star.x), lambda s, star: star.x - star.x),
    "the negative": (lambda s, star: -s.x, lambda s, star: -star.x),
    "far from rest": (lambda s, star: s.x + star.x, lambda s, star: 2 * star.x),
}
"""Points of two gradients, which are equal at rest."""


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("mu", [1.0, 0.0])
@pytest.mark.parametrize("n", [1, 3])
def test_gradients_in_psi_are_at_points_of_the_state(name, mu, n):
    first, second = POINTS[name]

    def terms(m, s, star, f, n):
        apart = f.grad(first(s, star)) - f.grad(second(s, star))
        return Squares(1.0, apart), Squares(0.1, s.x - star.x)

    with pytest.raises(Refusal, match="elsewhere than at x"):
        certify(GD(0.1), FunctionClass(n, mu, 10.0), Psi(terms), "potential")


class Related(GD):
    """A relation that is 0 for the wrong point."""

    name = "related"

    def invariants(self, s, problem):
        return (problem.grad(s.x - problem.x_star) - problem.grad(s.x - problem.x_star),)


def test_relations_ask_for_gradients_at_points_of_the_state():
    with pytest.raises(Refusal, match=r"a relation of the states .* elsewhere than at x"):
        certify(Related(0.1), FunctionClass(2, 1.0, 10.0), AtModel("distance"))


@dataclass(frozen=True)
class Resting(Model):
    """A state of another class, which a step may recognise."""


@dataclass(frozen=True)
class Recognised(Method):
    """It stays where it knows its state at rest, and goes to another point from elsewhere."""

    rest: str
    name, needs = "recognised", Needs()

    def start(self, x, problem, channel):
        return Model(x)

    def communicate(self, s, problem, channel):
        if isinstance(s, Resting):
            return s
        g = mean(channel.send(problem.grad(s.x))) + mean(problem.grad(0 * s.x))
        return Model(channel.broadcast(s.x - 0.05 * g))

    def fixed_point(self, problem):
        x = problem.x_star
        return Resting(x) if self.rest == "class" else Model(copies(x, problem.n))


@pytest.mark.parametrize("rest", ["class", "clients"])
def test_a_state_at_rest_is_a_state(rest):
    why = "not Model as its start does" if rest == "class" else "but of each where recognised"
    with pytest.raises(Refusal, match=why):
        certify(Recognised(rest), FunctionClass(3, 1.0, 10.0), "search")


@dataclass(frozen=True)
class Gathering(Method):
    """Clients on their own, who add each other's gradients when their flags are down."""

    rare: bool
    name, needs = "gathering", Needs(shared_minimiser=True)

    def start(self, x, problem, channel):
        x = copies(x, problem.n)
        return Memory(x, everyone(x))

    def communicate(self, s, problem, channel):
        g = problem.grad(s.x)
        others = masked(~s.h, total(masked(~s.h, g)) - g)
        coins = channel.client_coins([0.5] * int(problem.n)) if self.rare else s.h & ~s.h
        return Memory(s.x - 0.1 * g + 0.5 * others, coins)

    def model(self, s):
        return mean(s.x)


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("rare", [False, True])
def test_as_many_clients_have_other_flags_as_it_takes(n, rare):
    """One of them has nobody to gather from."""
    with pytest.raises(Refusal, match=r"depends on a field of bool|no state was found"):
        certify(Gathering(rare), FunctionClass(n, 1.0, 10.0), "search")
