"""The interface of a method whose server acts on every arrival of a message."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from certibit.data.arrays import Array
from certibit.solvers.method import Gradients

Each = int | tuple[int, ...]
"""A number of all clients, or one of each."""


class Arrivals(Protocol):
    """The network, as a method that acts on arrivals uses it.

    A client that is given a model x and its number k computes at x, sends its message, and waits.
    """

    def send(self, v: Array) -> Array:
        """Send v, (1, d, R), uncompressed from the client; return what arrives."""

    def uplink(self, v: Array) -> Array:
        """Send C(v), (1, d, R), from the client; return what arrives."""

    client: int
    """The client whose message has arrived."""

    def begin(self, x: Array, clients: int | Sequence[int] | None = None) -> None:
        """Let some clients, so many of the fastest, or all, begin at x, which they know.

        The number of this model is 0.
        """

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
    compressed: ClassVar[bool] = False
    """Whether messages are compressed, by an unbiased compressor."""

    @property
    def gradients(self) -> Each:
        """Gradients that a client evaluates before it sends."""
        return 1

    @property
    def messages(self) -> Each:
        """Messages that it sends then, which arrive together."""
        return 1

    @abstractmethod
    def start(self, x: Array, channel: Arrivals) -> Any:
        """Let clients begin at x, (1, d, R), and return the first state."""

    def message(self, x: Array, problem: Gradients, channel: Arrivals) -> Array:
        """Return what arrives from a client that was given x: by default, one gradient."""
        return channel.send(problem.grad(x))

    @abstractmethod
    def on_arrival(self, s: Any, g: Array, k: int, channel: Arrivals) -> Any:
        """Do what the server does when g arrives, computed at the model with the number k."""

    def model(self, s: Any) -> Array:
        """Return the model x, (1, d, R)."""
        x: Array = s.x
        return x


def summed(gradients: int, x: Array, problem: Gradients) -> Array:
    """Return the sum of so many stochastic gradients at x."""
    each = [problem.grad(x) for _ in range(gradients)]
    return sum(each[1:], each[0])
