"""Natural compression of all clients in one compiled pass; imported when first needed."""

from typing import Any

import numpy as np

from bitbound.data.files.compilation import compiled

_SCALE = 2.0**-896
_MANTISSA = (1 << 52) - 1
_PLACES = 13


@compiled
def powers_of_two(x: Any, uniforms: Any, out: Any) -> None:  # pragma: no cover
    """Round every number to a neighbouring power of two, at random: (n, d, R) to (n, d, R).

    The same numbers as of ``round_power_of_two`` with the ``turned_bits`` of uniforms (n, d/4, R),
    which may lie in any order: those of a client are put in the order of x in a cache.
    """
    n, d, runs = x.shape
    served = uniforms.shape[1]
    count = served * runs
    given = np.empty(count)
    for i in range(n):
        for r in range(runs):
            for j in range(served):
                given[j * runs + r] = uniforms[i, j, r]
        numbers, rounded = x[i].reshape(-1), out[i].reshape(-1)
        patterns = rounded.view(np.int64)
        for q in range(d * runs):
            rounded[q] = numbers[q] * _SCALE
        for turn in range(-(-d * runs // count)):
            first, last = turn * count, min((turn + 1) * count, d * runs)
            some, places = patterns[first:last], turn * _PLACES
            for q in range(last - first):
                bits = np.int64(given[q] * 2.0**52)
                bits = ((bits << places) & _MANTISSA) | (bits >> (52 - places))
                some[q] = (some[q] + (_MANTISSA - bits)) & ~_MANTISSA
        for q in range(d * runs):
            rounded[q] = np.inf if np.isnan(numbers[q]) else rounded[q] / _SCALE
