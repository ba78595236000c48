"""The total cost in bits: those sent, and those received by their weight."""

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal

Bits = TypeVar("Bits", float, NDArray[np.float64])


def total_bits(up: Bits, down: Bits, downlink: float) -> Bits:
    """Return the bits sent, and those received by the weight of one of them.

    Examples
    --------
    >>> from certibit.solvers.total_bits import total_bits
    >>> total_bits(100.0, 30.0, downlink=0.5), total_bits(100.0, float("inf"), downlink=0.0)
    (115.0, 100.0)
    """
    return up + downlink * down if downlink else up


def bits_name(downlink: float) -> str:
    """Return how an axis of these bits is called."""
    if not downlink:
        return "bits sent per client"
    return f"bits sent + {downlink:g} × bits received, per client"


def total_text(downlink: float) -> str:
    """Say what the column "total" is, such as ``total = up + 0.5 down``; "" without a weight."""
    return f"total = up + {downlink:g} down" if downlink else ""


def require_weight(downlink: float) -> None:
    """Refuse a weight of a bit received that is no number from 0 on."""
    if not 0 <= downlink < math.inf:
        raise Refusal(
            f"the weight {downlink:g} of the downlink is not possible; give a number from 0 on"
        )
