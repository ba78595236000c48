"""Methods that do with numbers, or the second time, what they do not do on symbols."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from attacks_on_premises import Pushed, kind
from small_methods import Pair

from certibit import Every, Needs, WithProbability, copies, masked, mean, where


@dataclass(frozen=True)
class Looking(Pushed):
    """A push that is there for the sum of two floats and not for that of two fractions."""

    a: float = 0.1
    b: float = 0.2
    c: float = 0.3
    size: float = 1.0

    name = "looking"

    def communicate(self, s, problem, channel):
        after = super().communicate(s, problem, channel)
        more = self.size * s.x if self.a + self.b > self.c else 0 * s.x
        return Pair(after.x + 1e7 * s.v + more, after.v)

    def start(self, x, problem, channel):
        return Pair(x, 0 * x)

    def invariants(self, s, problem):
        return ()

    def pushed(self, v, problem, channel):
        return v / 2


@dataclass(frozen=True)
class Idle:
    x: Any  # (1, d, R), the model
    z: Any  # (1, d, R), which is 0 in all runs
    y: Any  # (1, d, R), many times this


@dataclass(frozen=True)
class Drowned(Looking):
    """Gradient descent that does other than it seems to, beside a field of huge numbers."""

    what: str = "floats"

    name = "drowned"

    def start(self, x, problem, channel):
        return Idle(x, 0 * x, 0 * x)

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        looks = self.a + self.b > self.c if self.what == "floats" else isinstance(g, np.ndarray)
        return Idle(channel.broadcast(s.x - self.gamma * g + looks * g), s.z / 2, self.size * s.z)

    def fixed_point(self, problem):
        return Idle(*(factor * problem.x_star for factor in (1, 0, 0)))


def in_the_middle(m, s, f, c):
    """Gradient descent that ascends on arrays in one of 32 outcomes, which is likely."""
    g = mean(c.send(f.grad(s.x)))
    one, two, three, four, five = (c.coin(p) for p in (0.9, 0.1, 0.9, 0.1, 0.9))
    more = isinstance(g, np.ndarray) * masked(one & ~two & three & ~four & five, g)
    return Pair(c.broadcast(s.x - m.gamma * g + more), s.v / 2)


def in_a_cohort(m, s, f, c):
    """Gradient descent that ascends on arrays along the gradients of half of the clients."""
    g = c.send(f.grad(s.x))
    more = isinstance(g, np.ndarray) * mean(masked(c.cohort(f.n // 2), g))
    return Pair(c.broadcast(s.x - m.gamma * mean(g) + more), s.v / 2)


IN_THE_MIDDLE = kind("in the middle", Pushed, communicate=in_the_middle)
IN_A_COHORT = kind(
    "in a cohort", Pushed, communicate=in_a_cohort, needs=Needs(shared_minimiser=True)
)
TOSSED_AT_FIRST = kind(
    "tossed at first", Pushed,
    start=lambda m, x, f, c: Pair(x, where(c.coin(0.5), x, mean(masked(c.cohort(2), 2 * x)))),
    pushed=lambda m, v, f, c: mean(masked(c.client_coins((0.5,) * f.n), v)) / 2,
)  # fmt: skip
"""Gradient descent whose start and steps draw, but not the same."""


MEMORY: dict[int, Any] = {}
"""What a method remembers of the problems or channels that it has seen."""


SEEN: list[Any] = []
"""These, so that no other one has their place in memory."""


class OfProblem(Pushed):
    """Momentum that is kept beside the state."""

    name = "of problem"

    def whose(self, problem, channel):
        return problem

    def communicate(self, s, problem, channel):
        SEEN.append(self.whose(problem, channel))
        place, g = id(SEEN[-1]), mean(channel.send(problem.grad(s.x)))
        MEMORY[place] = 2 * MEMORY.get(place, 0) + g
        return Pair(s.x - self.gamma * MEMORY[place], s.v / 2)


class OfChannel(OfProblem):
    def whose(self, problem, channel):
        return channel


class OfStart(OfProblem):
    """A step along the first gradient of all."""

    def start(self, x, problem, channel):
        SEEN.append(problem)
        MEMORY[id(problem)] = mean(problem.grad(x))
        return Pair(x, x)

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return Pair(s.x - self.gamma * (g + 20 * (MEMORY.get(id(problem), g) - g)), s.v / 2)


class OfProperty(Pushed):
    """Gradient descent that ascends after many steps, which a property counts."""

    name = "of property"

    @cached_property
    def steps(self):
        return [0]

    def communicate(self, s, problem, channel):
        self.steps[0] += 1
        sign = 1 if self.steps[0] < 400 else -1
        return Pair(s.x - sign * self.gamma * mean(channel.send(problem.grad(s.x))), s.v / 2)


@dataclass(frozen=True)
class LookingAtChances(Looking):
    """Gradient descent with an outcome whose probability is 0 as a fraction and not as a float."""

    chance: str = "a coin"

    name = "looking at chances"

    def rare(self):
        """Return 0 as a fraction and 1/2 as a float."""
        return (self.a + self.b - self.c) * 9e15

    def tails(self, x, problem, channel):
        if self.chance == "a coin":
            return ~channel.coin(1 - self.rare())
        return ~channel.client_coins((1 - self.rare(),) * problem.n)

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        if self.chance != "a round":
            tails = self.tails(s.x, problem, channel)
            g = g / 20 - 40 * mean(masked(tails, copies(g, problem.n)))
        return Pair(channel.broadcast(s.x - 20 * self.gamma * g), s.v / 2)

    @property
    def schedule(self):
        return WithProbability(self.rare()) if self.chance == "a round" else Every()

    def local_step(self, s, problem, channel):
        return Pair(s.x - self.gamma * mean(problem.grad(s.x)), s.v)
