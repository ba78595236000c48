"""The outcome of a check: a number, its limit, the kind of evidence, and the words for it."""

import math
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

ROUNDING = 1e-9
"""Relative excess over a limit that counts as rounding."""

FAILS, NOT_TESTED, UNDECIDED = "FAILS", "not tested", "undecided"
ONLY_IF = "holds only if"
"""Fails as stated, and holds under the hypothesis that is printed with it."""


class Known(StrEnum):
    """The kind of evidence: proved, searched or measured; never stated as a stronger one."""

    PROVED = "proved"
    """Exactly, or by a certificate."""
    SEARCHED = "searched"
    """At a number of points, each evaluated exactly or nearly so."""
    MEASURED = "measured"
    """On runs."""

    def words(self, points: int = 0) -> str:
        """Return the words for what holds and is known so."""
        return {
            Known.PROVED: "holds",
            Known.SEARCHED: f"holds at {points:,} point{'' if points == 1 else 's'} searched",
            Known.MEASURED: "measured",
        }[self]


@dataclass(frozen=True)
class Verdict:
    """A checked inequality ``value <= limit``.

    Attributes
    ----------
    check : str
        The name of the check.
    value, limit : float
        The computed number, and its bound.
    note : str
        Remarks for the reader.
    advice : str
        If it fails: the meaning, in one sentence, and where to look.
    tested : bool
        Whether the value could have exceeded the limit.
    known : Known
        How it is known that it holds.
    points : int
        At how many points it was searched.
    """

    check: str
    value: float
    limit: float
    note: str = ""
    advice: str = ""
    tested: bool = True
    known: Known = Known.MEASURED
    points: int = 0

    @property
    def holds(self) -> bool:
        """Whether the value stays within the limit, up to rounding; NaN does not."""
        return self.value <= self.limit + ROUNDING * abs(self.limit)

    @property
    def sentence(self) -> str:
        """The outcome as a sentence."""
        return f"{self.check} is {readable(self.value)} and may be {readable(self.limit)}"

    @property
    def outcome(self) -> str:
        """The words for a table."""
        if not self.holds:
            return FAILS
        return self.known.words(self.points) if self.tested else NOT_TESTED


def readable(value: float, digits: int = 8) -> str:
    """Write a number for a table, and in words where it is none or has no bound."""
    if math.isnan(value):
        return "no number"
    if math.isinf(value):
        return "no bound"
    return f"{value:.{digits}g}"


def subtracted(c: float, digits: int) -> str:
    """Write ``- c``, or ``+ |c|`` if c is negative, with so many significant digits."""
    return f"{'+' if c < 0 else '-'} {abs(c):.{digits}g}"


def readable_factor(decrease: float, digits: int = 8) -> str:
    """Write the factor 1 - decrease so that no decrease is shown as 0 and no factor as 1 - 1."""
    factor = 1 - decrease
    if decrease > 0 and f"{decrease:.{digits}g}" != "1":
        return f"1 - {decrease:.{digits}g}"
    return readable(factor, digits)


def times_psi(decrease: float, digits: int = 8) -> str:
    """Write (1 - decrease) Psi, without a factor of 1."""
    factor = readable_factor(decrease, digits)
    if factor == "1":
        return "Psi"
    return f"({factor}) Psi" if " " in factor else f"{factor} Psi"


def outcome(verdicts: Iterable[Verdict]) -> str:
    """Return the words for several verdicts together: no more is known than of the weakest."""
    every = list(verdicts)
    tested = [verdict for verdict in every if verdict.tested]
    if not all(verdict.holds for verdict in every):
        return FAILS
    if not tested:
        return NOT_TESTED
    weakest = max((verdict.known for verdict in tested), key=list(Known).index)
    words = weakest.words(sum(verdict.points for verdict in tested))
    return words if len(tested) == len(every) else f"{words}, in part"


def largest(values: Iterable[float]) -> float:
    """Return the largest value, and infinity if one is NaN, which ``max`` may pass over."""
    return max(math.inf if math.isnan(value) else float(value) for value in values)


class _Searched(TypedDict):
    known: Known
    points: int


def searched(values: Sized) -> _Searched:
    """Return how a verdict is known that was searched at one point for each value."""
    return {"known": Known.SEARCHED, "points": len(values)}


def worst_of(found: Iterable[tuple[float, str]]) -> tuple[float, str]:
    """Return the pair of the largest number, infinity for NaN, and what is said of it."""
    return max(
        ((math.inf if math.isnan(value) else float(value), text) for value, text in found),
        key=lambda pair: pair[0],
    )
