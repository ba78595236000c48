"""The local solve by compiled code, if the gradient is that of the losses plus linear terms."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.passes.fused import fused_gradients
from certibit.data.passes.fused_solves import solved
from certibit.data.problems.logistic import LogisticRegression
from certibit.solvers.fast.columns import Columns
from certibit.solvers.fast.deferred import written
from certibit.solvers.fast.recursions import LinearCombination, SymbolicGradients

_POINT = "the point"


def compiled_solve(
    problem: Any, gradient: Callable[..., Any], start: Array, centre: Array, given: Any,
    active: Array, *, accuracy: float, L: float, mu: float, most: int,
) -> tuple[Array, Array, NDArray[np.int64]] | None:  # fmt: skip
    """Do what :func:`~certibit.solvers.local_solve.minimise` does, and count the gradients.

    None for gradients of another form, for other problems, and for other arrays than those of numpy
    with 64-bit floats.
    """
    if not isinstance(problem, LogisticRegression):
        return None
    form = _form(gradient, given, problem, start.shape[2])
    if form is None:
        return None
    (scale, a, b), u = form
    arrays = [
        written(x.whole if isinstance(x, Columns) else x)
        for x in (start, centre, u if u is not None else centre)
    ]
    if any(type(x) is not np.ndarray or x.dtype != np.float64 for x in arrays):
        return None
    start, centre, u = map(np.ascontiguousarray, arrays)
    return solved(
        fused_gradients(problem.rows), start, centre, active, scale, a, u, b,
        accuracy=accuracy, L=L, mu=mu, most=most,
    )  # fmt: skip


def _form(
    gradient: Callable[..., Any], given: Any, problem: LogisticRegression, runs: int
) -> tuple[tuple[float, float, float], Any] | None:
    """Return scale, a and b, and u, of a gradient scale grad h_i(y) + a y + b u_i; else None."""
    symbols = {name: LinearCombination({(name, False): 1.0}) for name in vars(given)}
    point = LinearCombination({(_POINT, False): 1.0})
    try:
        found = gradient(point, replace(given, **symbols), problem.n, SymbolicGradients(problem))
        factors = dict(found.factors)
    except Exception:  # whatever it says to symbols that it uses like arrays
        return None
    scale, a = factors.pop((_POINT, True), None), factors.pop((_POINT, False), 0.0)
    (u, of_losses), b = factors.popitem() if factors else ((None, False), 0.0)
    if factors or of_losses or not all(isinstance(factor, float) for factor in (scale, a, b)):
        return None
    return (scale, a, b), u and getattr(given, u)
