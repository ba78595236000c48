"""The loop over the runs of a batch that are still going."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import is_numpy
from certibit.data.problem import Problem
from certibit.solvers.runs.checkpoint import Carried, Checkpoint
from certibit.solvers.runs.points import Points, Wishes
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import advance, simulated_world, world_of_runs
from certibit.solvers.state import copied, copy_of, narrow, take

Progress = Callable[[float], None]
"""Told the fraction of the work that is done, from 0 to 1."""


class Loop:
    """The runs that are still going.

    On a device runs that have ended go on, unseen, until all have.
    """

    def __init__(
        self,
        experiment: Experiment[Problem],
        seeds: tuple[int, ...],
        wishes: Wishes,
        *,
        wire: bool,
    ) -> None:
        started = time.perf_counter()
        self._wishes, self._method = wishes, experiment.method
        self._channel, self._oracle = simulated_world(experiment, seeds, wire)
        self._channel = replace(self._channel, catch_up=wishes.catch_up)
        self._on_host = is_numpy(self._channel.template)
        x = copy_of(self._channel.template)
        start = self._method.start(x, self._oracle, self._channel)
        self.now = Carried.at_start(
            copied(start),
            np.full((1, experiment.d, len(seeds)), np.nan),
            self._channel.ledger,
            self._channel.streams,
            self._oracle.tape.streams if self._oracle.tape else None,
        )
        self._points = Points(self.now, wishes, started)
        self._points.watch(experiment.problem)
        self.now.settle = lambda: self._points.settle(self._method, self._oracle.problem)
        self._channel, self._oracle = world_of_runs(self._channel, self._oracle)

    def finish(self, progress: Progress, number: int, checkpoint: Checkpoint | None) -> Carried:
        """Go on until no run is left; return what they carry then.

        The runs begin where the checkpoint has them, as the batch of this number, or at the start.
        """
        now, points = self.now, self._points
        if checkpoint and checkpoint.read(number, now):
            points.closed = now.done >= 1
            if self._on_host:
                self._narrow(now.active)
        else:
            self._note(np.arange(now.active.size))
            self._look()
        while not points.all_closed:
            talking = self._advance()
            now.rounds[now.active[talking]] += 1
            self._note(points.recordable(talking, self._oracle.n))
            if points.is_time():
                self._look()
                progress(float(now.done.min()))
            if checkpoint and points.none_kept:
                checkpoint.write_if_due(number, now)
        if checkpoint:
            checkpoint.write(number, now)
        return now

    def _note(self, positions: NDArray[np.intp]) -> None:
        self._points.note(positions, self._method, self._oracle.problem)

    def _look(self) -> None:
        """Record what is kept, and let the runs drop out that have ended."""
        now, points = self.now, self._points
        points.look(self._method, self._oracle.problem)
        going = np.flatnonzero(~points.closed[now.active])
        if self._on_host and going.size < now.active.size:
            now.active = now.active[going]
            now.state = take(now.state, going)
            self._narrow(going)

    def _advance(self) -> NDArray[np.bool_]:
        """Go on by an iteration; say which runs communicated."""
        now = self.now
        now.iteration[now.active] += 1
        iteration = now.iteration[now.active]
        now.state, talking = advance(
            self._method, now.state, self._oracle, self._channel, iteration
        )
        return talking

    def _narrow(self, runs: NDArray[np.intp]) -> None:
        """Leave only some of the runs, by their positions, in the method and its world."""
        self._method = narrow(self._method, runs)
        self._channel, self._oracle = self._channel.at(runs), self._oracle.at(runs)
