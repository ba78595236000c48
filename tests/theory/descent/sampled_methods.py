"""Methods that sample twice, as a user writes them."""

from dataclasses import dataclass
from typing import ClassVar

from certibit import SGD
from certibit.solvers.authoring import mean


@dataclass(frozen=True)
class TwoSteps(SGD):
    """Two steps of SGD in a row, of which the second begins at a point with noise."""

    name: ClassVar[str] = "two-steps"

    def communicate(self, s, problem, channel):
        for sample in range(2):
            gradient = mean(channel.send(problem.grad(s.x, sample=sample)))
            s = type(s)(s.x - self.gamma * gradient)
        return s


@dataclass(frozen=True)
class TwoSamples(SGD):
    """A step of SGD with the mean of two samples at one point."""

    name: ClassVar[str] = "two-samples"

    def communicate(self, s, problem, channel):
        sampled = problem.grad(s.x, sample=0) + problem.grad(s.x, sample=1)
        return type(s)(s.x - self.gamma * mean(channel.send(sampled / 2)))
