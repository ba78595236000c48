"""The largest step size with a certified factor below 1."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.certify import Weights, best_decrease, chosen_potential
from certibit.theory.certificates.factor_form import searched_potential
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential

MOST_DOUBLINGS = 40
"""How often a step size is doubled or halved at most."""

Works = Callable[[float], bool]


def largest_step(
    change: Callable[[float], Method],
    functions: FunctionClass,
    start: float,
    weights: Weights = "fixed",
    accuracy: float = 1e-4,
    potential: Potential | Literal["search"] | None = None,
) -> float:
    """Return the largest step size that is found to have a certified factor below 1.

    The start is doubled, or halved, until the factor passes 1; then the interval is bisected. The
    result is NaN if no step size is certified in 40 halvings, and infinity if all are certified in
    40 doublings.

    Parameters
    ----------
    change : callable
        Makes the method with a step size, such as ``lambda gamma: replace(m, gamma=gamma)``.
    start : float
        Where the search starts. The certified step sizes are assumed to be an interval from 0.
    accuracy : float
        Relative accuracy of the step size.
    potential : Potential or "search", optional
        As in :func:`~certibit.theory.certificates.certify.certify`; with "search" one is searched
        for at each step size, so that the units of the state do not matter.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, largest_step
    >>> found = largest_step(GD, FunctionClass(n=3, mu=1, L=10), start=1.0)
    >>> round(found, 3)
    0.2
    """

    def contracts(value: float) -> bool:
        with suppress(Refusal, ArithmeticError, ValueError):
            method, chosen, own = change(value), potential, weights
            if isinstance(chosen, str):
                chosen, own = searched_potential(method, functions), "fixed"
            elif chosen is None:
                chosen, own = chosen_potential(method, functions, weights)
            return best_decrease(method, functions, chosen, own, least=0.0) > 0
        return False

    low, high = limits(contracts, start, accuracy)
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
