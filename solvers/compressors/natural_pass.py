"""Natural compression of all clients in one compiled pass; imported when first needed."""

from typing import Any

import numpy as np

from bitbound.data.files.compilation import compiled
from bitbound.data.passes.row_passes import combined_block

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
            out[i] = x[i]
            _round_client(out[i].reshape(-1), uniforms[i], steps, bits)


@compiled
def powers_of_gradients(
    gradients: Any, uniforms: Any, powers: Any, out: Any
) -> None:  # pragma: no cover
    """Round what ``combined`` makes of gradients, with uniforms (n, 2, R), a block at a time."""
    n, runs = out.shape[0], out.shape[2]
    block, m, width = gradients[4], gradients[3][1], len(gradients[0])
    steps, bits = np.repeat(powers.view(np.int64), runs), np.empty((2, _AT_ONCE * runs), np.int64)
    room = np.empty((2, block * m * width))
    for first in range(0, n, block):
        last = min(n, first + block)
        combined_block(gradients, first, last, room, out.reshape(-1))
        for i in range(first, last):
            _round_client(out[i].reshape(-1), uniforms[i], steps, bits)


@compiled
def _round_client(numbers: Any, uniforms: Any, steps: Any, bits: Any) -> None:  # pragma: no cover
    """Round the numbers of a client, read through, in place, with two uniforms for each run."""
    size, runs, width = numbers.size, uniforms.shape[1], bits.shape[1]
    for at in range(0, width, runs):
        for r in range(runs):
            bits[0, at + r] = np.int64(uniforms[0, r] * _BITS)
            bits[1, at + r] = np.int64(uniforms[1, r] * _BITS)
    for first in range(0, size, width):
        last = min(size, first + width)
        some, step, shift, factor = numbers[first:last], steps[first:last], bits[0], bits[1]
        for q in range(last - first):
            some[q] = _near(some[q], (shift[q] + factor[q] * step[q]) & _MANTISSA)


@compiled
def _near(number: Any, bits: Any) -> Any:  # pragma: no cover
    """Round a number to a power of two with 52 random bits, as ``round_power_of_two`` does."""
    pattern = np.float64(number * _SCALE).view(np.int64) + (_MANTISSA - bits)
    power = np.int64(pattern & ~_MANTISSA).view(np.float64) * _SCALED_BACK
    return np.inf if np.isnan(number) else power
