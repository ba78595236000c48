"""The numbers of numpy's Philox generator as a function of key and place, on any device.

Philox is a counter-based generator: four words belong to each value of its counter, which starts at
1. So any number of a stream can be computed without those before it.
Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011.
"""

from functools import cache
from typing import Any

from array_api_compat import device, is_cupy_array

from certibit.data.arrays import Array, array_namespace

WORDS = 4
"""Numbers for each value of the counter."""

_FACTORS = 0xD2E7470EE14C6C93 - 2**64, 0xCA5A826395121157 - 2**64
_STEPS = 0x9E3779B97F4A7C15 - 2**64, 0xBB67AE8584CAA73B - 2**64
"""As signed numbers: torch has no arithmetic of unsigned ones."""
_ROUNDS = 10
_LOW = 0xFFFFFFFF

KERNEL = """
unsigned long long a = place / 4 + 1, b = 0, c = 0, d = 0, k = first, l = second;
for (int round = 0; round < 10; ++round) {
    unsigned long long high = __umul64hi(0xD2E7470EE14C6C93ULL, a);
    unsigned long long other = __umul64hi(0xCA5A826395121157ULL, c);
    unsigned long long low = 0xD2E7470EE14C6C93ULL * a;
    a = other ^ b ^ k;
    b = 0xCA5A826395121157ULL * c;
    c = high ^ d ^ l;
    d = low;
    k += 0x9E3779B97F4A7C15ULL;
    l += 0xBB67AE8584CAA73BULL;
}
unsigned long long word = place % 4 == 0 ? a : place % 4 == 1 ? b : place % 4 == 2 ? c : d;
number = (double)(word >> 11) * (1.0 / 9007199254740992.0);
"""
"""The same in C, for cupy: compiled and compared on the host, not run on a GPU yet."""


def uniform_numbers(first: Array, second: Array, place: Array) -> Array:
    """Return the uniform numbers of [0, 1) that ``Generator(Philox(key)).random`` has at places.

    Parameters
    ----------
    first, second : (R,) uint64
        The two words of the key of every run.
    place : (q, R) uint64
        Which numbers of its stream, counted from 0.
    """
    if is_cupy_array(place):
        return _kernel()(place, first, second)
    xp, there = array_namespace(place), device(place)
    first, second, place = (xp.astype(x, xp.int64) for x in (first, second, place))
    keys = xp.stack((first, second))[:, None, :]
    factors, steps = (
        xp.stack([xp.full((1, 1), x, dtype=xp.int64, device=there) for x in numbers])
        for numbers in (_FACTORS, _STEPS)
    )
    even, odd = xp.stack((place // WORDS + 1, 0 * place)), 0 * keys  # of the four words
    for _ in range(_ROUNDS):
        high, low = _product(factors, even)
        even, odd = xp.flip(high, axis=0) ^ odd ^ keys, xp.flip(low, axis=0)
        keys = keys + steps
    turn = place % WORDS
    word = xp.where(
        turn % 2 == 0,
        xp.where(turn == 0, even[0, ...], even[1, ...]),
        xp.where(turn == 1, odd[0, ...], odd[1, ...]),
    )
    return xp.astype(_shifted(word, 11), xp.float64) * 2.0**-53


def _product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the two halves, 64 bits each, of the products of numbers."""
    x_high, x_low, y_high, y_low = _shifted(x, 32), x & _LOW, _shifted(y, 32), y & _LOW
    middle = x_high * y_low + _shifted(x_low * y_low, 32)
    carried = x_low * y_high + (middle & _LOW)
    return x_high * y_high + _shifted(middle, 32) + _shifted(carried, 32), x * y


def _shifted(x: Array, bits: int) -> Array:
    """Shift 64 bits to the right, zeros after them, whatever the sign is."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


@cache
def _kernel() -> Any:
    import cupy  # noqa: PLC0415  (an optional extra)

    return cupy.ElementwiseKernel(
        "uint64 place, uint64 first, uint64 second", "float64 number", KERNEL, "certibit_philox"
    )
