"""Natural compression of all clients in one compiled pass; imported when first needed."""

from typing import Any

import numpy as np

from certibit.data.passes.compilation import compiled
from certibit.data.passes.row_passes import combined_block

_SCALE, _SCALED_BACK = 2.0**-896, 2.0**896
_BITS = 2.0**52
_MANTISSA = (1 << 52) - 1
AT_ONCE = 80
"""Numbers whose bits are made at once: enough for vector registers, few beside a client's."""


@compiled
def powers_of_two(x: Any, uniforms: Any, powers: Any) -> None:  # pragma: no cover
    """Round every number of x, (n, d, R), to a neighbouring power of two, at random, in place.

    The same numbers as of ``round_power_of_two`` with the ``spread_bits`` of uniforms, which are
    (n, d, R), or (n, 2, R) and spread by the first ``powers`` of the multiplier.
    """
    n, d, runs = x.shape
    bits = np.empty((2, max(1, AT_ONCE // runs), runs), np.int64)
    for i in range(n):
        if uniforms.shape[1] == d:
            for j in range(d):
                for r in range(runs):
                    x[i, j, r] = _near(x[i, j, r], np.int64(uniforms[i, j, r] * _BITS))
        else:
            _round_client(x[i].reshape(-1), uniforms[i], powers, bits)


@compiled
def powers_of_gradients(
    gradients: Any, uniforms: Any, powers: Any, exponents: Any, total: Any
) -> None:  # pragma: no cover
    """Round what ``combined`` makes of gradients, with uniforms (n, 2, R), a block at a time.

    Set the first 12 bits of the powers, (n, d, R) int16, and add the powers of all clients to the
    sum, (d, R), which is 0 before.
    """
    n, d, runs = exponents.shape
    block, m, width, sums = gradients[4], gradients[3][1], len(gradients[0]), total.reshape(-1)
    room, vectors = np.empty((2, block * m * width)), np.empty((block, d * runs))
    bits = np.empty((2, max(1, AT_ONCE // runs), runs), np.int64)
    for first in range(0, n, block):
        last = min(n, first + block)
        combined_block(gradients, first, last, room, vectors.reshape(-1))
        for i in range(first, last):
            numbers, sent = vectors[i - first], exponents[i].reshape(-1)
            _round_client(numbers, uniforms[i], powers, bits)
            patterns = numbers.view(np.int64)
            for q in range(d * runs):
                sums[q] += numbers[q]
                sent[q] = patterns[q] >> 52


@compiled
def add_powers(x: Any, exponents: Any, factor: Any) -> None:  # pragma: no cover
    """Add powers of two, given by their first 12 bits, times a factor to numbers, in place."""
    for q in range(x.size):
        x[q] += factor * np.int64(np.int64(exponents[q]) << 52).view(np.float64)


@compiled
def _round_client(numbers: Any, uniforms: Any, powers: Any, bits: Any) -> None:  # pragma: no cover
    """Round the numbers of a client, read through, in place, with two uniforms for each run."""
    _, count, runs = bits.shape
    for r in range(runs):
        shift, factor = np.int64(uniforms[0, r] * _BITS), np.int64(uniforms[1, r] * _BITS)
        for j in range(count):
            bits[0, j, r], bits[1, j, r] = shift, factor * powers[j]
    shifts, moved, step = bits[0].reshape(-1), bits[1].reshape(-1), powers[count]
    for first in range(0, numbers.size, shifts.size):
        some = numbers[first : min(numbers.size, first + shifts.size)]
        for q in range(some.size):
            some[q] = _near(some[q], (shifts[q] + moved[q]) & _MANTISSA)
            moved[q] *= step


@compiled
def _near(number: Any, bits: Any) -> Any:  # pragma: no cover
    """Round a number to a power of two with 52 random bits, as ``round_power_of_two`` does."""
    pattern = np.float64(number * _SCALE).view(np.int64) + (_MANTISSA - bits)
    power = np.int64(pattern & ~_MANTISSA).view(np.float64) * _SCALED_BACK
    return np.inf if np.isnan(number) else power
