"""A maximal independent subset of vectors that does not depend on rounding errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE = 1e-6
"""Relative difference of lengths of which neither is taken to be the longer."""


def independent(vectors: NDArray[Any], least: float) -> list[int]:
    """Return the positions of an independent subset of vectors, (k, N), that spans all of them.

    A vector is dependent if its residual has at most the fraction ``least`` of its length. The next
    vector is the one with the largest relative residual, and the first among nearly equal ones, so
    that rounding errors do not decide.

    Examples
    --------
    >>> import numpy as np
    >>> independent(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0], [0.0, 0.0]]), 1e-9)
    [0, 1]
    """
    if not vectors.size:
        return []
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    left = vectors / np.where(lengths > 0, lengths, 1.0)
    chosen: list[int] = []
    for _ in range(min(left.shape)):
        rest = np.linalg.norm(left, axis=1)
        longest = rest.max()
        if longest <= least:
            break
        place = int(np.flatnonzero(rest >= (1 - TIE) * longest)[0])
        unit = left[place] / rest[place]
        left = left - np.outer(left @ unit, unit)
        left[place] = 0.0
        chosen.append(place)
    return sorted(chosen)
