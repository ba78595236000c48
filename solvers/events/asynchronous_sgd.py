"""Asynchronous SGD: every gradient is a step, whatever its delay."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.data.arrays import Array
from certibit.solvers.events.event_method import Arrivals, EventMethod


@dataclass(frozen=True)
class State:
    """The model x^k, (1, d, R), and k."""

    x: Array
    k: int


@dataclass(frozen=True)
class AsynchronousSGD(EventMethod):
    """Asynchronous SGD for min f(x): x^(k+1) = x^k - gamma g, g a gradient at an older model.

    Without noise it is asynchronous gradient descent.

    Parameters
    ----------
    gamma : float
        Step size.

    Notes
    -----
    Source: Recht, Re, Wright, Niu, arXiv:1106.5730; with delays of any size: Mishchenko, Bach,
    Even, Woodworth, arXiv:2206.07638.
    """

    gamma: float

    name: ClassVar[str] = "asynchronous-sgd"

    def start(self, x: Array, channel: Arrivals) -> State:
        channel.begin(x)
        return State(x, 0)

    def on_arrival(self, s: State, g: Array, k: int, channel: Arrivals) -> State:
        s = State(s.x - self.gamma * g, s.k + 1)
        channel.reply(s.x, s.k)
        return s
