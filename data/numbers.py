"""Numbers as users write them."""

from typing import Any

from certibit.data.errors import Refusal

_DIGITS = 12
LARGEST_KAPPA = 1e15
"""Beyond it 1 - 1/kappa is 1 in 64-bit floats, or nearly."""


def whole(text: str) -> int | None:
    """Return the whole number that a text is, of at most 12 digits; None if it is none.

    Examples
    --------
    >>> from certibit.data.numbers import whole
    >>> whole("87"), whole("8.7"), whole(5000 * "9")
    (87, None, None)
    """
    sound = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    return int(text) if sound else None


def require_possible_kappa(kappa: float) -> None:
    """Refuse a condition number above 1e15, with which 64-bit floats cannot compute."""
    if kappa > LARGEST_KAPPA:
        raise Refusal(f"kappa = {kappa:g} is too large for 64-bit floats; give at most 1e15")


def exactly(value: Any) -> str:
    """Write a constant as short as it can be without rounding it."""
    short = f"{value:g}"
    return short if float(short) == value else str(value)
