"""The published cost of a round in bits."""

from collections.abc import Callable
from typing import Any

Bill = Callable[[Any, int, float, float], tuple[float, float]]
"""Of a method m, n, the bits of an uncompressed vector and of a message: uplink and downlink bits,
the mean over clients and coins. Where the server compresses, the vector stands for its message."""


def uncompressed_both_ways(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of uncompressed vectors both ways."""
    return vector, vector


def compressed_up(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of one message up and an uncompressed vector down."""
    return message, vector
