"""A method that samples twice, as a user writes it."""

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
