"""The world of runs on the host, with lazy gradients, compiled messages and compiled solves."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, is_numpy
from certibit.data.mini_batch import MiniBatch
from certibit.data.passes.compilation import can_compile
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.fast.batches import CompiledBatch
from certibit.solvers.fast.compiled_solve import compiled_solve
from certibit.solvers.fast.deferred import written
from certibit.solvers.fast.lazy_gradient import lazy_gradient
from certibit.solvers.fast.messages import received
from certibit.solvers.method import Every, Schedule
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.randomness import AHEAD
from certibit.solvers.simulation.tape import Tape


@dataclass(frozen=True)
class FastChannel(Channel):
    """The network, with messages that are compressed and received by compiled code."""

    def steps_to_round(
        self, schedule: Schedule, iteration: NDArray[np.int64], last: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Say how many iterations follow until each run communicates, and which do: (R,) each.

        A run that has done the last iteration before does not, nor one whose turn is more than
        ``AHEAD`` iterations away.
        """
        left = np.minimum(last - iteration, AHEAD)
        if isinstance(schedule, Every):
            steps = schedule.iterations - iteration % schedule.iterations
            return np.minimum(steps, left), steps <= left
        streams: Any = self.streams  # those of the host
        return streams.draw_until("round", self.runs, np.ravel(schedule.p), left)

    def _received(self, v: Array, compressor: Compressor, uniforms: Array) -> Array:
        if self.wire:
            return super()._received(written(v), compressor, uniforms)
        return received(compressor, v, uniforms)


@dataclass(frozen=True)
class FastOracle(Oracle):
    """The oracle with lazy gradients, which are evaluated in one pass when needed."""

    def minimise(self, *arguments: Any, **options: Any) -> tuple[Array, Array] | None:
        """Do what :func:`~certibit.solvers.local_solve.minimise` does, by compiled code.

        None where there is none.
        """
        found = compiled_solve(self.problem, *arguments, **options)
        if found is None:
            return None
        z, change, evaluated = found
        self.count(evaluated)
        return z, change

    def _evaluated(self, x: Array) -> Array:
        lazy = lazy_gradient(self.problem, x)
        return self.problem.grad(written(x)) if lazy is None else lazy


def fast_world(channel: Channel, oracle: Oracle) -> tuple[FastChannel, FastOracle] | None:
    """Return the same world on compiled code; None on a device, and without numba."""
    if not (can_compile() and is_numpy(channel.template)):
        return None
    parts = {field.name: getattr(oracle, field.name) for field in fields(Oracle)}
    return (
        FastChannel(**{field.name: getattr(channel, field.name) for field in fields(Channel)}),
        FastOracle(**(parts | {"tape": oracle.tape and _compiled(oracle.tape)})),
    )


def _compiled(tape: Tape) -> Tape:
    """Return a tape with its law by compiled code, where there is such code."""
    law = tape.noise
    if type(law) is not MiniBatch:
        return tape
    return replace(tape, noise=CompiledBatch(law.b, law.replacement))
