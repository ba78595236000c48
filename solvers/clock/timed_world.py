"""The simulated world with a clock: the same messages and gradients, and the seconds they take."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from certibit.data.arrays import Array, is_numpy
from certibit.data.errors import Refusal
from certibit.data.noise import share_of_gradient
from certibit.data.problem import Problem
from certibit.solvers.clock.network import Network
from certibit.solvers.clock.timed_ledger import EachClient, TimedLedger
from certibit.solvers.compressors.two_way import downward
from certibit.solvers.method import Slot
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.simulated_world import simulated_world

_NUMBER = 32
"""Bits of a number that is not compressed."""


@dataclass(frozen=True)
class TimedChannel(Channel):
    """The simulated network; its messages take time."""

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Send C_i(v_i) from every client of the cohort; return the received vectors, (n, d, R)."""
        received = super().uplink(v, cohort)
        bits = self.compressor.layout(v.shape[1]).bits
        self._clock.sent(self.runs, bits * _entries(self.n, 1, cohort) + self._told_bits(cohort))
        return received

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Send v_i from every client, 32 bits a number; what is received, (n, d, R)."""
        received = super().send(v, mask)
        entries = _entries(self.n, v.shape[1], mask)
        self._clock.sent(self.runs, _NUMBER * entries + self._told_bits(mask))
        return received

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Send v, (1, d, R), from the server to all clients, 32 bits a number; (1, d, R)."""
        reached = self.reached(v, mask)
        received = super().broadcast(v, mask)
        entries = _entries(self.n, v.shape[1], reached)
        self._clock.received(self.runs, _NUMBER * entries + self._told_bits(reached))
        return received

    def downlink(self, v: Array) -> Array:
        """Send C(v), (1, d, R), from the server to all clients by its compressor; (1, d, R)."""
        received = super().downlink(v)
        bits = downward(self.compressor).layout(v.shape[1]).bits
        self._clock.received(self.runs, bits * _entries(self.n, 1, None))
        return received

    def _told_bits(self, mask: Array | None) -> EachClient | int:
        return 0 if mask is None else self.positions(mask)

    @property
    def _clock(self) -> TimedLedger:
        ledger: Any = self.ledger
        return ledger


@dataclass(frozen=True)
class TimedOracle(Oracle):
    """The gradient oracle of a simulation; gradients take time, by the rows that they read."""

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Evaluate the gradient of f_i at x_i on every client; (n, d, R)."""
        gradients = super().grad(x, active, sample)
        clock: Any = self.ledger
        share = share_of_gradient(self.problem, sample is not None or self.always_new)
        if isinstance(active, int) and active < self.n:
            clock.work_of_cohort(self.runs, share)
        else:
            mask = None if isinstance(active, int) else active
            clock.work(self.runs, share * _entries(self.n, 1, mask))
        return gradients


def timed_world(
    experiment: Experiment[Problem], seeds: Sequence[int], wire: bool, network: Network
) -> tuple[TimedChannel, TimedOracle]:
    """Return channel and gradients of :func:`simulated_world`, with the clock of a network.

    Raises
    ------
    Refusal
        If the run is on a device, or the network is one of another number of clients.
    """
    channel, oracle = simulated_world(experiment, seeds, wire)
    if not is_numpy(channel.template):
        raise Refusal("a network's seconds are counted on the host; choose the library numpy")
    ledger = TimedLedger(len(seeds), network.clients(experiment.n))
    shared = {"ledger": ledger}
    return (
        TimedChannel(**(_fields(channel) | shared)),
        TimedOracle(**(_fields(oracle) | shared)),
    )


def _entries(n: int, d: int, mask: Array | None) -> EachClient:
    """Return how many of d entries a mask, (n, 1, R) or (n, d, R), lets through: (n, R)."""
    if mask is None:
        return np.full((n, 1), d)
    mask = np.broadcast_to(mask, (n, *mask.shape[1:]))
    entries: EachClient = mask.sum(axis=1) * (d // mask.shape[1])
    return entries


def _fields(part: Channel | Oracle) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(part)}
