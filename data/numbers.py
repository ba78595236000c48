"""Whole numbers as users write them, and what arrays of such sizes take of the machine."""

import psutil

from bitbound.data.errors import Refusal

_DIGITS = 12
_BYTES = 8


def whole(text: str) -> int | None:
    """Return the whole number that a text is, of at most 12 digits; None if it is none.

    Examples
    --------
    >>> from bitbound.data.numbers import whole
    >>> whole("87"), whole("8.7"), whole(5000 * "9")
    (87, None, None)
    """
    sound = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    return int(text) if sound else None


def require_memory(numbers: float, what: str) -> None:
    """Refuse what needs at least so many 64-bit numbers if this machine cannot hold them.

    Parameters
    ----------
    numbers : float
        An estimate from below.
    what : str
        What needs them, as the subject of the sentence.

    Raises
    ------
    Refusal
        If they take more than the memory of the machine, in use or not.
    """
    there = psutil.virtual_memory().total
    if _BYTES * numbers > there:
        raise Refusal(
            f"{what} would take about {_BYTES * numbers / 1e9:.3g} GB of memory and this machine "
            f"has {there / 1e9:.3g} GB; choose smaller numbers"
        )
