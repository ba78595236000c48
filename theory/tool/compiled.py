"""Compiled passes over the data against plain arrays of the size of a run."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.problem import Problem
from certibit.data.problems.logistic import LogisticRegression
from certibit.solvers.backend import mean
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.local_solve import minimise
from certibit.solvers.methods.gd import GD
from certibit.solvers.registry import registered
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import world_of_runs
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.checks.problem.differences import Points
from certibit.theory.verdict import Verdict, searched, worst_of

_EXACT = 1e-9
_LARGE = 1 << 14
"""Entries of vectors (n, d, R) with which an extension computes gradients in its own way."""
_SOLVES = (2, 5, 60)
"""Steps of local solves, at most, from each start: too few for all, for some, for none."""
_CONVEX, _RUNS = 0.03, 3
"""mu of what is solved, as a share of its L, and how many runs solve it."""
_MOST_RUNS = 4000
_STEEP = 1e4
"""Points of some runs are so much larger: their margins are beyond the range of exp."""


def compiled_as_plain(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check gradients and local solves of an extension against those on plain arrays.

    Gradients are compared alone, added to arrays, summed over the clients, and as single entries
    that are sent. None if no extension computes them.
    """
    if not any(registered()):
        return None
    if problem.noise is not None:
        exact: Any = problem
        problem = replace(exact, noise=None)
    n, d, generator = problem.n, problem.d, np.random.default_rng(seed)
    found: list[tuple[float, str]] = []
    for senders in (n, 1):
        runs = max(3, -(-_LARGE // (n * d)))
        if runs > _MOST_RUNS:
            continue
        (plain_channel, plain), (channel, oracle) = _worlds(problem, runs)
        x = generator.standard_normal((senders, d, runs))
        x[:, :, -1] *= _STEEP
        u = generator.standard_normal((n, d, runs))
        right = plain.grad(x)

        def apart(what: str, got: Any, expected: Points) -> None:
            off = np.max(np.abs(np.asarray(got) - expected) / (1 + np.abs(expected)))
            found.append((float(off), what))

        def gradient(x: Points = x, oracle: Oracle = oracle) -> Any:
            return oracle.grad(x)

        if isinstance(gradient(), np.ndarray):
            continue
        apart("the gradient", gradient(), right)
        apart("twice the gradient minus u", 2.0 * gradient() - u, 2 * right - u)
        apart("u minus the gradient", u - gradient(), u - right)
        apart("x minus the gradient", x - gradient(), x - right)
        apart("the mean over the clients", mean(gradient()), mean(right))
        apart("single entries", channel.uplink(gradient() - u), plain_channel.uplink(right - u))
    if isinstance(problem, LogisticRegression):
        found += _solves(problem, seed)
    if not found:
        return None
    worst, what = worst_of(found)
    advice = (
        f"In one compiled pass {what} is off by {worst:.3g} from plain arrays: look at the passes "
        "over rows, at the local solves and at gradients that are evaluated later."
    )
    return Verdict("compiled as plain", worst, _EXACT, advice=advice, **searched(found))


def _worlds(problem: Problem, runs: int) -> list[tuple[Channel, Oracle]]:
    """Return the plain world of runs that send single entries, and that of an extension."""
    experiment = Experiment(GD(gamma=1.0), problem, RandK(1))
    plain, other = (simulated_world(experiment, range(runs)) for _ in range(2))
    return [plain, world_of_runs(*other)]


@dataclass(frozen=True)
class _Given:
    """The inputs that are constant in a local solve."""

    u: Points


def _gradient(y: Array, given: _Given, active: Array, problem: Any) -> Array:
    return 0.5 * problem.grad(y, active=active) - given.u


def _solves(problem: LogisticRegression, seed: int) -> list[tuple[float, str]]:
    """Return how far compiled local solves are from plain ones.

    Some of them end at once, some from the first start and some from the second.
    """
    n, d, generator = problem.n, problem.d, np.random.default_rng(seed)
    L = problem.constants.L
    mu = _CONVEX * L
    start, centre = (generator.standard_normal((many, d, _RUNS)) for many in (n, 1))
    given, active = _Given(L * start), generator.random((n, 1, _RUNS)) < 0.8
    start = start * generator.choice([0.0, 1.0, 30.0], size=(n, 1, _RUNS))
    found = []
    for most in _SOLVES:
        ends = []
        for _, oracle in _worlds(problem, _RUNS):
            with np.errstate(all="ignore"):
                z, change = minimise(
                    _gradient, start, centre, given, active, oracle,
                    accuracy=0.01, L=0.5 * L + mu, mu=mu, most=most,
                )  # fmt: skip
            ends.append((z, change, oracle.ledger.gradients))
        for what, one, other in zip(
            ("point", "gradient", "number of gradients"), *ends, strict=True
        ):
            off = np.max(np.abs(one - other) / (1 + np.abs(other)))
            found.append((float(off), f"the {what} where local solves of {most} steps end"))
    return found
