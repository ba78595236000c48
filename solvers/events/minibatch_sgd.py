"""Minibatch SGD, which waits for all of its clients; with all clients, synchronous SGD."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.data.arrays import Array
from certibit.solvers.events.event_method import Arrivals, EventMethod, summed
from certibit.solvers.method import Gradients


@dataclass(frozen=True)
class State:
    """The model x^k and the sum of its gradients, (1, d, R); k and how many have arrived."""

    x: Array
    k: int
    total: Array
    arrived: int


@dataclass(frozen=True)
class MinibatchSGD(EventMethod):
    """Minibatch SGD for min f(x): x^(k+1) = x^k - gamma (1/m) sum_(i <= m) g_i.

    Each of the m fastest clients sends the mean of b gradients at x^k; the server waits for all m.

    Parameters
    ----------
    gamma : float
        Step size.
    m : int
        Clients that take part; with all of them and b = 1 it is synchronous SGD.
    b : int
        Gradients of a client in a round.
    """

    gamma: float
    m: int
    b: int = 1

    name: ClassVar[str] = "minibatch-sgd"

    @property
    def gradients(self) -> int:
        return self.b

    def message(self, x: Array, problem: Gradients, channel: Arrivals) -> Array:
        return channel.send(summed(self.b, x, problem) / self.b)

    def start(self, x: Array, channel: Arrivals) -> State:
        channel.begin(x, self.m)
        return State(x, 0, 0 * x, 0)

    def on_arrival(self, s: State, g: Array, k: int, channel: Arrivals) -> State:
        s = State(s.x, s.k, s.total + g, s.arrived + 1)
        if s.arrived == self.m:
            s = State(s.x - self.gamma / self.m * s.total, s.k + 1, 0 * s.x, 0)
            channel.broadcast(s.x, s.k)
        return s
