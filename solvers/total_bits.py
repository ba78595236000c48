"""The total cost in bits: bits sent plus a weight times bits received."""

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal

Bits = TypeVar("Bits", float, NDArray[np.float64])


def total_bits(up: Bits, down: Bits, downlink: float) -> Bits:
    """Return the total cost, up + downlink * down.

    Examples
    --------
    >>> from certibit.solvers.total_bits import total_bits
    >>> total_bits(100.0, 30.0, downlink=0.5), total_bits(100.0, float("inf"), downlink=0.0)
    (115.0, 100.0)
    """
    return up + downlink * down if downlink else up


def bits_name(downlink: float) -> str:
    """Return the label of an axis of total bits."""
    if not downlink:
        return "bits sent per client"
    return f"bits sent + {downlink:g} × bits received, per client"


def total_text(downlink: float) -> str:
    """Return the formula of the column "total", such as ``total = up + 0.5 down``, or ""."""
    return f"total = up + {downlink:g} down" if downlink else ""


def require_weight(downlink: float) -> None:
    """Refuse a weight of a received bit that is negative or not finite."""
    if not 0 <= downlink < math.inf:
        raise Refusal(
            f"the weight {downlink:g} of the downlink is not possible; give a number from 0 on"
        )
