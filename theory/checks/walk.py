"""A few steps of a method by hand, and how far two states are apart."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from bitbound.data.arrays import Array
from bitbound.data.problem import Problem
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.method import Every, Method
from bitbound.solvers.state import each
from bitbound.theory.checks.promise import simulated_world

EXACT = 1e-9
"""What rounding may do to a relation that is exact, relative to the largest number of the state."""

STEPS, RUNS = 12, 3


def walk(
    method: Method, view: Problem, compressor: Compressor | None, seed: int, start: Any = None
) -> Iterator[tuple[Any, Any, tuple[Any, Any]]]:
    """Return the states of some runs with the gradients, and each state before with its copy.

    Methods that communicate at random do so with probability 1/2 here.
    """
    channel, oracle = simulated_world(method, view, compressor, range(seed, seed + RUNS))
    state = method.start(channel.template, oracle, channel) if start is None else start
    for iteration in range(1, STEPS + 1):
        before, copied = state, each(np.copy, state)
        state = method.local_step(state, oracle, channel)
        if isinstance(method.schedule, Every):
            talks = iteration % method.schedule.iterations == 0
        else:
            talks = channel.streams.uniform("round", channel.runs[:1], (1, 1)).item() < 0.5
        if talks:
            state = method.communicate(state, oracle, channel)
        yield state, oracle, (before, copied)


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
