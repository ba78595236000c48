"""Scaffnew: local training with control variates, communication at random times."""

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
    WithProbability,
    copies,
    mean,
)


@dataclass(frozen=True)
class State:
    """State of Scaffnew and of the methods made from it."""

    x: Array  # (n, d, R), the local models
    h: Array  # (n, d, R), the control variates; their sum is 0


@dataclass(frozen=True)
class Scaffnew(Method):
    """Scaffnew, which is ProxSkip for min (1/n) sum_i f_i(x).

    Each iteration::

        x_i <- x_i - gamma (grad f_i(x_i) - h_i)
        with probability p:
            x_mean = (1/n) sum_i x_i       x_i sent by client i, x_mean broadcast by the server
            h_i <- h_i + (p/gamma) (x_mean - x_i),    x_i <- x_mean

    Parameters
    ----------
    gamma : float
        Step size, 0 < gamma < 2/L.
    p : float
        Probability of communication.

    Notes
    -----
    Source: Mishchenko, Malinovsky, Stich, Richtarik, arXiv:2202.09357.

    Examples
    --------
    >>> from certibit import Budget, Quadratic, Scaffnew, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = Scaffnew(gamma=0.1, p=0.3)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    gamma: float
    p: float

    name: ClassVar[str] = "scaffnew"
    needs: ClassVar[Needs] = Needs()

    @property
    def schedule(self) -> WithProbability:
        return WithProbability(self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(copies(x, problem.n), copies(0 * x, problem.n))

    def local_step(self, s: State, problem: Gradients, channel: Messages) -> State:
        return State(s.x - self.gamma * (problem.grad(s.x) - s.h), s.h)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        sent = channel.send(s.x)
        x_mean = channel.broadcast(mean(sent))
        return State(copies(x_mean, problem.n), s.h + self.p / self.gamma * (x_mean - sent))

    def model(self, s: State) -> Array:
        return mean(s.x)

    def fixed_point(self, problem: Solution) -> State:
        return State(copies(problem.x_star, problem.n), problem.grad_star)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (mean(s.h),)
