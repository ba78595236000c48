"""Ringmaster ASGD: asynchronous SGD that ignores gradients that are too old."""

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
class RingmasterASGD(EventMethod):
    """Ringmaster ASGD for min f(x): x^(k+1) = x^k - gamma g for every g that is not too old.

    A gradient at x^j arrives with the delay k - j. If this is R or more, it is ignored.

    Parameters
    ----------
    gamma : float
        Step size.
    R : int
        The delay from which on a gradient is ignored.

    Notes
    -----
    Source: Maranjyan, Tyurin, Richtarik, arXiv:2501.16168, Algorithm 4 (without stops).
    """

    gamma: float
    R: int

    name: ClassVar[str] = "ringmaster-asgd"

    def start(self, x: Array, channel: Arrivals) -> State:
        channel.begin(x)
        return State(x, 0)

    def on_arrival(self, s: State, g: Array, k: int, channel: Arrivals) -> State:
        if s.k - k < self.R:
            s = State(s.x - self.gamma * g, s.k + 1)
        channel.reply(s.x, s.k)
        return s
