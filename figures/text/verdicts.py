"""Verdicts on claims: supported, FAILS, or undecided."""

from collections.abc import Iterable
from dataclasses import dataclass

from certibit.data.terminal import paragraph
from certibit.theory.verdict import FAILS, UNDECIDED

SUPPORTED = "supported"
SEEDS = 3
"""With fewer seeds nothing is firm: every verdict is "undecided"."""
OURS = "not in the paper"
"""The source of a claim that no paper makes."""


@dataclass(frozen=True)
class Quotation:
    """A sentence of a paper, and where it stands."""

    words: str
    place: str


OWN = Quotation("", OURS)
"""Of a claim that no paper makes."""


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim with what was measured.

    Attributes
    ----------
    claim : str
        The claim, in words.
    source : str
        Whose claim it is, and where it stands.
    measured : str
        The numbers that decide.
    outcome : str
        One of ``SUPPORTED``, ``FAILS``, ``UNDECIDED``.
    quotation : str
        The sentence of the paper.
    note : str
        What in it is ours, and affects the verdict.
    """

    claim: str
    source: str
    measured: str
    outcome: str
    quotation: str = ""
    note: str = ""


def firm(outcome: str, seeds: int) -> str:
    """Return an outcome, or undecided if there are fewer than three seeds."""
    return outcome if seeds >= SEEDS else UNDECIDED


def claim_outcome(value: float, *, holds: float, fails: float) -> str:
    """Compare a number with two limits: it holds on one side of both, fails on the other.

    With ``holds < fails`` small numbers hold, else large ones. Between the limits, and for a
    number that is not one, it is undecided.
    """
    if holds < fails:
        return SUPPORTED if value <= holds else FAILS if value >= fails else UNDECIDED
    return SUPPORTED if value >= holds else FAILS if value <= fails else UNDECIDED


def verdicts_text(verdicts: Iterable[ClaimVerdict]) -> str:
    """Write verdicts as text."""
    blocks = []
    for verdict in verdicts:
        note = f"; {verdict.note}" if verdict.note else ""
        head = f"{verdict.outcome}: {verdict.claim} [{verdict.source}{note}]"
        parts = [
            paragraph(head, hanging="  "),
            paragraph(f'"{verdict.quotation}"', "  ", "  ") if verdict.quotation else "",
            paragraph(verdict.measured, "    ", "    "),
        ]
        blocks.append("\n".join(filter(None, parts)))
    return "\n".join(blocks)
