"""A proof as data: steps, each an inequality on a space of parameters under hypotheses.

A `Step` says ``left <= right`` (or ``==``) for all values of its `Space`; its sides read the
values by name, and the constants of the paper as ``v.k.name``. A `WrittenProof` is a list of steps
with the constants as printed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Literal, Self

from certibit.theory.audit.machinery.unknowns import Nonnegative


class Severity(StrEnum):
    """From the worst to the least."""

    GAP_IN_THEOREM = "gap in the theorem"
    """A statement that the theorem relies on is false under its hypotheses."""
    GAP_IN_PROOF = "gap in the proof"
    """What the step is for is true, but not by this step or with the reason given."""
    WRONG_CONSTANT = "wrong constant"
    """The step is true with another number."""
    MISPRINT = "misprint"
    """The step is true as it must have been meant."""


Values = SimpleNamespace
Side = Callable[[Values], Any]
Rational = int | Fraction


@dataclass(frozen=True)
class Variable:
    """A free quantity of a step.

    Attributes
    ----------
    name : str
        Under which the sides read it.
    low, high : rational
        Its range.
    logarithmic : bool
        Whether the search draws its logarithm uniformly.
    often : tuple of rational
        Values the search tries often, such as the ends of the range.
    hypothesis : str
        The hypothesis that the range expresses, "" if none.
    beyond : (2,) or None
        The range where that hypothesis is dropped.
    shape : tuple of int
        Of an array of such quantities.
    of : tuple
        The values of cells that it belongs to; () if it belongs to all.
    """

    name: str
    low: Rational
    high: Rational
    logarithmic: bool = False
    often: tuple[Rational, ...] = ()
    hypothesis: str = ""
    beyond: tuple[Rational, Rational] | None = None
    shape: tuple[int, ...] = ()
    of: tuple[Any, ...] = ()

    def belongs(self, cell: "Cell") -> bool:
        """Tell whether it means anything in a cell."""
        return not self.of or any(value in self.of for _, value in cell)


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis that is no range: ``holds`` gives which points satisfy it."""

    name: str
    holds: Callable[[Values], Any]


Cell = tuple[tuple[str, Any], ...]
"""What is discrete in a space: names with values, such as the number of clients."""


@dataclass(frozen=True)
class Space:
    """The space of the free quantities of a step.

    Attributes
    ----------
    name : str
        In words.
    variables : tuple of Variable
        The free real quantities.
    derive : callable
        Adds to the values whatever else the sides read.
    hypotheses : tuple of Hypothesis
        Which points count.
    cells : tuple of Cell
        The discrete cases, simplest first.
    reads : tuple of str
        The printed constants that `derive` reads.
    shows : tuple of str
        Derived quantities that a witness lists.
    method : str
        "polynomial": all is polynomial, so that "holds" can be proved; "rational": a failure is
        confirmed in fractions; "decimal": in decimals of 50 digits.
    count : int
        Points per cell.
    unknowns : callable or None
        The same quantities as unknowns, one value for every case, from the printed constants: a
        step is proved on these where they are given.
    """

    name: str
    variables: tuple[Variable, ...]
    derive: Callable[[Values], None] = lambda v: None
    hypotheses: tuple[Hypothesis, ...] = ()
    cells: tuple[Cell, ...] = ((),)
    reads: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    method: Literal["polynomial", "rational", "decimal"] = "decimal"
    count: int = 1000
    unknowns: Callable[[Mapping[str, Fraction]], Iterable[Values]] | None = None

    def having(self, hypothesis: Hypothesis) -> "Space":
        """Add a hypothesis."""
        return replace(self, hypotheses=(*self.hypotheses, hypothesis))


@dataclass(frozen=True)
class Amendment:
    """A change that may repair a step.

    Attributes
    ----------
    words : str
        The change in words.
    changes : mapping
        Attributes of the step that change.
    constants : mapping
        Printed constants that change.
    restricts : bool
        Whether it adds a hypothesis: then the step "holds only if ...".
    severity : Severity
        What it says about the proof that the step needs this change and no more.
    """

    words: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Rational] = field(default_factory=dict)
    restricts: bool = False
    severity: Severity = Severity.MISPRINT

    @classmethod
    def of(cls, words: str, severity: Severity = Severity.MISPRINT, **changes: Any) -> Self:
        """Make one of the attributes of the step that change."""
        return cls(words, changes, severity=severity)


@dataclass(frozen=True)
class ProofStep:
    """One inequality of a proof.

    Attributes
    ----------
    place : str
        Where it stands: equation number or name.
    words : str
        The inequality in words.
    space : Space
        What it is claimed for.
    left, right : callable
        Its sides; arrays (..., points).
    equality : bool
        Whether it claims ``left == right``.
    feeds : tuple of str
        Places of the statements that rely on it.
    movable : tuple of str
        Printed constants that a repair may scale, all by one factor.
    amendments : tuple of Amendment
        Other repairs, tried in this order.
    constants : str
        Which set of printed constants it uses, for the table.
    argument : callable or None
        Why it holds on the unknowns of its space: right - left as what is at least 0.
    """

    place: str
    words: str
    space: Space
    left: Side
    right: Side
    equality: bool = False
    feeds: tuple[str, ...] = ()
    movable: tuple[str, ...] = ()
    amendments: tuple[Amendment, ...] = ()
    constants: str = ""
    argument: Callable[[Values], Nonnegative] | None = None


def steps_on(space: Space) -> Callable[..., ProofStep]:
    """Return what makes a step about a space from its place, words and sides, and what follows."""

    def step(place: str, words: str, left: Side, right: Side, **more: Any) -> ProofStep:
        return ProofStep(place, words, space, left, right, **more)

    return step


@dataclass(frozen=True)
class WrittenProof:
    """A proof: its steps and its printed constants.

    Attributes
    ----------
    readings : mapping
        Sentences of the paper that can be read as a repair, by the words of the repair.
    """

    name: str
    source: str
    steps: tuple[ProofStep, ...]
    constants: Mapping[str, Fraction] = field(default_factory=dict)
    readings: Mapping[str, str] = field(default_factory=dict)
