"""Accelerated gradient descent, uncompressed: the fast yardstick."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import (
    Array,
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    mean,
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
    Source: Nesterov, "Lectures on convex optimization", Springer 2018, Section 2.2 (constant step
    scheme).

    Examples
    --------
    >>> from certibit import AGD, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = AGD(gamma=0.1, q=0.3)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    gamma: float
    q: float

    name: ClassVar[str] = "agd"
    needs: ClassVar[Needs] = Needs()

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = s.y - self.gamma * mean(channel.send(problem.grad(s.y)))
        momentum = (1 - self.q) / (1 + self.q)
        return State(x, channel.broadcast(x + momentum * (x - s.x)))

    def fixed_point(self, problem: Solution) -> State:
        x = problem.x_star
        return State(x, x)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
