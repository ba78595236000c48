"""All ratios of a workload, subject by subject."""

from collections.abc import Iterator
from typing import Any

from bare import bare_gradients
from iterations import DRAWN_AHEAD, Iterations, experiments
from memory import peak_arrays
from messages import compressors, message, vectors
from plain_loops import LOOPS, Clients
from ratios import Ratio
from timing import Action, Spread, compared
from tricks import TRICKS, experiment_of
from workloads import SPARSE, Workload

GRADIENT = "Gradient, over the bare products and the sigmoid"
ITERATION = "Iteration, over the bare products and the sigmoid"
MESSAGE = "Message of every client, over a copy of the vectors"
LOOP = "Iteration of one run, over that of a loop over the clients"
MEMORY = "Peak of allocated memory, in arrays (n, d, R)"
TRICK = "Time with a trick, over that without it"


def measured(workload: Workload, problem: Any, seconds: float) -> Iterator[Ratio]:
    """Yield the ratios of a workload, each measured for about so many seconds."""
    large = workload.problem == SPARSE
    for runs in workload.runs:
        yield from gradients_and_iterations(workload, problem, runs, seconds)
    for runs in () if large else workload.at(5):
        yield from messages(workload, problem, runs, seconds)
    for runs in () if large else workload.at(1, 16):
        yield from loops(workload, problem, runs, seconds)
    for runs in workload.at(1 if large else 5):
        for name, experiment in experiments(workload, problem, runs):
            peak = peak_arrays(experiment, runs)
            yield Ratio(MEMORY, workload.problem, runs, name, peak, peak, peak)


def gradients_and_iterations(
    workload: Workload, problem: Any, runs: int, seconds: float
) -> Iterator[Ratio]:
    """Yield the gradient and the iterations over the faster of the bare gradients."""
    ways = bare_gradients(problem, runs)
    first, *others = ways
    for other in others:
        spread = compared(ways[other], ways[first], seconds)
        yield Ratio.of(GRADIENT, workload.problem, runs, f"bare by {other}, over {first}", spread)
        first = other if spread.value < 1 else first
    bare, x = ways[first], vectors(problem, runs)
    spread = compared(lambda: problem.grad(x), bare, seconds)
    yield Ratio.of(GRADIENT, workload.problem, runs, "problem.grad", spread)
    for name, experiment in experiments(workload, problem, runs):
        one = Iterations(experiment, runs)
        spread = compared(one, bare, seconds, one.period)
        yield Ratio.of(ITERATION, workload.problem, runs, name, spread)


def messages(workload: Workload, problem: Any, runs: int, seconds: float) -> Iterator[Ratio]:
    """Yield what compressors cost."""
    v = vectors(problem, runs)
    for chosen in compressors():
        spread = compared(message(problem, chosen, v), v.copy, seconds, DRAWN_AHEAD)
        yield Ratio.of(MESSAGE, workload.problem, runs, chosen.name, spread)


def loops(workload: Workload, problem: Any, runs: int, seconds: float) -> Iterator[Ratio]:
    """Yield our time per run over that of a plain loop, for rand-1."""
    for name, loop in LOOPS.items():
        experiment = experiment_of(problem, name, "rand-k:1")
        plain: Action = loop(Clients(experiment.problem, 1), experiment.method).__next__
        one = Iterations(experiment, runs)
        spread = compared(one, plain, seconds, one.period)
        shared = Spread(*(value / runs for value in vars(spread).values()))
        yield Ratio.of(LOOP, workload.problem, runs, name, shared)


def tricks(problem: Any, runs: int, seconds: float) -> Iterator[Ratio]:
    """Yield what the speed tricks gain on a problem."""
    for name, trick in TRICKS.items():
        yield Ratio.of(TRICK, problem.name, runs, name, trick(problem, runs, seconds))
