"""Measured seconds beside the promised ones."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from certibit.data.problem import Problem
from certibit.solvers.clock.network import Network
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.events.event_run import simulate_events
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.trace import SECONDS, Column, Trace
from certibit.theory.asynchronous.time_bounds import TimeBound


@dataclass(frozen=True)
class MeasuredTime:
    """How long a method takes until the mean of |grad f|^2, over steps and runs, is small.

    Attributes
    ----------
    bound : TimeBound
        What is promised.
    epsilon : float
        The accuracy.
    seconds : float
        When the mean over the steps so far and the runs is at most epsilon; infinite if it is not
        after the promised steps.
    latest : float
        When the last step of the runs was made.
    trace : Trace
        Of the runs.
    """

    bound: TimeBound
    epsilon: float
    seconds: float
    latest: float
    trace: Trace

    @property
    def holds(self) -> bool:
        """Whether neither the seconds nor those of the steps exceed the promise."""
        most = self.bound.seconds * (1 + 1e-9)
        return self.seconds <= most and self.latest <= most


def measured_time(
    bound: TimeBound,
    problem: Problem,
    network: Network,
    epsilon: float,
    compressor: Compressor | None = None,
    *,
    seeds: int = 10,
    all_steps: bool = False,
) -> MeasuredTime:
    """Run a method until the mean of |grad f|^2 is small, or for all promised steps."""
    means = _Means(epsilon, all_steps)
    trace = simulate_events(
        bound.method, problem, compressor if bound.method.compressed else None,
        network=network, seeds=seeds,
        budget=Budget(rounds=bound.steps), record=Record(1, 1), callback=means,
    )  # fmt: skip
    return MeasuredTime(bound, epsilon, means.seconds, float(trace.final(SECONDS)[0]), trace)


class _Means:
    """The mean over the steps so far and the runs, and when it is small first."""

    def __init__(self, epsilon: float, all_steps: bool) -> None:
        self._epsilon, self._all_steps = epsilon, all_steps
        self._sum, self._steps, self.seconds = 0.0, 0, np.inf

    def __call__(self, point: Mapping[str, Column]) -> bool:
        self._sum += float(point["squared_gradient"].mean())
        self._steps += 1
        small = self._sum <= self._epsilon * self._steps
        if small and self.seconds == np.inf:
            self.seconds = float(point[SECONDS][0])
        return small and not self._all_steps
