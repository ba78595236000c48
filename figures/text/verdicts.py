"""What an experiment says about a claim: measured, FAILS, or undecided."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from bitbound.theory.verdict import FAILS, UNDECIDED, Known

MEASURED = Known.MEASURED.words()


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim with what was measured.

    Attributes
    ----------
    claim : str
        The claim, in words.
    source : str
        Whose claim it is.
    measured : str
        The numbers that decide.
    outcome : str
        One of ``MEASURED``, ``FAILS``, ``UNDECIDED``.
    """

    claim: str
    source: str
    measured: str
    outcome: str


def claim_outcome(value: float, *, holds: float, fails: float) -> str:
    """Compare a number with two limits: it holds on one side of both, fails on the other.

    With ``holds < fails`` small numbers hold, else large ones. Between the limits, and for a
    number that is not one, it is undecided.
    """
    if holds < fails:
        return MEASURED if value <= holds else FAILS if value >= fails else UNDECIDED
    return MEASURED if value >= holds else FAILS if value <= fails else UNDECIDED


def verdicts_text(verdicts: Iterable[ClaimVerdict]) -> str:
    """Write verdicts as text of at most 80 columns."""
    blocks = []
    for verdict in verdicts:
        head = f"{verdict.outcome.upper()}: {verdict.claim} [{verdict.source}]"
        lines = textwrap.wrap(head, 80, subsequent_indent="  ")
        lines += textwrap.wrap(
            verdict.measured, 80, initial_indent="    ", subsequent_indent="    "
        )
        blocks.append("\n".join(lines))
    return "\n".join(blocks)
