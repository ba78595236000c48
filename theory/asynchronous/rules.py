"""The methods of the event world with the parameters of their theorems, by name."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from certibit.data.problem import Problem
from certibit.solvers.clock.network import Clients, Network
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.events.event_world import ClientWork
from certibit.theory.asynchronous.shadowheart_bound import shadowheart
from certibit.theory.asynchronous.time_bounds import (
    Stationarity,
    TimeBound,
    Times,
    asynchronous,
    minibatch,
    rennala,
    ringmaster,
    synchronous,
)


@dataclass(frozen=True)
class EventSetting:
    """The clients of a network, the features, and a compressor for methods that compress."""

    clients: Clients
    d: int
    compressor: Compressor

    @classmethod
    def of(
        cls, network: Network, problem: Problem, compressor: Compressor | None = None
    ) -> "EventSetting":
        """Return the clients of a problem on a network."""
        return cls(network.clients(problem.n), problem.d, compressor or Identity())

    @property
    def tau(self) -> Times:
        """The seconds from a reply to an uncompressed gradient, ascending: (n,)."""
        bits = Identity().layout(self.d).bits
        return np.sort(ClientWork(1, bits, bits).cycle(self.clients))


def _on_times(rule: Callable[[Stationarity, Times], TimeBound]) -> "Rule":
    return lambda c, setting: rule(c, setting.tau)


Rule = Callable[[Stationarity, EventSetting], TimeBound]

RULES: dict[str, Rule] = {
    "rennala-sgd": _on_times(rennala),
    "ringmaster-asgd": _on_times(ringmaster),
    "shadowheart-sgd": lambda c, w: shadowheart(c, w.clients, w.compressor, w.d),
    "asynchronous-sgd": _on_times(asynchronous),
    "synchronous-sgd": _on_times(synchronous),
    "minibatch-sgd": _on_times(minibatch),
}
"""The parameters of each method, and what they promise."""
