"""What every speed trick of the code gains: the time with it over the time without it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from alternatives import add_products, with_all_features
from bare import by_blas
from iterations import DRAWN_AHEAD, Iterations
from timing import Action, Spread, compared

import certibit
from certibit import Experiment, MiniBatch, compressor, parameters
from certibit.data import batch_rows, quiet_machine
from certibit.data.passes.fused import fused_gradients
from certibit.solvers import backend
from certibit.solvers.compressors import natural
from certibit.solvers.fast import compiled_solve, messages
from certibit.solvers.fast.batches import CompiledBatch
from certibit.solvers.fast.columns import Columns
from certibit.solvers.fast.entries import Entries
from certibit.solvers.fast.fast_world import FastOracle
from certibit.solvers.fast.messages import received


@contextmanager
def switched(owner: Any, name: str, value: object) -> Iterator[None]:
    """Give a name of a module or class another value for a while."""
    kept = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, kept)


def experiment_of(
    problem: Any, name: str, selector: str | None = None, rule: str | None = None
) -> Experiment[Any]:
    """Return a method at its theoretical parameters."""
    chosen = compressor(selector) if selector else None
    return Experiment.of(parameters(name, problem, chosen, rule), problem, chosen)


def entries(problem: Any, runs: int, seconds: float) -> Spread:
    """Messages of few entries are not written out."""
    one, other = (Iterations(experiment_of(problem, "diana", "rand-k:1"), runs) for _ in range(2))
    return compared(one, _without(other, messages, "LARGE", 1 << 62), seconds)


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
    """Gradients are lazy and evaluated in one compiled pass."""
    one, other = (Iterations(experiment_of(problem, name, sent), runs) for _ in range(2))
    one.one_by_one()
    other.one_by_one()
    other.with_plain_gradients()
    return compared(one, other, seconds, one.period)


def at_once(problem: Any, runs: int, seconds: float, name: str, sent: str | None) -> Spread:
    """Local steps until the next round of each run, or rounds, are done many at once."""
    one, other = (Iterations(experiment_of(problem, name, sent), runs) for _ in range(2))
    other.one_by_one()
    return compared(one, other, seconds, one.period)


def rows_as_lanes(problem: Any, runs: int, seconds: float) -> Spread:
    """Local steps are done at once where clients have many dense rows; not on the problem given."""
    few_clients = certibit.problem("breast-cancer@2", kappa=1e4)
    return at_once(few_clients, runs, seconds, "locodl", "rand-k:1")


def natural_pass(problem: Any, runs: int, seconds: float) -> Spread:
    """Natural compression is one compiled pass."""
    x = np.random.default_rng(0).standard_normal((problem.n, problem.d, runs))
    sent = compressor("natural")
    uniforms = np.random.default_rng(1).random((problem.n, sent.uniforms(problem.d), runs))
    return compared(
        lambda: received(sent, x, uniforms), lambda: sent.compress(x, uniforms), seconds
    )


def spread_numbers(problem: Any, runs: int, seconds: float) -> Spread:
    """Two uniform numbers serve all entries of a natural message, not each its own."""
    one, other = (Iterations(experiment_of(problem, "diana", "natural"), runs) for _ in range(2))
    plain = _without(other, natural.Natural, "uniforms", lambda compressor, d: d)
    return compared(one, plain, seconds, DRAWN_AHEAD)


def written_out(problem: Any, runs: int, seconds: float) -> Spread:
    """Vectors of which many entries are sent are written out."""
    sent = f"rand-k:{-(-problem.d // 4)}"
    one, other = (Iterations(experiment_of(problem, "adiana", sent), runs) for _ in range(2))
    return compared(one, _without(other, messages, "_FEW", 0), seconds, DRAWN_AHEAD)


def compiled_entries(problem: Any, runs: int, seconds: float, name: str) -> Spread:
    """Entries are drawn, found and written by compiled code."""
    sent = compressor(name)
    x = np.random.default_rng(0).standard_normal((problem.n, problem.d, runs))
    uniforms = np.random.default_rng(1).random((problem.n, sent.uniforms(problem.d), runs))
    return compared(
        lambda: np.asarray(received(sent, x, uniforms)),
        lambda: sent.compress(x, uniforms),
        seconds,
    )


def kept_entries(problem: Any, runs: int, seconds: float) -> Spread:
    """Entries are drawn and written by one compiled call."""
    sent, d = compressor("rand-k:1"), problem.d
    x = np.random.default_rng(0).standard_normal((problem.n, d, runs))
    uniforms = np.random.default_rng(1).random((problem.n, 1, runs))

    def in_two_calls() -> None:
        indices, values = messages.few_entries(x, 1, uniforms)
        np.asarray(Entries(indices, d * values, d))

    with switched(messages, "LARGE", 1 << 62):
        return compared(lambda: received(sent, x, uniforms), in_two_calls, seconds)


def rounds_in_place(problem: Any, runs: int, seconds: float, name: str) -> Spread:
    """Large vectors are lent to a round, and what it changes is put back in place."""
    one, other = (Iterations(experiment_of(problem, name, "rand-k:1"), runs) for _ in range(2))
    other.on_copies()
    return compared(one, other, seconds, DRAWN_AHEAD)


def _adaptive_solves(problem: Any, runs: int) -> Iterator[Iterations]:
    """Yield the iterations of 5GCS-CC twice, with solves that are as exact as they need to be."""
    experiment = experiment_of(problem, "5gcs-cc", "rand-k:1", "best")
    return (Iterations(experiment, runs) for _ in range(2))


def compiled_solves(problem: Any, runs: int, seconds: float) -> Spread:
    """Local solves are one compiled pass."""
    one, other = _adaptive_solves(problem, runs)
    return compared(one, _without(other, FastOracle, "minimise", None), seconds)


def solves_on_own_features(problem: Any, runs: int, seconds: float) -> Spread:
    """Local solves take steps on the features that a client's rows have."""
    one, other = _adaptive_solves(problem, runs)
    losses = with_all_features(fused_gradients(problem.rows))
    solved = compiled_solve.solved

    def on_all(_: Any, *arguments: Any, **options: Any) -> Any:
        return solved(losses, *arguments, **options)

    return compared(one, _without(other, compiled_solve, "solved", on_all), seconds)


