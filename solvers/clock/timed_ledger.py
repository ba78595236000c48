"""A ledger that also keeps the time of the server and of every client."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.clock.network import Clients
from certibit.solvers.simulation.ledger import Ledger

EachClient = NDArray[Any]
"""Numbers of the clients in some runs, (n, R) or (n, 1)."""


class TimedLedger(Ledger):
    """The costs of each run, and the seconds that have passed on the server and on every client.

    A client computes and sends one thing after the other. The server answers when the last message
    that it waits for has arrived; a client goes on when it has received the answer. A client that
    was away and is called receives the last answer first, whose bits are counted where the method
    has sent it.

    Attributes
    ----------
    seconds : (R,)
        When the server and all clients are done with everything so far.
    server : (R,)
        When the last message has arrived at the server.
    answered : (R,)
        When the server has last sent something.
    client, heard : (R, n)
        When each client is done, and when it has the last answer, or would have it.
    unassigned : (R,)
        Gradients, or parts, that each client of a cohort evaluates which is drawn only later.
    """

    def __init__(self, runs: int, clients: Clients) -> None:
        super().__init__(runs)
        self._pace = clients
        n = clients.gradient.size
        self.seconds, self.server, self.answered, self.unassigned = np.zeros((4, runs))
        self.client, self.heard = np.zeros((2, runs, n))

    def work(self, runs: NDArray[np.intp], gradients: EachClient) -> None:
        """Let clients evaluate so many gradients each, or such parts of one."""
        gradients = np.asarray(gradients).T
        begin = np.maximum(self.client[runs], self.heard[runs])
        done = begin + gradients * self._pace.gradient
        self.client[runs] = np.where(gradients > 0, done, self.client[runs])
        self._pass(runs)

    def work_of_cohort(self, runs: NDArray[np.intp], gradients: float) -> None:
        """Let those clients evaluate so many gradients each that send something next."""
        self.unassigned[runs] += gradients

    def sent(self, runs: NDArray[np.intp], bits: EachClient) -> None:
        """Let clients send so many bits each, after the work that is theirs."""
        bits = np.asarray(bits)
        self.work(runs, (bits > 0) * self.unassigned[runs])
        self.unassigned[runs] = 0
        bits = bits.T
        left = np.maximum(self.client[runs], self.heard[runs]) + bits / self._pace.uplink
        self.client[runs] = np.where(bits > 0, left, self.client[runs])
        arrival = np.where(bits > 0, left + self._pace.latency, 0.0)
        self.server[runs] = np.maximum(self.server[runs], last(arrival))
        self._pass(runs)

    def received(self, runs: NDArray[np.intp], bits: EachClient) -> None:
        """Let the server send so many bits to each client."""
        bits = np.asarray(bits).T
        served, server = bits > 0, self.server[runs, None]
        sent = self.heard[runs] - self._pace.latency  # all of the messages before
        anew = ~served & (server > self.answered[runs, None])  # who is away needs the last answer
        begin = np.where(anew, server, np.maximum(sent, server))
        bits = np.where(served, bits, bits.max(axis=1, keepdims=True))
        heard = begin + bits / self._pace.downlink + self._pace.latency
        self.client[runs] = np.where(
            served, np.maximum(self.client[runs], heard), self.client[runs]
        )
        self.heard[runs], self.answered[runs] = heard, self.server[runs]
        self._pass(runs)

    @property
    def spent(self) -> dict[str, NDArray[Any]]:
        """All columns, (R,) or (R, n) each, as they are now."""
        return {name: x.copy() for name, x in vars(self).items() if x is not self._pace}

    def _pass(self, runs: NDArray[np.intp]) -> None:
        """Note when all are done."""
        self.seconds[runs] = np.maximum(self.server[runs], last(self.client[runs]))


def last(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return when the slowest client of each run is done, (R, n) -> (R,)."""
    return times.max(axis=1)
