"""Natural compression: powers of two, by an addition of random bits to the bits of a number."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.solvers.backend import feature_sum, floor_power_of_two, round_power_of_two
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Compressor

SMALLEST_POWER = 2.0**-126
"""The smallest positive number of a 9-bit natural value."""

_BITS, _MULTIPLIER = 52, 5**17
"""Random bits of every entry, and what makes those of the next; see :func:`spread_bits`."""


@dataclass(frozen=True)
class Natural(Compressor):
    """Natural compression: each entry is rounded at random to one of the two nearest powers of two.

    x_j = +-2^a (1 + u) becomes +-2^(a+1) with probability u and +-2^a else; omega = 1/8, attained
    at u = 1/3. The message is the sign and the 8-bit exponent of every entry, 9 d bits.

    Below 2^-126 an entry becomes +-2^-126 with probability |x_j| / 2^-126 and 0 else: unbiased to
    2^-179, with an error of at most 2^-254 per entry but no omega. Above 2^127 the wire says
    infinity.

    Two uniform numbers serve all entries (:func:`spread_bits`). Mean and variance of every entry
    are exact, and clients are independent; that two given entries of one client are both rounded
    up has the product of their probabilities to d 2^-50. One number for each entry serves as well.

    Source: S. Horvath et al., Natural compression for distributed deep learning, MSML 2022.
    """

    @property
    def name(self) -> str:
        return "natural"

    def omega(self, d: int) -> float:
        return 1 / 8

    def hardest(self, d: int) -> NDArray[np.float64]:
        return np.full(d, 4 / 3)

    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.PowersOfTwo(), d),))

    def uniforms(self, d: int) -> int:
        return min(d, 2)

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        return (powers_near(x, uniforms),)

    def vector(self, message: wire.Message, d: int) -> Array:
        return message[0]

    def variance(self, x: Array) -> Array:
        return feature_sum(power_of_two_variance(x))[:, 0, :]


def powers_near(x: Array, uniforms: Array) -> Array:
    """Round numbers (n, d, R) to powers of two, with uniforms (n, d, R), or (n, 2, R) for all d."""
    return round_power_of_two(x, spread_bits(uniforms, x.shape[1]))


def random_bits(uniforms: Array) -> Array:
    """Return the first 52 bits of uniform numbers, as integers of the same shape."""
    xp = array_namespace(uniforms)
    return xp.astype(uniforms * 2.0**_BITS, xp.int64)


def spread_bits(uniforms: Array, d: int) -> Array:
    """Make 52 random bits for each of d entries of two uniform numbers, or d: (n, d, R) integers.

    Entry j has (b + a 5^(17 j)) mod 2^52, with the bits b and a of the two. Each is uniform, and
    any two are independent but for their last bits: 5^(17 j) and 5^(17 k) differ by an odd number
    times 4 times the power of two in j - k. The multiplier does well in the spectral test in two
    to six dimensions.

    Source: J. L. Carter, M. N. Wegman, Universal classes of hash functions, 1979.
    """
    bits = random_bits(uniforms)
    if bits.shape[1] == d:
        return bits
    powers = multipliers(array_namespace(bits), device(bits), d)
    return (bits[:, :1, :] + bits[:, 1:, :] * powers[None, :, None]) & (2**_BITS - 1)


_POWERS: dict[tuple[ModuleType, str, int], Array] = {}


def multipliers(xp: ModuleType, there: Any, d: int) -> Array:
    """Return the powers 0 to d - 1 of the multiplier modulo 2^52, as an array of a library."""
    place = xp, str(there), d  # a device of cupy has no hash
    if place not in _POWERS:
        powers = [pow(_MULTIPLIER, j, 2**_BITS) for j in range(d)]
        _POWERS[place] = xp.asarray(powers, dtype=xp.int64, device=there)
    return _POWERS[place]


def power_of_two_variance(x: Array) -> Array:
    """Exact variance of rounding every entry: (upper - |x|) (|x| - lower); same shape."""
    xp = array_namespace(x)
    size = xp.abs(x)
    low = floor_power_of_two(size)
    step = xp.maximum(low, xp.asarray(SMALLEST_POWER, dtype=low.dtype, device=low.device))
    low = low * xp.astype(low >= SMALLEST_POWER, low.dtype)
    return (low + step - size) * (size - low)
