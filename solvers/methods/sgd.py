"""Distributed stochastic gradient descent."""

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
    """State of stochastic gradient descent: the model x, (1, d, R)."""

    x: Array


@dataclass(frozen=True)
class SGD(Method):
    """Distributed stochastic gradient descent for min (1/n) sum_i f_i(x).

    Each round, client i sends g_i(x; sample); the server broadcasts
    ``x+ = x - gamma (1/n) sum_i g_i(x; sample)``.

    Parameters
    ----------
    gamma : float
        Step size.

    Notes
    -----
    Source: Ghadimi, Lan, arXiv:1309.5549. Without noise it is gradient descent.

    Examples
    --------
    >>> from certibit import SGD, Budget, problem, run
    >>> functions = problem("quadratic:d=4@3:nonconvex:noise=0.1")
    >>> trace = run(SGD(gamma=0.1), functions, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    gamma: float

    name: ClassVar[str] = "sgd"
    needs: ClassVar[Needs] = Needs(nonconvex=True, samples=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        gradient = mean(channel.send(problem.grad(s.x, sample=0)))
        return State(channel.broadcast(s.x - self.gamma * gradient))

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