def sums_set(problem: Any, runs: int, seconds: float) -> Spread:
    """The products of rows are set without being read."""
    losses, x = fused_gradients(problem.rows), np.ones((problem.n, problem.d, runs))
    out, lanes = np.empty(problem.n * problem.m * runs), losses.code.lanes_for(runs)
    given = lanes, losses.rows, *losses.read(x), problem.m, runs, out
    return compared(lambda: losses.code.set_products(*given), lambda: add_products(*given), seconds)


def copied_runs(problem: Any, runs: int, seconds: float) -> Spread:
    """All runs of vectors that are lent are copied, not gathered."""
    x, everyone = np.ones((problem.n, problem.d, runs)), np.arange(runs)
    lent = Columns(x, everyone, np.ones(runs))
    return compared(lambda: np.asarray(lent), lambda: np.take(x, everyone, axis=2), seconds)


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
    "`Entries` for messages of few entries (DIANA rand-1)": entries,
    "mallopt thresholds (GD)": kept_memory,
    "rounds put back in place (LoCoDL)": partial(rounds_in_place, name="locodl"),
    "rounds put back in place (DIANA rand-1)": partial(rounds_in_place, name="diana"),
    "`feature_sum`: a product in place of a sum": sum_over_features,
    "`masked`: only the entries of the mask": masks,
    "lazy gradients, one pass (GD)": partial(fused_pass, name="gd", sent=None),
    "lazy gradients, one pass (Scaffnew)": partial(fused_pass, name="scaffnew", sent=None),
    "lazy gradients, one pass (LoCoDL)": partial(fused_pass, name="locodl", sent="rand-k:1"),
    "lazy gradients, one pass (DIANA rand-1)": partial(fused_pass, name="diana", sent="rand-k:1"),
    "local steps at once (Scaffnew)": partial(at_once, name="scaffnew", sent=None),
    "local steps at once (LoCoDL)": partial(at_once, name="locodl", sent="rand-k:1"),
    "local steps, rows as lanes (LoCoDL on breast-cancer@2)": rows_as_lanes,
    "local solves in one pass (5GCS-CC)": compiled_solves,
    "local solves on the features of the rows (5GCS-CC)": solves_on_own_features,
    "natural compression in one pass": natural_pass,
    "two random numbers for a natural message (DIANA natural)": spread_numbers,
    "entries in compiled passes (rand-2)": partial(compiled_entries, name="rand-k:2"),
    "vectors written out for messages of d/4 entries (ADIANA)": written_out,
    "entries drawn and written by one call (rand-1)": kept_entries,
    "entries in compiled passes (l1)": partial(compiled_entries, name="l1"),
    "products of rows set, not added to zeros": sums_set,
    "vectors lent in all runs copied, not gathered": copied_runs,
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
