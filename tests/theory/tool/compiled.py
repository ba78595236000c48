"""Compiled passes over the data against plain arrays of the size of a run."""

from dataclasses import replace
from typing import Any

import numpy as np

from certibit.data.problem import Problem
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.methods.gd import GD
from certibit.solvers.registry import registered, use_extensions
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import simulated_world, world_of_runs
from certibit.theory.verdict import Verdict, searched, worst_of

_EXACT = 1e-9
_RUNS = 5
_STEEP = 1e4
"""Points of some runs are so much larger: their margins are beyond the range of exp."""


def compiled_as_plain(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check the gradients and messages of an extension against those on plain arrays.

    None if there is no extension.
    """
    if not any(registered()):
        return None
    if problem.noise is not None:
        exact: Any = problem
        problem = replace(exact, noise=None)
    n, d, generator = problem.n, problem.d, np.random.default_rng(seed)
    experiment = Experiment(GD(gamma=1.0), problem, RandK(1))
    found: list[tuple[float, str]] = []
    for senders in (n, 1):
        plain_channel, plain = simulated_world(experiment, range(_RUNS))
        x = generator.standard_normal((senders, d, _RUNS))
        x[:, :, -1] *= _STEEP
        with use_extensions("always"):
            channel, oracle = world_of_runs(*simulated_world(experiment, range(_RUNS)))
            gradient, expected = oracle.grad(x), plain.grad(x)
            entries, right = channel.uplink(gradient), plain_channel.uplink(expected)
        for what, one, other in (
            ("the gradient", gradient, expected),
            ("single entries", entries, right),
        ):
            apart = one[one != other] - other[one != other]  # where both are infinite, they agree
            off = np.abs(apart) / (1 + np.abs(other[one != other]))
            found.append((float(off.max(initial=0.0)), what))
    worst, what = worst_of(found)
    advice = (
        f"In one compiled pass {what} is off by {worst:.3g} from plain arrays: look at the passes "
        "over rows and messages."
    )
    return Verdict("compiled as plain", worst, _EXACT, advice=advice, **searched(found))
