"""A few steps of a method outside the engine, and the distance of two states."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.solvers.method import Every, Schedule, WithProbability
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import advance, simulated_world

EXACT = 1e-9
"""Rounding error that an exact relation may have, relative to the largest number of the state."""

STEPS, RUNS = 12, 3


@dataclass(frozen=True)
class _PacedChannel(Channel):
    """The simulated network at another pace: all runs communicate together.

    ``pace`` takes the place of the schedule of the method; without it, methods that communicate at
    random do so with probability 1/2. All coins are fair, so that a few steps show every outcome.
    """

    pace: Schedule | None = None

    def talking(self, schedule: Schedule, iteration: Any) -> NDArray[np.bool_]:
        """Say whether the runs communicate after an iteration, counted from 1: (R,), all alike."""
        schedule = self.pace or schedule
        if isinstance(schedule, Every):
            return np.asarray(super().talking(schedule, iteration))
        talks = np.asarray(super().talking(WithProbability(0.5), iteration))[0]
        return np.full(len(self.runs), talks)

    def coin(self, p: Any) -> Array:
        """Toss a fair coin, unless p is 0 or 1; (1, 1, R) bool."""
        return super().coin(0.5 if 0 < p < 1 else p)

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss a fair coin on every client, but where q_i is 0 or 1; (n, 1, R) bool."""
        return super().client_coins([0.5 if 0 < chance < 1 else chance for chance in q])


def with_pace(channel: Channel, pace: Schedule | None = None) -> _PacedChannel:
    """Return a channel with another pace."""
    return _PacedChannel(
        **{field.name: getattr(channel, field.name) for field in fields(channel)}, pace=pace
    )


def walk(
    experiment: ConvexExperiment, seed: int, start: Any = None, steps: int = STEPS
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the states of some runs with the gradients, and each state before.

    Methods that communicate at random do so with probability 1/2 here.
    """
    method = experiment.method
    simulated, oracle = simulated_world(experiment, range(seed, seed + RUNS))
    channel = with_pace(simulated)
    state = method.start(channel.template, oracle, channel) if start is None else start
    for iteration in range(1, steps + 1):
        before = state
        state, _ = advance(method, before, oracle, channel, iteration)
        yield state, oracle, before


def size(state: Any) -> float:
    """Return the largest absolute number of a state."""
    return max(float(np.max(np.abs(getattr(state, f.name)))) for f in fields(state))


def difference(state: Any, other: Any) -> float:
    """Return the largest difference of two states of the same kind."""
    return max(distance(getattr(state, f.name), getattr(other, f.name)) for f in fields(state))


def distance(x: Array, y: Array) -> float:
    """Return the largest difference of two arrays; infinity where one is not finite."""
    largest = np.max(np.abs(np.subtract(x, y, dtype=float)))
    return float(np.where(np.isfinite(largest), largest, np.inf))


class Wrapped:
    """An object with a few methods replaced."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
