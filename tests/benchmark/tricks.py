"""What every speed trick of the code gains: the time with it over the time without it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from bare import by_blas
from iterations import DRAWN_AHEAD, Iterations
from timing import Action, Spread, compared

import certibit
from certibit import Experiment, MiniBatch, compressor, parameters
from certibit.data import batch_rows, quiet_machine
from certibit.solvers import backend
from certibit.solvers.compressors import natural
from certibit.solvers.fast.fast_world import CompiledBatch


@contextmanager
def switched(owner: Any, name: str, value: object) -> Iterator[None]:
    """Give a name of a module or class another value for a while."""
    kept = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, kept)


def experiment_of(problem: Any, name: str, selector: str | None = None) -> Experiment[Any]:
    """Return a method at its theoretical parameters."""
    chosen = compressor(selector) if selector else None
    return Experiment.of(parameters(name, problem, chosen), problem, chosen)


def sum_over_features(problem: Any, runs: int, seconds: float) -> Spread:
    """The sum over the features is a product with ones."""
    x = np.ones((problem.n, problem.d, runs))
    return compared(lambda: backend.feature_sum(x), lambda: x.sum(axis=1, keepdims=True), seconds)


def masks(problem: Any, runs: int, seconds: float) -> Spread:
    """Only the entries of a mask are written."""
    x = np.ones((problem.n, problem.d, runs))
    mask = np.random.default_rng(3).random(x.shape) < 2 / problem.n
    return compared(lambda: backend.masked(mask, x), lambda: np.where(mask, x, 0 * x), seconds)


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


def spread_numbers(problem: Any, runs: int, seconds: float) -> Spread:
    """Two uniform numbers serve all entries of a natural message, not each its own."""
    one, other = (Iterations(experiment_of(problem, "diana", "natural"), runs) for _ in range(2))
    plain = _without(other, natural.Natural, "uniforms", lambda compressor, d: d)
    return compared(one, plain, seconds, DRAWN_AHEAD)


def gathered_rows(problem: Any, runs: int, seconds: float) -> Spread:
    """Gradients of one row of every client read that row alone."""
    gradient = _gradient_of_one_row(problem, runs)
    return compared(
        lambda: gradient(1), _without(lambda: gradient(1), batch_rows, "GATHERED", np.inf), seconds
    )


def one_draw(problem: Any, runs: int, seconds: float) -> Spread:
    """A sample at two points is drawn once."""
    gradient = _gradient_of_one_row(problem, runs)

    def anew() -> None:
        gradient(1)
        gradient(1)

    return compared(lambda: gradient(2), anew, seconds)


def compiled_batches(problem: Any, runs: int, seconds: float) -> Spread:
    """Drawn rows are found and read by compiled code."""
    one, other = (_gradient_of_one_row(problem, runs, law) for law in (CompiledBatch, MiniBatch))
    return compared(lambda: one(1), lambda: other(1), seconds)


def _gradient_of_one_row(
    problem: Any, runs: int, kind: type[MiniBatch] = MiniBatch
) -> Callable[[int], None]:
    """Return what computes gradients of a new batch of one row at so many points."""
    law, x = kind(1), np.ones((problem.n, problem.d, runs)) / problem.d
    numbers = np.random.default_rng(3).random((runs, problem.n, law.numbers(problem)))

    def gradients(points: int) -> None:
        uniforms = np.permute_dims(numbers, (1, 2, 0))  # an array of its own: a batch of its own
        for _ in range(points):
            law.gradient(problem, x, uniforms, problem.grad)

    return gradients


def kept_memory(problem: Any, runs: int, seconds: float) -> Spread:
    """The allocator keeps the memory of temporaries: two processes, with products in between."""
    found = []
    for thresholds in ("raised", "default"):
        command = [sys.executable, __file__, thresholds, problem.name, str(runs), str(seconds)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(Spread(**json.loads(answer.stdout)))
    raised, default = found
    return Spread(
        raised.low / default.high, raised.value / default.value, raised.high / default.low
    )


TRICKS: dict[str, Callable[[Any, int, float], Spread]] = {
    "mallopt thresholds (GD)": kept_memory,
    "`feature_sum`: a product in place of a sum": sum_over_features,
    "`masked`: only the entries of the mask": masks,
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
    "two random numbers for a natural message (DIANA natural)": spread_numbers,
    "mini-batches of one row: gathered, not masked": gathered_rows,
    "mini-batches of one row: one draw for two points": one_draw,
    "mini-batches of one row by compiled code": compiled_batches,
}


def _without(action: Action, owner: Any, name: str, value: object) -> Action:
    def step() -> None:
        with switched(owner, name, value):
            action()

    return step


def _gradient_step(thresholds: str, selector: str, runs: int, seconds: float) -> Spread:
    """Return GD's step over products that allocate nothing, in a process of its own."""
    problem = certibit.problem(selector, storage="dense", download=False)
    x = np.ones((problem.n, problem.d, runs)) / problem.d
    values = quiet_machine._MALLOPT if thresholds == "raised" else {}
    with switched(quiet_machine, "_MALLOPT", values), quiet_machine.quiet_machine():
        step = Iterations(experiment_of(problem, "gd"), runs)
        return compared(step, by_blas(problem.rows, x), seconds)


if __name__ == "__main__":
    thresholds, selector, runs, seconds = sys.argv[1:]
    print(json.dumps(vars(_gradient_step(thresholds, selector, int(runs), float(seconds)))))
