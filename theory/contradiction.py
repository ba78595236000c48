"""When two results of the tool cannot both be true."""


class ContradictionError(Exception):
    """What was proved and what was attained contradict each other: the tool itself is wrong."""
