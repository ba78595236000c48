"""One formula, several kinds of numbers: floats to search, fractions and 50 digits to confirm.

Sides of a step are written with arithmetic operators, so they accept float arrays and arrays of
`Fraction` or `Decimal` alike; numpy sends exp and sqrt of an object array to the elements.
"""

from contextlib import AbstractContextManager
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["float", "fraction", "decimal"]
Array = NDArray[Any]

DIGITS = 50


def high_precision() -> AbstractContextManager[Any]:
    """Return the context in which decimals have 50 digits."""
    return localcontext(prec=DIGITS)


def number(value: Fraction, kind: Kind) -> Any:
    """Return a rational number in a kind of arithmetic."""
    if kind == "fraction":
        return value
    if kind == "decimal":
        return Decimal(value.numerator) / Decimal(value.denominator)
    return float(value)


def array(value: Any, kind: Kind) -> Array:
    """Return rational numbers, in an array of any shape, in a kind of arithmetic."""
    values = np.asarray(value, dtype=object)
    if kind == "float":
        return values.astype(np.float64)
    out = np.empty(values.shape, dtype=object)
    flat: list[Any] = values.ravel().tolist()
    for index, x in zip(np.ndindex(values.shape), flat, strict=True):
        out[index] = number(Fraction(x), kind)
    return out


def sign(x: Array) -> Array:
    """Return the sign, with sign(0) = 0, as small integers."""
    return (x > 0).astype(int) - (x < 0).astype(int)


def sinh(x: Any) -> Any:
    """Return the hyperbolic sine in any arithmetic."""
    return (np.exp(x) - np.exp(-x)) / 2 if np.asarray(x).dtype == object else np.sinh(x)


def cosh(x: Any) -> Any:
    """Return the hyperbolic cosine in any arithmetic."""
    return (np.exp(x) + np.exp(-x)) / 2


def text(value: Any) -> str:
    """Write a number: fractions in full where short, anything else to 8 digits."""
    if isinstance(value, Fraction) and value.denominator <= 10**6:
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    return f"{float(value):.8g}"
