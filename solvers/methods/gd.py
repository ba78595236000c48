"""Distributed gradient descent, uncompressed: the yardstick."""

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
    """State of gradient descent: the model x, (1, d, R)."""

    x: Array


@dataclass(frozen=True)
class GD(Method):
    """Distributed gradient descent for min (1/n) sum_i f_i(x).

    Each round, client i sends grad f_i(x); the server broadcasts
    ``x+ = x - gamma (1/n) sum_i grad f_i(x)``.

    Parameters
    ----------
    gamma : float
        Step size; linear convergence for 0 < gamma < 2/L_f (classical).

    Examples
    --------
    >>> from certibit import GD, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = GD(gamma=0.1)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    gamma: float

    name: ClassVar[str] = "gd"
    needs: ClassVar[Needs] = Needs(nonconvex=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        gradient = mean(channel.send(problem.grad(s.x)))
        return State(channel.broadcast(s.x - self.gamma * gradient))

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
