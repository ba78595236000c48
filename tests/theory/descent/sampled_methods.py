"""Methods that sample twice, as a user writes them."""

from dataclasses import dataclass, replace
from typing import ClassVar

from certibit import EF, SCAFFOLD, SGD
from certibit.solvers.authoring import copies, mean


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


@dataclass(frozen=True)
class SampledEF(EF):
    """EF with stochastic gradients (Stich, Karimireddy, arXiv:1909.05350)."""

    name: ClassVar[str] = "sampled-ef"
    needs = replace(EF.needs, samples=True)

    def communicate(self, s, problem, channel):
        step = s.e + self.gamma * problem.grad(s.x, sample=0)
        c = channel.uplink(step)
        return type(s)(channel.broadcast(s.x - mean(c)), step - c)


@dataclass(frozen=True)
class SampledSCAFFOLD(SCAFFOLD):
    """SCAFFOLD with stochastic gradients, option II and all clients in every round."""

    name: ClassVar[str] = "sampled-scaffold"
    needs = replace(SCAFFOLD.needs, samples=True)

    def communicate(self, s, problem, channel):
        y = copies(s.x, problem.n)
        for k in range(self.K):
            y = y - self.eta_l * (problem.grad(y, sample=k) - s.c_i + s.c)
        dy = channel.send(y - s.x)
        dc = channel.send(-s.c - dy / (self.K * self.eta_l))
        return type(s)(
            x=channel.broadcast(s.x + self.eta_g * mean(dy)),
            c_i=s.c_i + dc,
            c=channel.broadcast(s.c + mean(dc)),
        )
