"""The interface of a method whose server acts on every arrival of a message."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from certibit.data.arrays import Array
from certibit.solvers.method import Gradients


class Arrivals(Protocol):
    """The network, as a method that acts on arrivals uses it.

    A client that is given a model x and its number k computes at x, sends its message, and waits.
    """

    def send(self, v: Array) -> Array:
        """Send v, (1, d, R), uncompressed from the client; return what arrives."""

    def uplink(self, v: Array) -> Array:
        """Send C(v), (1, d, R), from the client; return what arrives."""

    def begin(self, x: Array, clients: int | None = None) -> None:
        """Let the fastest clients, or all, begin at x, which they know; its number is 0."""

    def reply(self, x: Array, k: int) -> None:
        """Send x with its number to the client whose message has arrived."""

    def broadcast(self, x: Array, k: int) -> None:
        """Send x with its number to all clients that wait."""


@dataclass(frozen=True)
class EventMethod(ABC):
    """Base of the methods: a subclass is a frozen dataclass of its parameters.

    Every client draws from all data: its gradients are those of f = (1/n) sum_i f_i plus noise.
    """

    name: ClassVar[str]

    @property
    def batch(self) -> int:
        """Gradients that a client evaluates for a message."""
        return 1

    @abstractmethod
    def start(self, x: Array, channel: Arrivals) -> Any:
        """Let clients begin at x, (1, d, R), and return the first state."""

    def message(self, x: Array, problem: Gradients, channel: Arrivals) -> Array:
        """Return what arrives from a client that was given x: the mean of its gradients."""
        gradients = [problem.grad(x, sample=0) for _ in range(self.batch)]
        return channel.send(sum(gradients[1:], gradients[0]) / self.batch)

    @abstractmethod
    def on_arrival(self, s: Any, g: Array, k: int, channel: Arrivals) -> Any:
        """Do what the server does when g arrives, computed at the model with the number k."""

    def model(self, s: Any) -> Array:
        """Return the model x, (1, d, R)."""
        x: Array = s.x
        return x
