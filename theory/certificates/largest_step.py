"""The largest step size with a certified factor below 1."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.certify import chosen_potential
from certibit.theory.certificates.decrease import Weights, best_decrease
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential

SMALLEST_STEP = 1e-9
"""Part of the largest step at which a search for one that works ends."""

MOST_DOUBLINGS = 40
"""How often a step size is doubled at most until it does not work."""

Works = Callable[[float], bool]


def largest_step(
    change: Callable[[float], Method],
    functions: FunctionClass,
    largest: float,
    weights: Weights = "fixed",
    accuracy: float = 1e-4,
    potential: Potential | None = None,
) -> float:
    """Return the largest step size that is found to have a certified factor below 1.

    Parameters
    ----------
    change : callable
        Makes the method with a step size, such as ``lambda gamma: replace(m, gamma=gamma)``.
    largest : float
        The start of the search, which is halved until the factor is below 1. The certified step
        sizes are assumed to be an interval from 0.
    accuracy : float
        Relative accuracy of the step size.
    potential : Potential, optional
        As in :func:`~certibit.theory.certificates.certify.certify`.

    Raises
    ------
    Refusal
        If no step down to 1e-9 of the largest is certified.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, largest_step
    >>> found = largest_step(GD, FunctionClass(n=3, mu=1, L=10), largest=1.0)
    >>> round(found, 3)
    0.2
    """
    works = _proved(change, functions, weights, potential)
    low = high = largest
    while not works(low):
        if low <= SMALLEST_STEP * largest:
            raise Refusal(
                f"no step size from {low:g} on is certified; the other parameters forbid it"
            )
        low, high = low / 2, low
    return _bisected(works, low, high, accuracy)[0]


def step_limit(
    method: Method,
    name: str,
    functions: FunctionClass,
    weights: Weights = "fixed",
    potential: Potential | None = None,
    accuracy: float = 1e-4,
) -> float:
    """Return the largest certified value of a step size, searched from the method's own.

    It is doubled, or halved, until the factor passes 1; then the interval is bisected. NaN if no
    value is found in 40 doublings, infinity if all are certified.
    """
    start = float(getattr(method, name))

    def change(value: float) -> Method:
        changes: Any = {name: value}
        return replace(method, **changes)

    low, high = limits(_proved(change, functions, weights, potential), start, accuracy)
    return low if high < float("inf") else high


def limits(works: Works, start: float, accuracy: float) -> tuple[float, float]:
    """Return an interval between values that work and larger ones that do not.

    Its ends are NaN and infinity where no value, and no limit, is found in 40 doublings.
    """
    value, factor = start, 2.0 if works(start) else 0.5
    for _ in range(MOST_DOUBLINGS):
        if works(value * factor) == (factor < 1):
            low, high = sorted((value, value * factor))
            almost = high / (1 + accuracy / 2)  # a limit is often 2/L, twice a usual step size
            if works(almost):
                return almost, high
            return _bisected(works, low, almost, accuracy)
        value *= factor
    return (value, float("inf")) if factor > 1 else (float("nan"), value)


def _proved(
    change: Callable[[float], Method],
    functions: FunctionClass,
    weights: Weights,
    potential: Potential | None,
) -> Works:
    """Return whether a factor below 1 is proved at a step size."""

    def works(value: float) -> bool:
        with suppress(Refusal, ArithmeticError, ValueError):
            method, chosen, own = change(value), potential, weights
            if chosen is None:
                chosen, own = chosen_potential(method, functions, weights)
            return best_decrease(method, functions, chosen, own, least=0.0) > 0
        return False

    return works


def _bisected(works: Works, low: float, high: float, accuracy: float) -> tuple[float, float]:
    """Return an interval between what works and what does not, its relative length the accuracy."""
    while high > low * (1 + accuracy):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if works(middle) else (low, middle)
    return low, high
