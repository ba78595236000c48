"""The error of two results that contradict each other."""


class ContradictionError(Exception):
    """What was proved and what was attained contradict each other: the tool itself is wrong."""
