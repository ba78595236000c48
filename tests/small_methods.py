"""States, methods and potentials as small as a test needs them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from certibit import SGD, mean


@dataclass(frozen=True)
class Model:
    x: Any  # (1, d, R)


@dataclass(frozen=True)
class Memory:
    x: Any  # (1, d, R), the model; or (n, d, R), those of the clients
    h: Any  # (n, d, R), a vector of each client, such as a gradient or a shift


@dataclass(frozen=True)
class Pair:
    x: Any  # (1, d, R), the model
    v: Any  # (1, d, R), another vector of the server


@dataclass(frozen=True)
class Moments:
    x: Any  # (1, d, R), the model
    v: Any  # (1, d, R), another vector of the server, such as its momentum
    h: Any  # a vector of the server or of each client


@dataclass(frozen=True)
class Psi:
    """A potential whose terms are a function of method, state, state at rest, problem and n."""

    terms: Callable[[Any, Any, Any, Any, int], tuple]

    def lyapunov(self, m, s, star, setting, problem):
        return self.terms(m, s, star, problem, setting.n)


@dataclass(frozen=True)
class TwoSteps(SGD):
    """Two steps of SGD in a row, of which the second begins at a point with noise."""

    name = "two-steps"

    def communicate(self, s, problem, channel):
        for sample in range(2):
            gradient = mean(channel.send(problem.grad(s.x, sample=sample)))
            s = type(s)(s.x - self.gamma * gradient)
        return s


@dataclass(frozen=True)
class TwoSamples(SGD):
    """A step of SGD with the mean of two samples at one point."""

    name = "two-samples"

    def communicate(self, s, problem, channel):
        sampled = problem.grad(s.x, sample=0) + problem.grad(s.x, sample=1)
        return type(s)(s.x - self.gamma * mean(channel.send(sampled / 2)))


@dataclass(frozen=True)
class TwoPoints(SGD):
    """A step along the mean of one sample's gradients at x and at a point beyond it."""

    beyond: float = 1.0

    name = "two-points"

    def communicate(self, s, problem, channel):
        xi = problem.sample(0)
        there = channel.broadcast(s.x - self.beyond * mean(channel.send(problem.grad(s.x))))
        both = problem.grad(s.x, sample=xi) + problem.grad(there, sample=xi)
        return type(s)(s.x - self.gamma * mean(channel.send(both)) / 2)


@dataclass(frozen=True)
class ThreePoints(SGD):
    """A step along the mean of one sample's gradients at three points that it does not change."""

    name = "three-points"

    def communicate(self, s, problem, channel):
        xi, slope = problem.sample(0), mean(channel.send(problem.grad(s.x)))
        points = (s.x, s.x - self.gamma * slope, s.x + self.gamma * slope)
        found = sum(mean(channel.send(problem.grad(x, sample=xi))) for x in points) / 3
        return type(s)(s.x - self.gamma * found)


@dataclass(frozen=True)
class Undeclared(SGD):
    """SGD whose needs do not say that it names samples."""

    name, needs = "undeclared", replace(SGD.needs, samples=False)


@dataclass(frozen=True)
class DrawsUndeclared(Undeclared):
    """The same with a sample that is drawn first."""

    def communicate(self, s, problem, channel):
        g = problem.grad(s.x, sample=problem.sample("own"))
        return type(s)(channel.broadcast(s.x - self.gamma * mean(channel.send(g))))
