"""What the server may hold without a message of its own, and what it may not."""

from dataclasses import dataclass

import pytest

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.authoring import Every, Method, Needs, copies, mean
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.checks.channel.unsent import unsent


@dataclass(frozen=True)
class ModelAndShifts:
    x: object  # (1, d, R), the model
    h: object  # (n, d, R), the shift of each client


@dataclass(frozen=True)
class Mirroring(Method):
    """DIANA whose server mirrors the shift of each client."""

    gamma: float
    alpha: float
    name, needs, schedule = "mirroring-diana", Needs(compressor="unbiased"), Every()

    def start(self, x, problem, channel):
        return ModelAndShifts(x, copies(0 * x, problem.n))

    def direction(self, s, m, gradient):
        return mean(s.h + m)

    def shift(self, s, m, gradient):
        return s.h + self.alpha * m

    def communicate(self, s, problem, channel):
        gradient = problem.grad(s.x)
        m = channel.uplink(gradient - s.h)
        x = channel.broadcast(s.x - self.gamma * self.direction(s, m, gradient))
        return ModelAndShifts(x, self.shift(s, m, gradient))

    def model(self, s):
        return s.x


class GradientUnsent(Mirroring):
    def direction(self, s, m, gradient):
        return mean(gradient)


class ShiftUnsent(Mirroring):
    """Its shifts are uncompressed gradients, which no message tells."""

    def shift(self, s, m, gradient):
        return gradient


@pytest.mark.parametrize(
    ("method", "holds"), [(Mirroring, True), (GradientUnsent, False), (ShiftUnsent, False)]
)
def test_the_server_holds_what_messages_tell_and_nothing_else(method, holds):
    problem = Quadratic.random(3, 4, mu=1.0, L=10.0, seed=0)
    experiment = Experiment.of(method(0.01, 0.5), problem, RandK(2))
    assert unsent(experiment).holds is holds
