"""Coins of the clients in what arrives, in local steps, and owners of features in flags.

E[Psi+] follows from as many counts of heads as its degree asks for. A step of which this degree was
counted too low had a factor that no run had.
"""

from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from small_methods import Memory, Psi

from certibit import FunctionClass, GradientNoise, Method, Refusal, Squares, certify
from certibit.data.arrays import array_namespace
from certibit.solvers.authoring import Needs, copies, everyone, masked, mean
from certibit.solvers.backend import where
from certibit.solvers.local_solve import gradient_steps

N, P = 40, 0.3


@dataclass(frozen=True)
class Tossing(Method):
    """Clients with heads add their mean to their own vector; all multiply it by a scale."""

    way: str
    count: int = 1
    scale: float = 0.5
    name, needs = "tossing", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return Memory(x, problem.grad(x))

    def fixed_point(self, problem):
        return Memory(problem.x_star, 0 * problem.grad_star)

    def communicate(self, s, problem, channel):
        heads = channel.client_coins((P,) * N)
        if self.way == "as array":
            heads = array_namespace(s.x).asarray(heads)

        def slope(z):
            sent = channel.uplink(z, heads) if self.way == "uplink" else channel.send(z, heads)
            return -masked(heads, copies(mean(sent), N))

        x = channel.broadcast(s.x - 0.5 * mean(channel.send(problem.grad(s.x))))
        if self.way == "local steps":
            active = everyone(s.h)
            h = gradient_steps(slope, s.h, active, problem, step=1.0, count=self.count)
        else:
            h = s.h - slope(s.h)
        return Memory(x, self.scale * h)


def lyapunov(m, s, star, problem, n):
    return Squares(1.0, s.x - star.x), Squares(1 / n, s.h)


def factor(way, count=1):
    """Return the factor where that of equal h_i, and x at rest, is 0.7."""
    odds = [comb(N, k) * P**k * (1 - P) ** (N - k) for k in range(N + 1)]
    parts = (p * (k / N * (1 + k / N) ** (2 * count) + 1 - k / N) for k, p in enumerate(odds))
    method = Tossing(way, count, sqrt(0.7 / sum(parts)))
    noise = GradientNoise() if way == "local steps" else None  # with it they are done one by one
    found = certify(method, FunctionClass(N, 1.0, 2.0, noise=noise), Psi(lyapunov))
    assert found.verify()
    return found.factor


@pytest.mark.parametrize(
    ("way", "count"),
    [("send", 1), ("as array", 1), ("uplink", 1), ("local steps", 3), ("local steps", 7)],
)
def test_a_mean_of_those_with_heads_has_its_factor(way, count):
    assert factor(way, count) >= 0.7 * (1 - 1e-9)


def test_many_local_steps_are_refused():
    with pytest.raises(Refusal, match="a polynomial of degree 20 in the number of heads"):
        factor("local steps", 9)


@dataclass(frozen=True)
class State:
    x: Any  # (1, d, R)
    moving: Any  # (n, d, R), bool: the entries that nobody owned yet


class Owning(Tossing):
    """A flag of each feature."""

    def start(self, x, problem, channel):
        return State(x, np.logical_not(channel.ownership(2)))

    def fixed_point(self, problem):
        return State(problem.x_star, everyone(problem.grad_star))

    def communicate(self, s, problem, channel):
        own = channel.ownership(2)
        gradient = where(s.moving, problem.grad(s.x), 0 * problem.grad(s.x))
        return State(channel.broadcast(s.x - mean(channel.send(gradient))), s.moving & ~own)


def test_a_flag_of_each_feature_is_refused():
    functions = FunctionClass(3, 1.0, 2.0)
    with pytest.raises(Refusal, match="moving of a state of tossing is of bool and depends on the"):
        certify(Owning("send"), functions, "search")
