"""Claims with verdicts: supported, FAILS, or undecided; as one record and as text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from certibit.data.terminal import paragraph
from certibit.theory.verdict import FAILS, UNDECIDED

SUPPORTED = "supported"
SEEDS = 3
"""With fewer seeds nothing is firm: every verdict is "undecided"."""


@dataclass(frozen=True)
class Quotation:
    """A sentence of a paper, and where it stands."""

    words: str
    place: str


OWN = Quotation("", "not in the paper")
"""Of a claim that no paper makes."""


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim with what was measured.

    Attributes
    ----------
    claim : str
        The claim, in words.
    quoted : Quotation
        The sentence of the paper that makes it.
    measured : str
        The numbers that decide.
    outcome : str
        One of ``SUPPORTED``, ``FAILS``, ``UNDECIDED``.
    note : str
        What in it is ours, and affects the verdict.
    """

    claim: str
    quoted: Quotation
    measured: str
    outcome: str
    note: str = ""

    def record(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {
            "claim": self.claim,
            "source": self.quoted.place,
            "measured": self.measured,
            "outcome": self.outcome,
            "quotation": self.quoted.words,
            "note": self.note,
        }

    def firm(self, seeds: int) -> "ClaimVerdict":
        """Return the verdict, undecided if there are fewer than three seeds."""
        return self if seeds >= SEEDS else replace(self, outcome=UNDECIDED)


def judged(
    claim: str,
    quoted: Quotation,
    measured: str,
    value: float,
    holds: float,
    fails: float,
    note: str = "",
) -> ClaimVerdict:
    """Return a claim with the outcome of a number between two limits; see `claim_outcome`."""
    return ClaimVerdict(
        claim, quoted, measured, claim_outcome(value, holds=holds, fails=fails), note
    )


def true_or_false(holds: bool) -> str:
    """Return the outcome of a claim that is either true or not."""
    return SUPPORTED if holds else FAILS


def claim_outcome(value: float, *, holds: float, fails: float) -> str:
    """Compare a number with two limits: it holds on one side of both, fails on the other.

    With ``holds < fails`` small numbers hold, else large ones. Between the limits, and for a
    number that is not one, it is undecided.
    """
    if holds < fails:
        return SUPPORTED if value <= holds else FAILS if value >= fails else UNDECIDED
    return SUPPORTED if value >= holds else FAILS if value <= fails else UNDECIDED


def verdicts_text(records: Iterable[Mapping[str, Any]]) -> str:
    """Write the records of verdicts as text."""
    blocks = []
    for each in records:
        note = f"; {each['note']}" if each["note"] else ""
        verdict = each.get("verdict", each["outcome"])
        head = f"{each['claim']}: {verdict} [{each['source']}{note}]"
        parts = [
            paragraph(head, hanging="  "),
            paragraph(f'"{each["quotation"]}"', "  ", "  ") if each["quotation"] else "",
            paragraph(each["measured"], "    ", "    "),
        ]
        blocks.append("\n".join(filter(None, parts)))
    return "\n".join(blocks)
