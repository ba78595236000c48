"""A method that takes one sample at two points, as a user writes it."""

from dataclasses import dataclass
from typing import ClassVar

from certibit import SGD, mean


@dataclass(frozen=True)
class TwoPoints(SGD):
    """A step along the mean of one sample's gradients at x and at a point beyond it."""

    beyond: float = 1.0

    name: ClassVar[str] = "two-points"

    def communicate(self, s, problem, channel):
        xi = problem.sample(0)
        there = channel.broadcast(s.x - self.beyond * mean(channel.send(problem.grad(s.x))))
        both = problem.grad(s.x, sample=xi) + problem.grad(there, sample=xi)
        return type(s)(s.x - self.gamma * mean(channel.send(both)) / 2)
