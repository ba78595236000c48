"""The error of two results that contradict each other."""


class ContradictionError(Exception):
    """A proved factor and an attained factor contradict each other: an error of certibit."""

    def __str__(self) -> str:
        return f"{super().__str__()}; one of them is wrong, believe neither and report it"
