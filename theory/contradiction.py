"""The error of two results that contradict each other."""


class ContradictionError(Exception):
    """A proved factor and an attained one contradict each other: an error of certibit."""
