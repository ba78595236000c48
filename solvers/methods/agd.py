"""Accelerated gradient descent, uncompressed: the fast yardstick."""

from dataclasses import dataclass
from typing import ClassVar

from bitbound.data.arrays import Array
from bitbound.solvers.backend import mean
from bitbound.solvers.method import (
    Every,
    Gap,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    Squares,
    Terms,
)


@dataclass(frozen=True)
class State:
    """State of accelerated gradient descent."""

    x: Array  # (1, d, R), the model
    y: Array  # (1, d, R), the extrapolated model, where gradients are evaluated


@dataclass(frozen=True)
class AGD(Method):
    """Accelerated gradient descent with constant momentum for min (1/n) sum_i f_i(x).

    Each round, client i sends grad f_i(y) and the server broadcasts the new y::

        x+ = y - gamma (1/n) sum_i grad f_i(y)
        y+ = x+ + ((1 - q)/(1 + q)) (x+ - x)

    Parameters
    ----------
    gamma : float
        Step size, at most 1/L_f.
    q : float
        Momentum parameter, at most sqrt(gamma mu).

    Notes
    -----
    Lyapunov function ``f(x) - f* + (q^2/(2 gamma)) |z - x*|^2`` with z = y + (y - x)/q, factor
    1 - q per round. Source: Nesterov, "Lectures on convex optimization", Springer 2018,
    Section 2.2 (constant step scheme).
    """

    gamma: float
    q: float

    name: ClassVar[str] = "agd"
    needs: ClassVar[Needs] = Needs()
    schedule: ClassVar[Every] = Every()

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = s.y - self.gamma * mean(channel.send(problem.grad(s.y)))
        momentum = (1 - self.q) / (1 + self.q)
        return State(x, channel.broadcast(x + momentum * (x - s.x)))

    def model(self, s: State) -> Array:
        return s.x

    def fixed_point(self, problem: Solution) -> State:
        x = problem.x_star
        return State(x, x)

    def lyapunov(self, s: State, star: State, problem: Gradients) -> Terms:
        z = s.y + (s.y - s.x) / self.q
        return Gap(1.0, s.x), Squares(self.q**2 / (2 * self.gamma), z - star.x)
