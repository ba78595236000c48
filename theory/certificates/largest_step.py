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

Works = Callable[[float], float]
"""Positive for a step size that works: a margin that is about 0 at the limit, or True and False."""


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
    low = high = (largest, works(largest))
    while low[1] <= 0:
        if low[0] <= SMALLEST_STEP * largest:
            raise Refusal(
                f"no step size from {low[0]:g} on is certified; the other parameters forbid it"
            )
        low, high = (low[0] / 2, works(low[0] / 2)), low
    return _narrowed(works, low, high, accuracy)[0]


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
    here = start, works(start)
    factor = 2.0 if here[1] > 0 else 0.5
    for _ in range(MOST_DOUBLINGS):
        value = here[0] * factor
        there = value, works(value)
        if (there[1] > 0) == (factor < 1):
            low, high = sorted((here, there))
            return _narrowed(works, low, high, accuracy)
        here = there
    return (here[0], float("inf")) if factor > 1 else (float("nan"), here[0])


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


Tried = tuple[float, float]
"""A step size, and how it works."""


def _narrowed(works: Works, low: Tried, high: Tried, accuracy: float) -> tuple[float, float]:
    """Return an interval between what works and what does not, its relative length the accuracy.

    It is found by regula falsi of Anderson and Bjorck: where an end stays again, its margin is made
    smaller. What is tried is a little beyond the zero of a secant, so that both ends come near it.
    An interval between True and False is bisected.
    """
    ends, moved = [low, high], None
    while ends[1][0] > ends[0][0] * (1 + accuracy):
        (low_step, above), (high_step, below) = ends
        step = (low_step * high_step) ** 0.5
        measured = isinstance(above, float) and isinstance(below, float)
        if measured:
            zero = low_step + above / (above - below) * (high_step - low_step)
            step = zero * (1 + accuracy / 3) ** (1 if zero < step else -1)
        margin = works(step)
        end = 0 if margin > 0 else 1
        if measured and end == moved:
            stays, share = ends[1 - end], 1 - margin / ends[end][1]
            ends[1 - end] = stays[0], stays[1] * (share if share > 0 else 0.5)
        ends[end], moved = (step, margin), end
    return ends[0][0], ends[1][0]
