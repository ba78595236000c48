"""The world of a run with cohorts, with a clock: the seconds of its messages and gradients."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.noise import share_of_gradient
from certibit.solvers.clock.timed_ledger import TimedLedger
from certibit.solvers.cohorts.cohort_array import CohortArray
from certibit.solvers.cohorts.cohort_world import (
    NUMBER_BITS,
    CohortChannel,
    CohortOracle,
    entries_outside,
)
from certibit.solvers.cohorts.crowd import Crowd
from certibit.solvers.compressors.two_way import downward
from certibit.solvers.method import Slot

_RUN = np.arange(1)


@dataclass
class TimedCohortChannel(CohortChannel):
    """The network of a run with cohorts; its messages take time.

    The ledger has two numbers of every client, in or outside the cohort.
    """

    def uplink(self, v: CohortArray, cohort: CohortArray | None = None) -> CohortArray:
        """Send C_i(v_i) from every client of the cohort; what is received."""
        received = super().uplink(v, cohort)
        bits = self.whole.compressor.layout(v.shape[1]).bits
        clock(self).sent(_RUN, bits * _entries(self.crowd, 1, cohort))
        return received

    def send(self, v: CohortArray, mask: CohortArray | None = None) -> CohortArray:
        """Send v_i from every client, 32 bits a number; what is received."""
        received = super().send(v, mask)
        clock(self).sent(_RUN, NUMBER_BITS * _entries(self.crowd, v.shape[1], mask))
        return received

    def broadcast(self, v: CohortArray, mask: CohortArray | None = None) -> CohortArray:
        """Send v, (1, d, 1), to all clients or to those of a mask, 32 bits a number."""
        reached = self.whole.reached(v.rows, mask)
        received = super().broadcast(v, mask)
        clock(self).received(_RUN, NUMBER_BITS * _entries(self.crowd, v.shape[1], reached))
        return received

    def downlink(self, v: CohortArray) -> CohortArray:
        """Send C(v), (1, d, 1), to all clients by the compressor of the server."""
        received = super().downlink(v)
        bits = downward(self.whole.compressor).layout(v.shape[1]).bits
        clock(self).received(_RUN, bits * _entries(self.crowd, 1, None))
        return received


@dataclass
class TimedCohortOracle(CohortOracle):
    """The gradients of the clients of the cohort; they take time, by the rows that they read."""

    def grad(
        self,
        x: CohortArray,
        active: CohortArray | int | None = None,
        sample: Slot | None = None,
    ) -> CohortArray:
        """Evaluate the gradient of f_i at x_i on the clients of the cohort; (n, d, 1)."""
        gradients = super().grad(x, active, sample)
        share = share_of_gradient(self.problem, sample is not None or self.always_new)
        if isinstance(active, int) and active < self.n:
            clock(self.channel).work_of_cohort(_RUN, share)
        else:
            mask = None if isinstance(active, int) else active
            clock(self.channel).work(_RUN, share * _entries(self.channel.crowd, 1, mask))
        return gradients


def clock(channel: CohortChannel) -> TimedLedger:
    """Return the ledger that keeps the time."""
    ledger: Any = channel.ledger
    return ledger


def _entries(crowd: Crowd, d: int, mask: CohortArray | None) -> NDArray[np.int64]:
    """Return how many of d entries of each client a mask lets through: (n, 1)."""
    if mask is None:
        return np.full((crowd.n, 1), d)
    times = d // mask.shape[1]
    entries = np.full((crowd.n, 1), times * entries_outside(mask))
    entries[crowd.clients] = times * mask.rows.sum(axis=1)
    return entries
