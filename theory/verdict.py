"""The outcome of a check: a number and its limit."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

ROUNDING = 1e-9
"""Relative excess over a limit that counts as rounding."""


@dataclass(frozen=True)
class Verdict:
    """A checked inequality ``value <= limit``.

    Attributes
    ----------
    check : str
        What was checked.
    value, limit : float
        What came out, and what was promised.
    note : str
        What a reader wants to know beside it.
    advice : str
        What it means, in one sentence, if it does not hold, and where to look.
    tested : bool
        Whether the value could have exceeded the limit.
    """

    check: str
    value: float
    limit: float
    note: str = ""
    advice: str = ""
    tested: bool = True

    @property
    def holds(self) -> bool:
        """Whether the value stays within the limit, up to rounding; NaN does not."""
        return self.value <= self.limit + ROUNDING * abs(self.limit)

    @property
    def outcome(self) -> str:
        """The one word for a table: "holds", "FAILS" or "not tested"."""
        return "FAILS" if not self.holds else "holds" if self.tested else "not tested"


def largest(values: Iterable[float]) -> float:
    """Return the largest value, and infinity if one is NaN, which ``max`` may pass over."""
    return max(math.inf if math.isnan(value) else float(value) for value in values)


def worst_of(found: Iterable[tuple[float, str]]) -> tuple[float, str]:
    """Return the pair of the largest number, infinity for NaN, and what is said of it."""
    return max(
        ((math.inf if math.isnan(value) else float(value), text) for value, text in found),
        key=lambda pair: pair[0],
    )
