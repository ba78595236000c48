"""The event world: every client's message arrives when its work is done.

Seconds depend on the network alone, so all runs share one schedule, and arrays keep the runs on
their last axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.clock.network import Clients
from certibit.solvers.events.event_method import Each
from certibit.solvers.method import Slot
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.oracle import Oracle


@dataclass(frozen=True)
class ClientWork:
    """What clients do between the reply of the server and their message.

    Attributes
    ----------
    gradients : int, or one of each client
        Gradients that a client evaluates.
    up : int, or one of each client
        Bits that it sends.
    down : int
        Bits of a model.
    """

    gradients: Each
    up: Each
    down: int

    def cycle(self, clients: Clients, known: bool = False) -> Array:
        """Return the seconds of each client from the server's reply to its message, (n,).

        A model that is ``known`` need not be received.
        """
        received = 0.0 if known else clients.latency + self.down / clients.downlink
        work = np.asarray(self.gradients) * clients.gradient
        seconds: Array = received + work + np.asarray(self.up) / clients.uplink + clients.latency
        return seconds


@dataclass
class EventChannel:
    """The network of one schedule: a heap of arrivals, and the models that clients work at.

    Parameters
    ----------
    one : Channel
        The simulated network of a single client, for the messages and their bits.
    clients : Clients
        The links and speeds of all.
    work : ClientWork
        What a client does for a message.
    """

    one: Channel
    clients: Clients
    work: ClientWork
    now: float = 0.0
    client: int = -1
    """The client whose message has arrived."""
    _queue: list[tuple[float, int]] = field(default_factory=list)
    _given: dict[int, tuple[Array, int]] = field(default_factory=dict)
    _waiting: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._cycle = self.work.cycle(self.clients)

    def begin(self, x: Array, clients: int | Sequence[int] | None = None) -> None:
        """Let some clients, so many of the fastest, or all, begin at x, which they know.

        The number of this model is 0.

        Raises
        ------
        Refusal
            If there are not so many clients.
        """
        seconds = self.work.cycle(self.clients, known=True)
        n = seconds.size
        if isinstance(clients, int) and not 1 <= clients <= n:
            raise Refusal(f"{clients} of {n} clients cannot take part; give m from 1 to {n}")
        fastest = np.argsort(self._cycle, kind="stable").tolist()
        chosen = fastest[:clients] if clients is None or isinstance(clients, int) else clients
        for client in chosen:
            self._give(client, x, 0, float(seconds[client]))

    def send(self, v: Array) -> Array:
        """Send v, (1, d, R), uncompressed from the client; return what arrives."""
        return self.one.send(v)

    def uplink(self, v: Array) -> Array:
        """Send C(v), (1, d, R), from the client; return what arrives."""
        return self.one.uplink(v)

    def reply(self, x: Array, k: int) -> None:
        """Send x with its number to the client whose message has arrived."""
        self._send(self.client, x, k)

    def broadcast(self, x: Array, k: int) -> None:
        """Send x with its number to all clients that wait."""
        for client in sorted(self._waiting):
            self._send(client, x, k)

    def next_arrival(self) -> tuple[Array, int]:
        """Wait for the next message; return the model that its client was given, and its number.

        Raises
        ------
        Refusal
            If no client works.
        """
        if not self._queue:
            raise Refusal("no client works any more: reply to clients, or broadcast")
        self.now, self.client = heappop(self._queue)
        self._waiting.add(self.client)
        return self._given.pop(self.client)

    def _send(self, client: int, x: Array, k: int) -> None:
        self._waiting.remove(client)
        self._give(client, self.one.broadcast(x), k, float(self._cycle[client]))

    def _give(self, client: int, x: Array, k: int, seconds: float) -> None:
        self._given[client] = x, k
        heappush(self._queue, (self.now + seconds, client))


@dataclass(frozen=True)
class EventOracle(Oracle):
    """Gradients of f = (1/n) sum_i f_i with noise: every client draws from all data."""

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Evaluate one stochastic gradient of f at x, (1, d, R), always of a new sample."""
        self.count(1)
        gradient = mean(self.problem.grad(x))
        if self.tape is None:
            return gradient
        return gradient + self.tape.draw("arrival", 1, self.d)
