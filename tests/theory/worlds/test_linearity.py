"""What no certificate is about is refused: methods that are not linear, symmetric or at rest."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.authoring import Method, Needs, copies, mean
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.gd import GD, State
from certibit.solvers.methods.normalised_ef21 import NormalisedEF21
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.cards.gd import GradientDescent
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.linear_maps import worst_case

FAMILY = FunctionClass(n=3, mu=1.0, L=10.0)


@dataclass(frozen=True)
class Clipped(GD):
    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return State(s.x - self.gamma * g / (1 + np.sqrt(np.sum(g * g, axis=1, keepdims=True))))


@dataclass(frozen=True)
class ClippedLate(GD):
    def communicate(self, s, problem, channel):
        return State(s.x - self.gamma * np.clip(mean(channel.send(problem.grad(s.x))), -1e6, 1e6))


@dataclass(frozen=True)
class RestsEarly(GD):
    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return State(s.x - self.gamma * np.where(np.abs(g) < 1e-7, 0.0, g))


@dataclass(frozen=True)
class Absolute(GD):
    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return State(s.x - self.gamma * (g + 0.1 * np.abs(g)))


@dataclass(frozen=True)
class Weighted(GD):
    """Clients whose gradients are doubled or not, which leaves a shared minimiser where it is."""

    needs = Needs(shared_minimiser=True)

    def communicate(self, s, problem, channel):
        weights = np.arange(1.0, problem.n + 1)[:, None, None]
        return State(s.x - self.gamma * mean(channel.send(weights * problem.grad(s.x))))


@dataclass(frozen=True)
class FedAvg(GD):
    def communicate(self, s, problem, channel):
        y = copies(s.x, problem.n)
        for _ in range(2):
            y = y - self.gamma * problem.grad(y)
        return State(mean(channel.send(y)))


@dataclass(frozen=True)
class Lying(GD):
    def invariants(self, s, problem):
        return (s.x,)


@dataclass(frozen=True)
class DCGD(Method):
    gamma: float
    name, needs = "dcgd", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return State(x)

    def communicate(self, s, problem, channel):
        return State(s.x - self.gamma * mean(channel.uplink(problem.grad(s.x))))

    def fixed_point(self, problem):
        return State(problem.x_star)


@pytest.mark.parametrize(
    ("method", "family", "sentence"),
    [
        (Clipped(0.05), FAMILY, "not linear .* multiplies two vectors"),
        (ClippedLate(0.05), FAMILY, "not linear .* calls clip of a vector"),
        (RestsEarly(0.05), FAMILY, "not linear .* calls absolute of a vector"),
        (Absolute(0.05), FAMILY, "not linear .* calls absolute of a vector"),
        (Weighted(0.02), FAMILY, "does not treat all clients alike"),
        (FedAvg(0.05), FAMILY, "does not stay at its fixed point"),
        (Lying(0.05), FAMILY, "does not keep what it declares"),
        (DCGD(0.02), replace(FAMILY, omega=4.0), "does not stay at its fixed point"),
        (NormalisedEF21(0.1), replace(FAMILY, alpha=0.5), "takes a norm or an inner product"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Method) else "",
)
def test_refused(method, family, sentence):
    with pytest.raises(Refusal, match=sentence):
        certify(method, family)


def test_a_method_that_leaves_the_solution_has_no_worst_case_factor():
    problem = Quadratic.random(2, 2, mu=1.0, L=10.0, seed=0)
    distance, shifts = GradientDescent(), METHODS["diana"].theorems[0]
    dcgd, diana = (Experiment.of(m, problem, RandK(1)) for m in (DCGD(0.02), DIANA(0.02, 0.5)))
    assert worst_case(dcgd, distance) == float("inf")
    assert worst_case(Experiment.of(FedAvg(0.05), problem), distance) == float("inf")
    assert worst_case(diana, shifts) < 1
