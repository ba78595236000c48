"""The registered extension: the fast world of runs on the host, and their iterations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.fast.deferred import settled
from certibit.solvers.fast.fast_world import FastChannel, FastOracle, fast_world
from certibit.solvers.fast.lending import lent, returned
from certibit.solvers.fast.local_steps import LocalSteps
from certibit.solvers.method import Method
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.iteration import method_at
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import merge, narrow, number_of_runs, take

world = fast_world
"""See :class:`~certibit.solvers.simulation.iteration.Extension`."""


@dataclass(frozen=True)
class FastIterations:
    """The iterations of some runs in a fast world.

    If local steps are linear, all local steps of a run until its next round are done at once, so
    that runs may be at different iterations. Large arrays of the state are overwritten, unless all
    runs must stay at the same iteration.
    """

    method: Method
    channel: FastChannel
    oracle: FastOracle
    local_steps: LocalSteps | None
    in_step: bool

    def after(
        self, state: Any, iteration: NDArray[np.int64], last: int
    ) -> tuple[Any, NDArray[np.bool_], NDArray[np.int64]]:
        """Do an iteration, or all until the next round of each run, and that round."""
        method, steps = self.method, self.local_steps
        if steps is None:
            iteration = iteration + 1
            method = method_at(method, iteration)
            state = settled(method.local_step(state, self.oracle, self.channel))
            turn = self.channel.talking(method.schedule, iteration)
            talking: NDArray[np.bool_] = np.asarray(turn)
        else:
            count, talking = self.channel.steps_to_round(method.schedule, iteration, last)
            self.oracle.count(steps.gradients * count)
            state, iteration = steps.after(count, state), iteration + count
        if talking.any():
            state = self._round(method, state, talking)
        return state, talking, iteration

    def _round(self, method: Method, state: Any, talking: NDArray[np.bool_]) -> Any:
        """Let the runs communicate whose turn it is."""
        oracle: Oracle = self.oracle
        channel: Channel = self.channel
        everyone = bool(talking.all())
        runs = np.arange(number_of_runs(state)) if everyone else np.flatnonzero(talking)
        if not everyone:
            method, oracle, channel = narrow(method, runs), oracle.at(runs), channel.at(runs)
        loan = None if self.in_step else lent(state, runs)
        if loan is not None:
            return returned(state, runs, method.communicate(loan, oracle, channel))
        if everyone:
            return settled(method.communicate(state, oracle, channel))
        part = settled(method.communicate(take(state, runs), oracle, channel))
        return merge(state, runs, part)


def iterations_for(
    method: Method, state: Any, channel: Any, oracle: Any, in_step: bool
) -> FastIterations | None:
    """Return the iterations of runs whose world is fast."""
    if not (isinstance(oracle, FastOracle) and isinstance(channel, FastChannel)):
        return None
    alone = in_step or not number_of_runs(state)
    steps = None if alone else LocalSteps.of(method, state, oracle)
    return FastIterations(method, channel, oracle, steps, in_step)
