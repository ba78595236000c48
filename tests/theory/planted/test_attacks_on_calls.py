"""What a step calls and gives away: local solves, masks of broadcasts, coins that are kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from attacks import kind
from small_methods import Memory, Pair, Psi

from certibit import (
    Array,
    ClientClass,
    Gap,
    LoCoDL,
    Method,
    Quadratic,
    Refusal,
    Squares,
    certify,
    check,
)
from certibit.solvers.authoring import Needs, copies, masked, mean
from certibit.solvers.backend import everyone, where
from certibit.solvers.clipping import ModelState, norm, unit
from certibit.solvers.local_solve import gradient_steps, minimise
from certibit.theory.assumptions.assumption import BoundedDissimilarity
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.assumptions.polyak_lojasiewicz import PolyakLojasiewicz, QuasiStrongConvexity
from certibit.theory.function_class import FunctionClass
from certibit.theory.relaxed.certify_clipped import certify_clipped
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
from certibit.theory.worlds.opaque.letters import noted, watched

FUNCTIONS = FunctionClass(2, 1.0, 10.0)
HIDDEN: dict[str, Any] = {}
"""What a method keeps outside of its state."""


@dataclass(frozen=True)
class Stepping(Method):
    """A method with a step from its model."""

    gamma: float = 0.1
    name, needs = "stepping", Needs(shared_minimiser=True)

    def start(self, x, problem, channel):
        return ModelState(x)

    def communicate(self, s, problem, channel):
        return ModelState(self.step(s.x, problem, channel))


class OfASharedSlope(Stepping):
    """Local steps that are honest."""

    def step(self, x, problem, channel):
        y = copies(x, problem.n)
        slope = self.slope(problem)
        y = gradient_steps(slope, y, everyone(y), problem, step=self.gamma, count=40)
        return channel.broadcast(mean(channel.send(y)))

    def slope(self, problem):
        return problem.grad


def counted(factor):
    """Return local steps whose slope is multiplied by a factor of how often it was asked for."""

    def slope(self, problem):
        calls = []

        def changed(y):
            calls.append(y)
            return factor(len(calls)) * problem.grad(y)

        return changed

    return kind("counted", OfASharedSlope, slope=slope)


def concave(m, x, f, c):
    """A local solve of 11/2 |y - x|^2 - f_i(y)."""

    def gradient(y, given, active, functions):
        return 11 * (y - given.x) - functions.grad(y, active)

    begin = copies(0 * x, f.n)
    options = {"accuracy": 0.15, "L": 6.5, "mu": 1.0, "most": 5}
    _, change = minimise(gradient, begin, x, ModelState(x), everyone(begin), f, **options)
    return c.broadcast(x + 0.2 * mean(c.send(change)))


def received_by_nobody(m, x, f, c):
    g = mean(c.send(f.grad(x)))
    return x - m.gamma * c.broadcast(g, np.zeros((1, 1, 1), dtype=bool))


class KeptCoin(Stepping):
    """A coin of the start decides for ever, outside of the state."""

    def start(self, x, problem, channel):
        HIDDEN["heads"], HIDDEN["channel"] = channel.coin(0.5), channel
        return ModelState(x)

    def heads(self, channel):
        return HIDDEN["heads"]

    def step(self, x, problem, channel):
        g = mean(channel.send(problem.grad(x)))
        ahead, back = x + self.gamma * g, x - self.gamma * g
        return channel.broadcast(where(self.heads(channel), ahead, back))


def of_the_last_channel(m, c):
    last, HIDDEN["channel"] = HIDDEN["channel"], c
    return last.coin(0.9)


def with_kept_messages(m, x, f, c):
    return c.broadcast(x - m.gamma * mean(HIDDEN["channel"].uplink(f.grad(x))))


COMPRESSED = Needs(compressor="unbiased", shared_minimiser=True)
UNHEARD = kind("unheard", Stepping, step=received_by_nobody)
OF_SLOPE, KEPT = "slope of local steps depends", "to another call|done before it"
REFUSED = {
    "uphill": (counted(lambda k: 1 if k < 3 else -1), OF_SLOPE),
    "shorter": (counted(lambda k: 1 / k), OF_SLOPE),
    # as many slopes as there are local steps, then the same again
    "round and round": (counted(lambda k: 1 if (k - 1) % 40 < 2 else -1), OF_SLOPE),
    "concave": (kind("concave", Stepping, step=concave), "nothing is known"),
    "a broadcast that no client receives": (
        UNHEARD, "by a mask that the channel did not draw|on numbers what it does on symbols"),
    "a coin of the start": (KeptCoin, "depends on what was done before it"),
    "the channel of the start": (
        kind("kept", KeptCoin, heads=lambda m, c: HIDDEN["channel"].coin(0.9)), KEPT),
    "the channel of the step before": (kind("last", KeptCoin, heads=of_the_last_channel), KEPT),
    "messages by the channel of the start": (
        kind("messages", KeptCoin, needs=COMPRESSED, step=with_kept_messages), KEPT),
}  # fmt: skip


def test_honest_local_steps_are_certified():
    assert certify(OfASharedSlope(), FUNCTIONS).factor < 1


@pytest.mark.parametrize(("attack", "sentence"), REFUSED.values(), ids=REFUSED)
def test_an_attack_is_refused(attack, sentence):
    with pytest.raises(Refusal, match=sentence):
        certify(attack(), FUNCTIONS)


class Asked:
    """What a method may ask in one call."""

    @noted
    def ask(self):
        return 1


def test_what_is_given_to_a_call_is_asked_in_this_call_alone():
    given = Asked()
    with watched("one"):
        assert given.ask() == given.ask() == 1
    refused = pytest.raises(Refusal, match="the step of two uses what was given to another call")
    with refused, watched("two"):
        given.ask()


def test_a_check_sees_that_nobody_receives_a_broadcast():
    problem = Quadratic.random(2, 3, mu=1.0, L=10.0, shared_minimiser=True)
    failing = [one.check for one in check(UNHEARD(), problem).verdicts if not one.holds]
    assert "rests at the solution only" in failing


@dataclass(frozen=True)
class OfOthers(Method):
    """A local solve of one client, of which all clients use the gradient."""

    gamma: float = 0.1
    a: float = 0.5
    accuracy: float = 0.5
    L: float = 30.0
    pull: float = 20.0
    name, needs = "of others", Needs()

    def start(self, x, problem, channel):
        return Memory(x, copies(0 * x, problem.n))

    def communicate(self, s, problem, channel):
        def gradient(y, given, active, functions):
            return functions.grad(y) - given.h

        options = {"accuracy": self.accuracy, "L": self.L, "mu": self.pull, "most": 20}
        some = channel.cohort(1)
        _, change = minimise(gradient, 0 * s.h, s.x, s, some, problem, **options)
        step = self.gamma * mean(channel.send(change + s.h))
        return Memory(channel.broadcast(s.x - step), s.h + self.a * change)


def test_who_is_not_active_in_a_local_solve_gets_no_gradient():
    """Of ten clients one learns its shift in a round, so that a tenth is learned at most."""
    assert certify(OfOthers(), FunctionClass(10, 1.0, 10.0)).factor > 0.94


@pytest.mark.parametrize(
    "worse",
    [{"omega": 99.0}, {"L": 11.0}, {"mu": 0.5}, {"alpha": 0.1}, {"alpha": None}],
    ids=str,
)
def test_no_class_of_clients_is_worse_than_the_whole(worse):
    one = ClientClass(**{"count": 4, "mu": 1.0, "L": 10.0, "alpha": 0.5, **worse})
    with pytest.raises(Refusal, match=r"is not in the class .*; take FunctionClass.of_classes"):
        FunctionClass(4, 1.0, 10.0, alpha=0.5, classes=(one,))


@dataclass(frozen=True)
class Done:
    x: Array
    h: Array
    done: Array


@dataclass(frozen=True)
class OfTheStepBefore(Method):
    """Gradient descent with the gradient of the step before; a flag says that one was done."""

    gamma: float = 0.15
    name, needs = "of the step before", Needs()

    def start(self, x, problem, channel):
        return Done(x, problem.grad(x), ~everyone(copies(x, problem.n)))

    def communicate(self, s, problem, channel):
        g = channel.send(problem.grad(s.x))
        x = channel.broadcast(s.x - self.gamma * mean(s.h))
        return Done(x, g, s.done | everyone(g))


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_what_holds_where_a_flag_is_down_is_not_used_where_all_are_up(n):
    """On L x^2/2 the delayed gradient diverges for gamma L > 1."""
    assert certify(OfTheStepBefore(), FunctionClass(n, 1.0, 10.0)).factor > 1.2
    slow = certify(OfTheStepBefore(0.03), FunctionClass(n, 1.0, 10.0)).factor
    assert slow >= delayed(0.03, 1.0, 10.0) * (1 - 1e-9)


def delayed(gamma, mu, L):
    """The square of the largest root of r^2 - r + gamma h, at the ends of the curvatures."""
    roots = (np.roots([1.0, -1.0, gamma * h]) for h in (mu, L))
    return max(float(np.max(np.abs(r))) for r in roots) ** 2


@dataclass(frozen=True)
class Clipping(Method):
    """Clipped gradient descent."""

    eta: float = 0.25
    gamma: float = 0.25
    name, needs = "clipping", Needs(strongly_convex=False, nonconvex=True, samples=True)

    def start(self, x, problem, channel):
        return ModelState(x)

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        large = norm(g) > self.gamma / self.eta
        return self.moved(s, where(large, self.gamma * unit(g), self.eta * g), large, channel)

    def moved(self, s, step, large, channel):
        return ModelState(channel.broadcast(s.x - step))


@dataclass(frozen=True)
class Later(ModelState):
    """A state after the first step."""


@dataclass(frozen=True)
class Rounding(Clipping):
    """Below a threshold that is 0 but for rounding, steps go uphill."""

    rest: tuple[float, float, float] = (0.1, 0.2, 0.3)
    size: float = 1e17

    def moved(self, s, step, large, channel):
        a, b, c = self.rest
        calm = norm(step) < self.eta * (a + b - c) * self.size
        return ModelState(channel.broadcast(s.x - where(calm, -3 * step, step)))


def test_floats_are_those_of_rationals_everywhere_in_a_regime():
    functions = RelaxedFunctions(L0=1.0, L1=0.01, n=2)
    with pytest.raises(Refusal, match="does not do with floats"):
        certify_clipped(Rounding(eta=0.05, gamma=1.0), functions)


def quiet(m, s, step, large, c):
    """The server sends its step where the gradient is large only."""
    return ModelState(s.x - c.broadcast(step, large))


def turning(m, s, step, large, c):
    """Steps after the first one go uphill."""
    return Later(c.broadcast(s.x + (step if isinstance(s, Later) else -step)))


@pytest.mark.parametrize(
    ("moved", "why"), [(quiet, "broadcasts a part"), (turning, "another kind than it starts from")]
)
def test_a_clipping_attack_is_refused(moved, why):
    functions = RelaxedFunctions(L0=1.0, L1=1.0, n=2)
    assert certify_clipped(Clipping(), functions).c > 0
    with pytest.raises(Refusal, match=why):
        certify_clipped(kind("own", Clipping, moved=moved)(), functions)


@pytest.mark.parametrize(
    "known",
    [
        QuasiStrongConvexity(0.5),
        PolyakLojasiewicz(0.5),
        BoundedDissimilarity(1.0),
        GradientNoise(gap=1.0),
    ],
    ids=repr,
)
def test_what_is_known_of_f_at_its_solution_is_not_used_of_f_and_g(known):
    about = {"noise": known} if isinstance(known, GradientNoise) else {"assumptions": (known,)}
    functions = FunctionClass(2, 0.5, 10.0, omega=1.0, **about)
    with pytest.raises(Refusal, match=r"is about f, and locodl minimises f \+ g"):
        certify(LoCoDL(0.05, 0.5, 0.1, 0.5, 1.0), functions, measure="potential")


class OfBoth(Stepping):
    """Gradients of f and g that vanish at two points."""

    needs = Needs(shared_minimiser=True, composite=True)

    def step(self, x, problem, channel):
        g = mean(channel.send(problem.grad(x)))
        return channel.broadcast(x - self.gamma * g - 0.5 * problem.grad_g(x))


@pytest.mark.parametrize("n", [1, 2])
def test_minimisers_of_f_are_not_those_of_f_and_g(n):
    with pytest.raises(Refusal, match="whose solution is another point"):
        certify(OfBoth(), FunctionClass(n, 1.0, 1.5))


class Descent(Stepping):
    """Compressed gradients of functions with one minimiser, at a step with which it diverges."""

    needs = Needs(compressor="unbiased", shared_minimiser=True)

    def step(self, x, problem, channel):
        return channel.broadcast(x - mean(channel.uplink(problem.grad(x))))


def caught(question, otherwise):
    try:
        return question()
    except Refusal:
        return otherwise


def test_a_psi_that_catches_a_refusal_is_refused():
    """It had the gradient before the step, and nothing after it, where its point has noise."""

    def terms(m, s, star, problem, n):
        slope = caught(lambda: mean(problem.grad(s.x)) - mean(problem.grad(star.x)), 0 * s.x)
        return Squares(1.0, s.x - star.x), Squares(100.0, slope)

    with pytest.raises(Refusal, match="at a point that depends on the noise of this very step"):
        certify(Descent(), FunctionClass(2, 1.0, 2.0, omega=1.0), Psi(terms))


@dataclass(frozen=True)
class Ascent(Method):
    """Steps along the gradient, and a relation that is another one where a gradient is refused."""

    name, needs = "ascent", Needs(nonconvex=True)

    def start(self, x, problem, channel):
        return Pair(0 * x, mean(channel.send(problem.grad(x))))

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x + 0.5 * s.v)
        return Pair(x, mean(channel.send(problem.grad(x))))

    def invariants(self, s, problem):
        known = caught(lambda: problem.grad(0 * s.x), None) is not None
        return (0 * s.x,) if known else (s.v + mean(problem.grad(s.x)),)


def test_a_relation_that_catches_a_refusal_is_refused():
    psi = Psi(lambda m, s, star, problem, n: (Gap(1.0, s.x),))
    with pytest.raises(Refusal, match="a gradient at the solution is asked for"):
        certify(Ascent(), FunctionClass.nonconvex(3, L=1.0), psi)


@dataclass(frozen=True)
class Local(Method):
    """Local steps of which those of clients that are away are used, as one ``way`` says."""

    way: str
    name, needs = "local", Needs()

    def start(self, x, problem, channel):
        return Memory(x, copies(0 * x, problem.n))

    def fixed_point(self, problem):
        return Memory(problem.x_star, problem.grad_star)

    def communicate(self, s, problem, channel):
        some, x = channel.cohort(2), copies(s.x, problem.n)
        if self.way == "solve":
            given = Memory(s.x, s.h)
            _, change = minimise(
                lambda y, given, active, problem: problem.grad(y) - masked(active, given.h),
                0 * x, s.x, given, some, problem, accuracy=0.01, L=4.0, mu=2.0, most=9,
            )  # fmt: skip
            ends = x - 0.1 * (problem.grad(s.x) + change - masked(~some, s.h))
        else:
            active = some if self.way == "cohort" else ~everyone(s.h)

            def slope(z):
                return problem.grad(z) - masked(active, s.h)

            ends = gradient_steps(slope, x, active, problem, step=0.2, count=1)
        x = channel.broadcast(mean(channel.send(ends)))
        return Memory(x, s.h + 0.3 * (problem.grad(s.x) - s.h))


@pytest.mark.parametrize(
    ("way", "noise", "sentence"),
    [
        ("cohort", True, "uses what it did not ask for"),
        ("nobody", True, "uses what it did not ask for"),
        ("solve", False, "does not stay at its fixed point"),
    ],
)
def test_clients_that_are_away_are_seen_at_rest(way, noise, sentence):
    """Local steps move them in runs, and a solve gives them the gradient 0."""
    functions = FunctionClass(3, 1.0, 2.0, noise=GradientNoise() if noise else None)
    with pytest.raises(Refusal, match=sentence):
        certify(Local(way), functions, "search")


@dataclass(frozen=True)
class TwoEnds:
    x: Array  # (1, d, R)
    y: Array  # (1, d, R)
    apart: Array  # (n, d, R), the end of steps from x less that of steps from y
    h: Array  # (n, d, R)


class FromTwoPoints(Local):
    """Local steps along a direction that does not depend on the point, from two points."""

    def start(self, x, problem, channel):
        zero = copies(0 * x, problem.n)
        return TwoEnds(x, 0 * x, zero, zero)

    def fixed_point(self, problem):
        x, h = problem.x_star, problem.grad_star
        return TwoEnds(x, x, 0 * h, h)

    def invariants(self, s, problem):
        return (s.apart,)

    def communicate(self, s, problem, channel):
        def end(x):
            active, x = everyone(s.h), copies(x, problem.n)
            return gradient_steps(lambda z: s.h, x, active, problem, step=0.1, count=3)

        gradient = problem.grad(s.x)
        x = s.x - 0.4 * mean(channel.send(gradient)) + mean(channel.send(s.apart))
        h = s.h + 0.3 * (gradient - s.h)
        return TwoEnds(channel.broadcast(x), (s.x + s.y) / 2, end(s.x) - end(s.y), h)


def test_steps_from_two_points_do_not_end_at_one():
    with pytest.raises(Refusal, match="does not keep what it declares to be invariant"):
        certify(FromTwoPoints(""), FunctionClass(3, 1.0, 2.0), "search")
