"""A whole iteration of every method at its theoretical parameters."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from workloads import Workload

from certibit import METHODS, Every, Experiment, compressor
from certibit.solvers.state import copied, settled
from certibit.solvers.steps.local_steps import LocalSteps
from certibit.solvers.world.iteration import advance, leap
from certibit.solvers.world.simulation import simulated_world

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

    use_up = True
    """Whether large arrays of the state are written over, as the engine lets them be."""

    def __init__(self, experiment: Experiment[Any], runs: int) -> None:
        self.method = experiment.method
        self.channel, self.oracle = simulated_world(experiment, range(runs))
        start = self.method.start(self.channel.template, self.oracle, self.channel)
        self.state = copied(settled(start))
        self.local_steps = LocalSteps.of(self.method, self.state, self.oracle)
        self.number, self.done = 0, np.zeros(runs, dtype=np.int64)

    def __call__(self) -> None:
        self.number += 1
        world, last = (self.oracle, self.channel), np.iinfo(np.int64).max
        if self.local_steps is None:
            self.state, _ = advance(
                self.method, self.state, *world, self.number, use_up=self.use_up
            )
        elif self.number <= self.done.mean():
            return
        else:
            self.state, _, self.done = leap(
                self.method, self.state, *world, self.local_steps, self.done, last,
                use_up=self.use_up,
            )  # fmt: skip

    def one_by_one(self) -> None:
        """Let every iteration be done alone from now on."""
        self.local_steps = None

    @property
    def period(self) -> int:
        """Iterations after which the same kinds of work have been done, as far as it is fixed."""
        schedule = self.method.schedule
        ahead = DRAWN_AHEAD if self.channel.compressor.uniforms(self.oracle.d) > 1 else 1
        if isinstance(schedule, Every):
            return ahead * schedule.iterations
        return ahead if self.local_steps is None else ahead * math.ceil(1 / schedule.p)


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
