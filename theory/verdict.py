"""The outcome of a check: a number, its limit, the kind of evidence, and the words for it."""

import math
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypedDict

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


def written(value: Any, digits: int, *, up: bool = False) -> str:
    """Write a number with so many digits; what is proved, a fraction, is rounded down, or ``up``.

    Examples
    --------
    >>> written(0.18999, 3), written(Fraction(18999, 100000), 3)
    ('0.19', '0.189')
    """
    if isinstance(value, Fraction):
        context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
        value = float(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
    return f"{value:.{digits}g}"


def subtracted(c: float | Fraction, digits: int) -> str:
    """Write ``- c``, or ``+ |c|`` if c is negative, with so many significant digits."""
    return f"{'+' if c < 0 else '-'} {written(abs(c), digits, up=c < 0)}"


def readable_factor(decrease: float | Fraction, digits: int = 8) -> str:
    """Write the factor 1 - decrease so that no decrease is shown as 0 and no factor as 1 - 1."""
    if decrease > 0 and (shown := written(decrease, digits)) != "1":
        return f"1 - {shown}"
    factor: Any = 1 - decrease
    exact = isinstance(factor, Fraction)
    return written(factor, digits, up=True) if exact else readable(factor, digits)


def times_psi(decrease: float | Fraction, digits: int = 8) -> str:
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


class ContradictionError(Exception):
    """A proved factor and an attained factor contradict each other: an error of certibit."""

    def __str__(self) -> str:
        return f"{super().__str__()}; one of them is wrong, believe neither and report it"


class OutsideTheoremWarning(UserWarning):
    """The parameters of a method are outside every theorem about it.

    Examples
    --------
    >>> import warnings
    >>> from certibit import GD, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     trace = run(GD(gamma=0.5), problem, seeds=1, budget=Budget(rounds=3))
    >>> told[0].category.__name__
    'OutsideTheoremWarning'
    """
