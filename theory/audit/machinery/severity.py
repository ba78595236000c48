"""The severity of a failing step for the published theorem."""

from enum import StrEnum


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
