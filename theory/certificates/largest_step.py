"""The largest step size with a certified factor below 1, or descent, and the best one."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import scipy

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.certify import (
    Weights,
    best_decrease,
    certify,
    default_measure,
    has_descent,
    largest_constant,
)
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential

MOST_DOUBLINGS = 40
"""How often a step size is doubled or halved at most."""

ACCURACY = 1e-2
"""Relative accuracy of step sizes of descents that are searched for."""

_MOST_STEPS = 12
"""How many step sizes are tried for the best one."""

Works = Callable[[float], bool]


def largest_step(
    change: Callable[[float], Method],
    functions: FunctionClass,
    start: float,
    weights: Weights = "fixed",
    accuracy: float = 1e-4,
    potential: Potential | Literal["search"] | None = None,
    growth: float = 0.0,
) -> float:
    """Return the largest step size that is found to have a certified factor below 1, or a descent.

    It is about a factor over strongly convex functions. The start is doubled, or halved, until
    nothing is certified; then the interval is bisected. The result is NaN if no step size is
    certified in 40 halvings, and infinity if all are certified in 40 doublings.

    Parameters
    ----------
    change : callable
        Makes the method with a step size, such as ``lambda gamma: replace(m, gamma=gamma)``.
    start : float
        Where the search starts. The certified step sizes are assumed to be an interval from 0.
    accuracy : float
        Relative accuracy of the step size.
    potential : Potential or "search", optional
        Of a factor, as in :func:`~certibit.theory.certificates.certify.certify`; with "search" one
        is searched for at each step size, so that the units of the state do not matter. Of a
        descent it is tried beside all forms: f in it may be at another point than the model.
    growth : float
        The part of itself by which Psi of a descent may grow.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, largest_step
    >>> found = largest_step(GD, FunctionClass(n=3, mu=1, L=10), start=1.0)
    >>> round(found, 3)
    0.2
    >>> round(largest_step(GD, FunctionClass.nonconvex(2, L=1.0), start=1.0), 2)
    2.0
    """

    def works(value: float) -> bool:
        with suppress(Refusal, ArithmeticError, ValueError):
            method = change(value)
            if functions.mu > 0:
                return best_decrease(method, functions, potential, weights, least=0.0) > 0
            if has_descent(method, functions, growth=growth):
                return True
        if functions.mu > 0 or isinstance(potential, str):
            return False
        return _constant(change(value), functions, potential, growth) > 0

    low, high = limits(works, start, accuracy)
    return low if high < float("inf") else high


def steps_of(method: Method, name: str) -> Callable[[float], Method]:
    """Return what makes a method with another value of its step size."""

    def change(value: float) -> Method:
        changes: Any = {name: value}
        return replace(method, **changes)

    return change


def limits(works: Works, start: float, accuracy: float) -> tuple[float, float]:
    """Return an interval between values that work and larger values that do not.

    Its ends are NaN and infinity where no value, and no limit, is found in 40 doublings.
    """
    value, factor = start, 2.0 if works(start) else 0.5
    for _ in range(MOST_DOUBLINGS):
        if works(value * factor) == (factor < 1):
            break
        value *= factor
    else:
        return (value, float("inf")) if factor > 1 else (float("nan"), value)
    low, high = sorted((value, value * factor))
    almost = high / (1 + accuracy / 2)  # a limit is often 2/L, twice a usual step size
    if works(almost):
        return almost, high
    high = almost
    while high > low * (1 + accuracy):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if works(middle) else (low, middle)
    return low, high


def _constant(
    method: Method, functions: FunctionClass, psi: Potential | None, growth: float = 0.0
) -> float:
    """Return the certified c of a Psi; 0 if there is none."""
    if psi is not None:
        with suppress(Refusal):
            measure = default_measure(functions).name
            return certify(method, functions, psi, measure, growth=growth).c
    return 0.0


def best_step(
    method: Method,
    name: str,
    functions: FunctionClass,
    largest: float,
    psi: Potential | None = None,
) -> tuple[float, float]:
    """Return a step size with a large c, and c; it is searched below the largest step."""
    tried: dict[float, float] = {}
    change = steps_of(method, name)

    def lost(part: float) -> float:
        step = float(part * largest)
        found = [_constant(change(step), functions, psi)] if psi else []
        with suppress(Refusal):
            found.append(largest_constant(change(step), functions))
        if not found:
            return largest
        tried[step] = max(found)
        return -tried[step]

    scipy.optimize.minimize_scalar(
        lost,
        bounds=(0.0, 1.0),
        method="bounded",
        options={"maxiter": _MOST_STEPS, "xatol": ACCURACY},
    )
    return max(tried.items(), key=lambda pair: pair[1], default=(math.nan, math.nan))
