"""Rennala SGD: minibatches of gradients at one model, from the clients that deliver first."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.data.arrays import Array
from certibit.solvers.events.event_method import Arrivals, EventMethod


@dataclass(frozen=True)
class State:
    """The model x^k and the sum of its gradients, (1, d, R); k and how many have arrived."""

    x: Array
    k: int
    total: Array
    arrived: int


@dataclass(frozen=True)
class RennalaSGD(EventMethod):
    """Rennala SGD for min f(x): x^(k+1) = x^k - gamma (1/S) (S gradients at x^k).

    The server collects S gradients at x^k from any clients, one client perhaps several; those at
    older models are ignored. Every client is sent the present model.

    Parameters
    ----------
    gamma : float
        Step size.
    S : int
        Gradients of a step.

    Notes
    -----
    Source: Tyurin, Richtarik, arXiv:2305.12387, Method 4.
    """

    gamma: float
    S: int

    name: ClassVar[str] = "rennala-sgd"

    def start(self, x: Array, channel: Arrivals) -> State:
        channel.begin(x)
        return State(x, 0, 0 * x, 0)

    def on_arrival(self, s: State, g: Array, k: int, channel: Arrivals) -> State:
        if k == s.k:
            s = State(s.x, s.k, s.total + g, s.arrived + 1)
        if s.arrived == self.S:
            s = State(s.x - self.gamma / self.S * s.total, s.k + 1, 0 * s.x, 0)
        channel.reply(s.x, s.k)
        return s
