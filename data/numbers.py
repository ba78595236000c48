"""Whole numbers as users write them."""

_DIGITS = 12


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
