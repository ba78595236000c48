"""What no certificate is about is refused: methods that are not linear, symmetric or at rest."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import (
    DIANA,
    METHODS,
    Experiment,
    FunctionClass,
    NormalisedEF21,
    Quadratic,
    Refusal,
    certify,
)
from certibit.solvers.authoring import Method, Needs, copies, mean
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.methods.gd import GD, State
from certibit.theory.cards.gd import GradientDescent
from certibit.theory.worlds.linear_maps import above_zero, null_space, worst_case

FAMILY = FunctionClass(n=3, mu=1.0, L=10.0)


def along(direction, gamma=0.05, shared=False):
    """Return a method that steps along what a function makes of all gradients."""

    @dataclass(frozen=True)
    class Along(GD):
        needs = Needs(shared_minimiser=shared)

        def communicate(self, s, problem, channel):
            return State(s.x - self.gamma * direction(channel.send(problem.grad(s.x))))

    return Along(gamma)


def shortened(g):
    g = mean(g)
    return g / (1 + np.sqrt(np.sum(g * g, axis=1, keepdims=True)))


def resting(g):
    return np.where(np.abs(mean(g)) < 1e-7, 0.0, mean(g))


def weighted(g):
    return mean(np.arange(1.0, g.shape[0] + 1)[:, None, None] * g)


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
        (along(shortened), FAMILY, "not linear .* multiplies two vectors"),
        (along(lambda g: np.clip(mean(g), -9, 9)), FAMILY, "not linear .* calls clip of a v"),
        (along(resting), FAMILY, "not linear .* calls absolute of a vector"),
        (along(lambda g: np.abs(mean(g))), FAMILY, "not linear .* calls absolute of a vector"),
        (along(weighted, 0.02, shared=True), FAMILY, "does not treat all clients alike"),
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


def test_a_null_space_is_orthonormal_and_orthogonal_to_the_rows():
    rows = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1e-17]])
    kernel = null_space(rows)
    assert kernel.shape == (3, 2)
    np.testing.assert_allclose(kernel.T @ kernel, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(rows @ kernel, 0, atol=1e-15)
    assert null_space(np.zeros((2, 3))).shape == (3, 3)


@pytest.mark.parametrize("small", [2e-11, 1e-10, 5e-10])
def test_what_is_neither_0_nor_not_is_refused(small):
    with pytest.raises(Refusal, match="floats do not decide"):
        null_space(np.diag([1.0, small]))


@pytest.mark.parametrize(("sizes", "found"), [([3.0, 1e-6], 2), ([3.0, -1e-15], 1), ([0.0], 0)])
def test_with_a_gap_the_rank_is_that_of_the_larger_ones(sizes, found):
    assert above_zero(np.array(sizes)).sum() == found
