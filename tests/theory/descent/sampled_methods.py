"""Methods with stochastic gradients, as a user writes them."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Array, Every, Method, Needs, mean


@dataclass(frozen=True)
class Point:
    """A state that is the model alone."""

    x: Array  # (1, d, R)


@dataclass(frozen=True)
class SGD(Method):
    """x+ = x - gamma mean_i g_i(x; sample)."""

    gamma: float

    name: ClassVar[str] = "sgd"
    needs: ClassVar[Needs] = Needs(compressor=None, nonconvex=True)
    schedule: ClassVar[Every] = Every()

    def start(self, x, problem, channel):
        return Point(x)

    def communicate(self, s, problem, channel):
        g = channel.send(problem.grad(channel.broadcast(s.x), sample=0))
        return Point(s.x - self.gamma * mean(g))

    def model(self, s):
        return s.x

    def fixed_point(self, problem):
        return Point(problem.x_star)


@dataclass(frozen=True)
class TwoSteps(SGD):
    """Two steps of SGD in a row, of which the second begins at a point with noise."""

    name: ClassVar[str] = "two-steps"

    def communicate(self, s, problem, channel):
        for sample in range(2):
            s = Point(s.x - self.gamma * mean(channel.send(problem.grad(s.x, sample=sample))))
        return s


@dataclass(frozen=True)
class Momentum:
    """State of error feedback with momentum."""

    x: Array  # (1, d, R), the model
    v: Array  # (n, d, R), the momentum of each client
    g: Array  # (n, d, R), its estimate that the server has


@dataclass(frozen=True)
class EF21SGDM(Method):
    """EF21 with momentum: Fatkhullin, Tyurin, Richtarik, arXiv:2305.15155, Algorithm 1."""

    gamma: float
    eta: float

    name: ClassVar[str] = "ef21-sgdm"
    needs: ClassVar[Needs] = Needs(compressor="contractive", nonconvex=True)
    schedule: ClassVar[Every] = Every()

    def start(self, x, problem, channel):
        v = problem.grad(x, sample="initial")
        return Momentum(x, v, channel.uplink(v))

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x - self.gamma * mean(s.g))
        v = (1 - self.eta) * s.v + self.eta * problem.grad(x, sample=0)
        return Momentum(x, v, s.g + channel.uplink(v - s.g))

    def model(self, s):
        return s.x

    def fixed_point(self, problem):
        return Momentum(problem.x_star, problem.grad_star, problem.grad_star)
