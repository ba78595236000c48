"""All ratios of a workload, subject by subject."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from bare import bare_gradients
from iterations import Iterations, experiments
from plain_loops import LOOPS, Clients
from ratios import Ratio
from timing import Action, Spread, compared
from tricks import TRICKS, experiment_of
from workloads import Workload

GRADIENT = "Gradient, over the bare products and the sigmoid"
ITERATION = "Iteration, over the bare products and the sigmoid"
LOOP = "Iteration of one run, over that of a loop over the clients"
TRICK = "Time with a trick, over that without it"


def measured(workload: Workload, problem: Any, seconds: float) -> Iterator[Ratio]:
    """Yield the ratios of a workload, each measured for about so many seconds."""
    for runs in workload.runs:
        yield from gradients_and_iterations(workload, problem, runs, seconds)
    for runs in workload.at(1, 16):
        yield from loops(workload, problem, runs, seconds)


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
    bare = ways[first]
    x = np.random.default_rng(2).standard_normal((problem.n, problem.d, runs))
    spread = compared(lambda: problem.grad(x), bare, seconds)
    yield Ratio.of(GRADIENT, workload.problem, runs, "problem.grad", spread)
    for name, experiment in experiments(problem, runs):
        one = Iterations(experiment, runs)
        spread = compared(one, bare, seconds, one.period)
        yield Ratio.of(ITERATION, workload.problem, runs, name, spread)


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
