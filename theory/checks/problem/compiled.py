"""Compiled passes over the data against plain arrays, as large as they are in a run."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.compiled.compilation import can_compile
from certibit.data.problem import Problem
from certibit.data.problems.logistic import LogisticRegression
from certibit.solvers.backend import gather, mean
from certibit.solvers.lazy_gradient import LARGE, lazy_gradient
from certibit.solvers.local.local_solve import minimise
from certibit.solvers.world.ledger import Ledger
from certibit.solvers.world.oracle import Oracle
from certibit.theory.checks.problem.differences import Points
from certibit.theory.verdict import Verdict, searched, worst_of

_EXACT = 1e-9
_SOLVES = (2, 5, 60)
"""Steps of local solves, at most, from each start: too few for all, for some, for none."""
_CONVEX, _RUNS = 0.03, 3
"""mu of what is solved, as a share of its L, and how many runs solve it."""
_MOST_RUNS = 4000
_STEEP = 1e4
"""Points of some runs are so much larger: their margins are beyond the range of exp."""


def compiled_as_plain(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check the gradients that are put off, and evaluated in one compiled pass, against grad.

    So are what is added to them, their sum over the clients and single entries; and local solves.
    None where there is no compiled pass.
    """
    n, d, generator = problem.n, problem.d, np.random.default_rng(seed)
    found: list[tuple[float, str]] = []
    for senders in (n, 1):
        runs = max(3, -(-LARGE // (n * d)))
        if runs > _MOST_RUNS:
            continue
        x = generator.standard_normal((senders, d, runs))
        x[:, :, -1] *= _STEEP
        u = generator.standard_normal((n, d, runs))
        chosen = generator.integers(d, size=(n, 1, runs))
        right = problem.grad(x)

        def apart(what: str, got: Any, expected: Points) -> None:
            off = np.max(np.abs(np.asarray(got) - expected) / (1 + np.abs(expected)))
            found.append((float(off), what))

        def lazy(x: Points = x) -> Any:
            return lazy_gradient(problem, x)

        if lazy() is None:
            continue
        apart("the gradient", lazy(), right)
        apart("twice the gradient minus u", 2.0 * lazy() - u, 2 * right - u)
        apart("u minus the gradient", u - lazy(), u - right)
        apart("x minus the gradient", x - lazy(), x - right)
        apart("the mean over the clients", mean(lazy()), mean(right))
        apart("single entries", gather(lazy(), chosen), gather(right, chosen))
    if can_compile() and isinstance(problem, LogisticRegression):
        found += _solves(problem, seed)
    if not found:
        return None
    worst, what = worst_of(found)
    advice = (
        f"In one compiled pass {what} is off by {worst:.3g} from plain arrays: look at the passes "
        "over rows and at the local solves, and at what is put off of a gradient."
    )
    return Verdict("compiled as plain", worst, _EXACT, advice=advice, **searched(found))


@dataclass(frozen=True)
class _Given:
    """What does not change in a local solve."""

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
        for lazy in (True, False):
            ledger = Ledger(_RUNS)
            oracle = Oracle(problem, np.arange(_RUNS), ledger, lazy=lazy)
            with np.errstate(all="ignore"):
                z, change = minimise(
                    _gradient, start, centre, given, active, oracle,
                    accuracy=0.01, L=0.5 * L + mu, mu=mu, most=most,
                )  # fmt: skip
            ends.append((z, change, ledger.gradients))
        for what, one, other in zip(
            ("point", "gradient", "number of gradients"), *ends, strict=True
        ):
            off = np.max(np.abs(one - other) / (1 + np.abs(other)))
            found.append((float(off), f"the {what} where local solves of {most} steps end"))
    return found
