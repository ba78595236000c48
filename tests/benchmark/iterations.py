"""A whole iteration of every method at its theoretical parameters."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from certibit import METHODS, Every, Experiment, compressor
from certibit.data.arrays import is_numpy
from certibit.solvers.fast.fast_world import FastOracle
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.iteration import advance, simulated_world, world_of_runs
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import copied

SENT = {"unbiased": ("rand-k:1",), "contractive": ("top-k:1",), None: (None,)}
DRAWN_AHEAD = 16
"""Random numbers of a long message are drawn for so many messages at a time."""
_LONG = 1 << 20
"""Numbers in (n, d, R) from which on compressors that draw as many are not measured."""


class Iterations:
    """The iterations of an experiment with R runs: a call does the next one."""

    def __init__(self, experiment: Experiment[Any], runs: int) -> None:
        self.method = experiment.method
        channel, oracle = simulated_world(experiment, range(runs))
        self.state = copied(self.method.start(channel.template, oracle, channel))
        self.channel, self.oracle = world_of_runs(channel, oracle)
        fast = isinstance(self.oracle, FastOracle) or not is_numpy(channel.template)
        assert fast, "CERTIBIT_FAST is 0"
        self.number = 0

    def __call__(self) -> None:
        self.number += 1
        self.state, _ = advance(self.method, self.state, self.oracle, self.channel, self.number)

    def with_plain_gradients(self) -> None:
        """Let gradients be those of the problem from now on."""
        self.oracle = Oracle(**_fields(self.oracle, Oracle))

    def with_plain_messages(self) -> None:
        """Let messages be those of the compressor from now on."""
        self.channel = Channel(**_fields(self.channel, Channel))

    @property
    def period(self) -> int:
        """Iterations after which the same kinds of work have been done, as far as it is fixed."""
        schedule = self.method.schedule
        ahead = DRAWN_AHEAD if self.channel.compressor.uniforms(self.oracle.d) > 1 else 1
        return ahead * schedule.iterations if isinstance(schedule, Every) else ahead


def _fields(part: Any, kind: type) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(kind)}


def experiments(problem: Any, runs: int) -> Iterator[tuple[str, Any]]:
    """Yield every method on a problem with its compressors, by name."""
    short = problem.n * problem.d * runs <= _LONG
    for name in METHODS:
        card = METHODS[name]
        sent = SENT[card.method.needs.compressor]
        for selector in (*sent, "natural") if name == "diana" and short else sent:
            chosen = compressor(selector) if selector else None
            label = f"{name} {selector}" if selector else name
            method = card.parameters(problem, chosen)
            yield label, Experiment.of(method, problem, chosen)
