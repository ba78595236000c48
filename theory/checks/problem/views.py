"""Views of a problem, some of its clients and several points at once, against the whole."""

from contextlib import suppress

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Problem, is_strongly_convex
from certibit.solvers.runs.points import whole_gradient
from certibit.theory.verdict import Verdict, searched, worst_of

_EXACT = 1e-9
_CLIENTS = 8


def _clients_apart(problem: Problem, seed: int = 0) -> Verdict:
    """Check that each client's gradient is that at its own point.

    All clients at points of their own, in one and in several runs, against each client's gradient
    at a shared point.
    """
    generator = np.random.default_rng(seed)
    n, d = problem.n, problem.d
    chosen = np.unique([0, n - 1, *generator.integers(n, size=_CLIENTS)])
    points = generator.standard_normal((n, d, 2))
    together = problem.grad(points)
    scale = float(np.max(np.abs(together))) + 1e-300
    found = []
    for run in range(2):
        right = together[chosen, :, run]
        shared = np.moveaxis(points[chosen, :, run], 0, 1)[None]
        alone = problem.grad(shared)[chosen, :, np.arange(len(chosen))]
        single = problem.grad(points[:, :, run : run + 1])[chosen, :, 0]
        off = np.maximum(np.abs(alone - right), np.abs(single - right)).max(axis=1)
        found += [(x, f"client {client + 1} of {n}") for client, x in zip(chosen, off, strict=True)]
    worst, where = worst_of(found)
    advice = (
        f"The gradient of {where} depends on whether it is asked for alone or with others (off by "
        f"{worst:.3g}): look at grad for points (n, d, R) and (1, d, R)."
    )
    value = worst / scale
    return Verdict("clients alone and together", value, _EXACT, advice=advice, **searched(found))


def _views_agree(problem: Problem, seed: int = 0) -> Verdict:
    """Check that the plain and the composite view are one problem, and that the plain has no g."""
    x = np.random.default_rng(seed).standard_normal((1, problem.d, 2))
    plain = problem.plain
    views = [("plain", plain), ("given", problem)]
    with suppress(Refusal):
        views.append(("composite", problem.composite))
    value, gradient, gap = plain.value(x), whole_gradient(plain, x), plain.gap(x)
    scale = float(np.max(np.abs(gradient)) + np.max(np.abs(value))) + 1e-300
    apart = [("g of the plain", plain.grad_g(x))]
    for name, view in views:
        apart += [
            (f"the value of the {name}", view.value(x) - value),
            (f"the gap of the {name}", view.gap(x) - gap),
            (f"the gradient of f + g of the {name}", whole_gradient(view, x) - gradient),
        ]
        if is_strongly_convex(view):
            g = view.constants.ridge * x
            apart.append((f"the modulus of g of the {name}", view.grad_g(x) - g))
            apart.append((f"a client of the {name}", view.grad(x) + g - plain.grad(x)))
    worst, where = worst_of((np.max(np.abs(off)), name) for name, off in apart)
    advice = (
        f"The views are not one problem: {where} view is off by {worst:.3g}. Look at what moves "
        "the ridge between the f_i and g."
    )
    return Verdict("views", worst / scale, _EXACT, advice=advice, **searched(apart))


def _starts_as_told(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check that a problem starts where it is told to; None if it cannot be told."""
    if not hasattr(problem, "started_at"):
        return None
    x = np.random.default_rng(seed).standard_normal(problem.d)
    off = float(np.max(np.abs(np.ravel(problem.started_at(x).x_0) - x)))
    return Verdict("starts where it is told to", off, 0.0, advice="Look at started_at and x_0.")


PROBLEM_CHECKS = (_clients_apart, _views_agree, _starts_as_told)
