"""What the accelerations gain: the time with one over the time without it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from iterations import Iterations
from timing import Action, Spread, compared

from certibit import Experiment, MiniBatch, compressor, parameters
from certibit.solvers.fast.fast_world import CompiledBatch


def experiment_of(problem: Any, name: str, selector: str | None = None) -> Experiment[Any]:
    """Return a method at its theoretical parameters."""
    chosen = compressor(selector) if selector else None
    return Experiment.of(parameters(name, problem, chosen), problem, chosen)


def fused_pass(problem: Any, runs: int, seconds: float, name: str, sent: str | None) -> Spread:
    """Gradients are evaluated in one compiled pass."""
    one, other = (Iterations(experiment_of(problem, name, sent), runs) for _ in range(2))
    other.with_plain_gradients()
    return compared(one, other, seconds, one.period)


def compiled_messages(problem: Any, runs: int, seconds: float, name: str, sent: str) -> Spread:
    """Messages are compressed by compiled code."""
    one, other = (Iterations(experiment_of(problem, name, sent), runs) for _ in range(2))
    other.with_plain_messages()
    return compared(one, other, seconds, one.period)


def compiled_batches(problem: Any, runs: int, seconds: float) -> Spread:
    """Drawn rows are found and read by compiled code."""
    one, other = (_gradient_of_one_row(problem, runs, law) for law in (CompiledBatch, MiniBatch))
    return compared(one, other, seconds)


def _gradient_of_one_row(problem: Any, runs: int, kind: type[MiniBatch]) -> Action:
    """Return what computes gradients of a new batch of one row."""
    law, x = kind(1), np.ones((problem.n, problem.d, runs)) / problem.d
    numbers = np.random.default_rng(3).random((runs, problem.n, law.numbers(problem)))

    def gradients() -> None:
        uniforms = np.permute_dims(numbers, (1, 2, 0))  # an array of its own: a batch of its own
        law.gradient(problem, x, uniforms, problem.grad)

    return gradients


TRICKS: dict[str, Callable[[Any, int, float], Spread]] = {
    "gradients in one pass (GD)": partial(fused_pass, name="gd", sent=None),
    "gradients in one pass (Scaffnew)": partial(fused_pass, name="scaffnew", sent=None),
    "gradients in one pass (LoCoDL)": partial(fused_pass, name="locodl", sent="rand-k:1"),
    "gradients in one pass (DIANA rand-1)": partial(fused_pass, name="diana", sent="rand-k:1"),
    "natural compression in one pass (DIANA)": partial(
        compiled_messages, name="diana", sent="natural"
    ),
    "entries in one pass (DIANA rand-1)": partial(compiled_messages, name="diana", sent="rand-k:1"),
    "entries in one pass (ADIANA rand-4)": partial(
        compiled_messages, name="adiana", sent="rand-k:4"
    ),
    "mini-batches of one row by compiled code": compiled_batches,
}
