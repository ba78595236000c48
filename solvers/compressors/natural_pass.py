"""Natural compression of all clients in one compiled pass; imported when first needed."""

from typing import Any

import numpy as np

from bitbound.data.files.compilation import compiled

_SCALE, _SCALED_BACK = 2.0**-896, 2.0**896
_BITS = 2.0**52
_MANTISSA = (1 << 52) - 1
_AT_ONCE = 8
"""Entries whose bits are made at once, so that loops are long enough for vector registers."""


@compiled
def powers_of_two(x: Any, uniforms: Any, powers: Any, out: Any) -> None:  # pragma: no cover
    """Round every number to a neighbouring power of two, at random: (n, d, R) to (n, d, R).

    The same numbers as of ``round_power_of_two`` with the ``spread_bits`` of uniforms, which are
    (n, d, R), or (n, 2, R) and spread by the ``powers``, (d,).
    """
    n, d, runs = x.shape
    steps, bits = np.repeat(powers.view(np.int64), runs), np.empty((2, _AT_ONCE * runs), np.int64)
    for i in range(n):
        if uniforms.shape[1] == d:
            for j in range(d):
                for r in range(runs):
                    out[i, j, r] = _near(x[i, j, r], np.int64(uniforms[i, j, r] * _BITS))
        else:
            _round_client(x[i].reshape(-1), uniforms[i], steps, bits, out[i].reshape(-1))


@compiled
def _round_client(
    numbers: Any, uniforms: Any, steps: Any, bits: Any, rounded: Any
) -> None:  # pragma: no cover
    """Round the numbers of a client, read through, with two uniform numbers for each run."""
    size, runs, width = numbers.size, uniforms.shape[1], bits.shape[1]
    for at in range(0, width, runs):
        for r in range(runs):
            bits[0, at + r] = np.int64(uniforms[0, r] * _BITS)
            bits[1, at + r] = np.int64(uniforms[1, r] * _BITS)
    for first in range(0, size, width):
        last = min(size, first + width)
        some, step, near = numbers[first:last], steps[first:last], rounded[first:last]
        shift, factor = bits[0], bits[1]
        for q in range(last - first):
            near[q] = _near(some[q], (shift[q] + factor[q] * step[q]) & _MANTISSA)


@compiled
def _near(number: Any, bits: Any) -> Any:  # pragma: no cover
    """Round a number to a power of two with 52 random bits, as ``round_power_of_two`` does."""
    pattern = np.float64(number * _SCALE).view(np.int64) + (_MANTISSA - bits)
    power = np.int64(pattern & ~_MANTISSA).view(np.float64) * _SCALED_BACK
    return np.inf if np.isnan(number) else power
