"""Compressed messages of all clients in one compiled pass each; imported when first needed."""

from typing import Any

import numpy as np

from certibit.data.passes.compilation import compiled

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


@compiled
def keep_entries(x: Any, uniforms: Any, factor: Any, out: Any) -> bool:  # pragma: no cover
    """Draw k features of every client and run, and write the entries there times a factor to out.

    The features are those of ``subsets``; x and out, of zeros, are (n, d, R), uniforms (n, k, R).
    False where a number is not one of [0, 1): its feature would not be one of x.
    """
    n, d, runs = x.shape
    k = uniforms.shape[1]
    last = np.full(d, -1)  # who has drawn a feature last: nothing is searched, and k may be large
    for i in range(n):
        for r in range(runs):
            who = i * runs + r
            for a in range(k):
                j = d - k + a
                t = np.int64(uniforms[i, a, r] * (j + 1))
                if t < 0 or t > j:
                    return False
                if last[t] == who:
                    t = np.int64(j)
                last[t] = who
                out[i, t, r] = x[i, t, r] * factor
    return True
