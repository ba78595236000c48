"""The registered extension: the world of runs on the host, with compiled gradients and messages."""

from dataclasses import dataclass, fields, replace
from typing import Any, TypeGuard

import numpy as np

from certibit.data.arrays import Array, is_numpy
from certibit.data.mini_batch import MiniBatch
from certibit.data.passes.compilation import can_compile
from certibit.data.passes.fused import fused_gradients
from certibit.data.problems.logistic import LogisticRegression
from certibit.data.problems.rows import DenseRows, SparseRows
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.fast.batches import CompiledBatch
from certibit.solvers.fast.messages import pays, received
from certibit.solvers.registry import are_forced
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.tape import Tape

FEW = 5
"""Runs from which on a compiled pass, whose vector registers hold runs, is faster than products."""


@dataclass(frozen=True)
class FastChannel(Channel):
    """The network, with messages that are compressed and received by compiled code."""

    def _received(self, v: Array, compressor: Compressor, uniforms: Array) -> Array:
        if self.wire:
            return super()._received(v, compressor, uniforms)
        return received(compressor, v, uniforms)


@dataclass(frozen=True)
class FastOracle(Oracle):
    """The oracle, with gradients of large logistic regression in one compiled pass."""

    def _evaluated(self, x: Array) -> Array:
        problem, runs = self.problem, x.shape[2]
        large = pays(self.n * self.d * runs) and (runs >= FEW or are_forced())
        if large and is_numpy(x) and x.dtype == np.float64 and _has_a_pass(problem):
            return fused_gradients(problem.rows).at(x, problem.ridge_f)
        return problem.grad(x)


def world(channel: Channel, oracle: Oracle) -> tuple[FastChannel, FastOracle] | None:
    """Return the same world on compiled code; None on a device, and without numba."""
    if not (can_compile() and is_numpy(channel.template)):
        return None
    parts = {field.name: getattr(oracle, field.name) for field in fields(Oracle)}
    return (
        FastChannel(**{field.name: getattr(channel, field.name) for field in fields(Channel)}),
        FastOracle(**(parts | {"tape": oracle.tape and _compiled(oracle.tape)})),
    )


def _has_a_pass(problem: Any) -> TypeGuard[LogisticRegression]:
    """Whether gradients are those of logistic regression, and not of a subclass of a user."""
    return type(problem) is LogisticRegression and type(problem.rows) in (DenseRows, SparseRows)


def _compiled(tape: Tape) -> Tape:
    """Return a tape with its law by compiled code, where there is such code."""
    law = tape.noise
    if type(law) is not MiniBatch:
        return tape
    return replace(tape, noise=CompiledBatch(law.b, law.replacement))
