"""The processor time of one thing in units of another, on a machine that others use too."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import quantiles

Action = Callable[[], object]

LEAST, MOST = 3, 15
"""Pairs of blocks that a ratio is the median of."""
_SHORTEST = 1e-3


@dataclass(frozen=True)
class Spread:
    """A median with its quartiles."""

    low: float
    value: float
    high: float


def compared(measured: Action, yardstick: Action, seconds: float, period: int = 1) -> Spread:
    """Return the processor time of an action over that of another.

    Blocks of both take turns, so that a slow spell of the machine meets both.

    Parameters
    ----------
    measured, yardstick : callable
        Does the thing once.
    seconds : float
        About how long to go on; there are three pairs of blocks at least.
    period : int
        After so many times ``measured`` has done all that it does from time to time; its blocks
        are multiples of this.
    """
    times = _block(measured, seconds / (4 * LEAST), period)
    units = _block(yardstick, seconds / (4 * LEAST), 1)
    ratios: list[float] = []
    start = time.perf_counter()
    while len(ratios) < LEAST or (len(ratios) < MOST and time.perf_counter() - start < seconds):
        unit = _each(yardstick, units)
        ratios.append(_each(measured, times) / unit)
    return Spread(*quantiles(ratios, n=4, method="inclusive"))


def _each(action: Action, times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        action()
    return (time.process_time() - start) / times


def _block(action: Action, longest: float, period: int) -> int:
    """Return how often an action is done in a block, after a first round that warms up."""
    action()
    once = _each(action, period)
    return period * max(1, round(max(_SHORTEST, longest) / (once * period)))
