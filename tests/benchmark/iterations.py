"""A whole iteration of every method at its theoretical parameters."""

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
from workloads import Workload

from certibit import METHODS, Every, Experiment, compressor
from certibit.solvers.fast.extension import FastIterations
from certibit.solvers.simulation.iteration import iterations_of, world_of_runs
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.solvers.state import copied

SENT = {"unbiased": ("rand-k:1",), "contractive": ("top-k:1",), None: (None,)}
DRAWN_AHEAD = 16
"""Random numbers of a long message are drawn for so many messages at a time."""
_LONG = 1 << 20
"""Numbers in (n, d, R) from which on compressors that draw as many are not measured."""


class Iterations:
    """The iterations of an experiment with R runs: a call does the next one.

    Where local steps are done at once, with the round that follows, a call does the next of them
    when what has been done in the mean over the runs is used up; else nothing.
    """

    def __init__(self, experiment: Experiment[Any], runs: int) -> None:
        self.method = experiment.method
        channel, oracle = simulated_world(experiment, range(runs))
        self.state = copied(self.method.start(channel.template, oracle, channel))
        self.channel, self.oracle = world_of_runs(channel, oracle)
        found = iterations_of(self.method, self.state, self.channel, self.oracle, False)
        assert isinstance(found, FastIterations), "CERTIBIT_FAST is 0"
        self.done_by = found
        self.number, self.done = 0, np.zeros(runs, dtype=np.int64)

    def __call__(self) -> None:
        self.number += 1
        if self.done_by.local_steps is not None and self.number <= self.done.mean():
            return
        last = np.iinfo(np.int64).max
        self.state, _, self.done = self.done_by.after(self.state, self.done, last)

    def one_by_one(self) -> None:
        """Let every iteration be done alone from now on."""
        self.done_by = replace(self.done_by, local_steps=None)

    def with_plain_gradients(self) -> None:
        """Let gradients be those of the problem from now on."""
        plain = {field.name: getattr(self.oracle, field.name) for field in fields(Oracle)}
        self.done_by = replace(self.done_by, oracle=Oracle(**plain))

    def on_copies(self) -> None:
        """Let no array of the state be written over from now on."""
        self.done_by = replace(self.done_by, in_step=True)

    @property
    def period(self) -> int:
        """Iterations after which the same kinds of work have been done, as far as it is fixed."""
        schedule = self.method.schedule
        ahead = DRAWN_AHEAD if self.channel.compressor.uniforms(self.oracle.d) > 1 else 1
        if isinstance(schedule, Every):
            return ahead * schedule.iterations
        return ahead if self.done_by.local_steps is None else ahead * math.ceil(1 / schedule.p)


def experiments(workload: Workload, problem: Any, runs: int) -> Iterator[tuple[str, Any]]:
    """Yield every method on a problem with its compressors, by name."""
    short = problem.n * problem.d * runs <= _LONG
    for name in workload.methods or METHODS:
        card = METHODS[name]
        sent = SENT[card.method.needs.compressor]
        for selector in (*sent, "natural") if name == "diana" and short else sent:
            chosen = compressor(selector) if selector else None
            label = f"{name} {selector}" if selector else name
            method = card.parameters(problem, chosen)
            yield label, Experiment.of(method, problem, chosen)
