"""Compiled passes over the data against plain arrays, as large as they are in a run."""

from typing import Any

import numpy as np

from bitbound.data.problem import Problem
from bitbound.solvers.backend import gather, mean
from bitbound.solvers.lazy_gradient import LARGE, lazy_gradient
from bitbound.theory.checks.problem.differences import Points
from bitbound.theory.verdict import Verdict, searched, worst_of

_EXACT = 1e-9
_MOST_RUNS = 4000
_STEEP = 1e4
"""Points of some runs are so much larger: their margins are beyond the range of exp."""


def compiled_as_plain(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check the gradients that are put off, and evaluated in one compiled pass, against grad.

    So are what is added to them, their sum over the clients and single entries. None where there is
    no compiled pass.
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
    if not found:
        return None
    worst, what = worst_of(found)
    advice = (
        f"In one compiled pass {what} is off by {worst:.3g} from plain arrays: look at the passes "
        "over rows, and at what is put off of a gradient."
    )
    return Verdict("compiled as plain", worst, _EXACT, advice=advice, **searched(found))
