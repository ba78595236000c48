"""Natural compression: powers of two, by an addition of random bits to the bits of a number."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array, array_namespace, is_numpy
from bitbound.data.files.compilation import is_worth_loading
from bitbound.solvers.backend import (
    feature_sum,
    floor_power_of_two,
    round_power_of_two,
)
from bitbound.solvers.compressors import wire
from bitbound.solvers.compressors.base import Compressor, stretched
from bitbound.solvers.deferred import written

SMALLEST_POWER = 2.0**-126
"""The smallest positive number of a 9-bit natural value."""

_BITS, _SERVED = 52, 4
"""Random bits of every entry, and entries that one uniform number serves."""


@dataclass(frozen=True)
class Natural(Compressor):
    """Natural compression: each entry is rounded at random to one of the two nearest powers of two.

    x_j = +-2^a (1 + u) becomes +-2^(a+1) with probability u and +-2^a else; omega = 1/8, attained
    at u = 1/3. The message is the sign and the 8-bit exponent of every entry, 9 d bits.

    Below 2^-126 an entry becomes +-2^-126 with probability |x_j| / 2^-126 and 0 else: unbiased to
    2^-179, with an error of at most 2^-254 per entry but no omega. Above 2^127 the wire says
    infinity.

    One uniform number serves four entries (:func:`turned_bits`). Mean and variance of every entry
    are exact, and clients are independent; that two given entries of one client are both rounded
    up has the product of their probabilities to 2^-13.

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
        return -(-d // _SERVED)

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        return (powers_near(x, uniforms),)

    def vector(self, message: wire.Message, d: int) -> Array:
        return message[0]

    def variance(self, x: Array) -> Array:
        return feature_sum(power_of_two_variance(x))[:, 0, :]


def powers_near(x: Array, uniforms: Array) -> Array:
    """Round numbers (n, d, R) to powers of two, with uniforms (n, q, R), q = d/4 or d.

    Compiled code does the same bit for bit.
    """
    x = written(x)
    if not (is_numpy(x) and x.dtype == np.float64 and is_worth_loading(x.size)):
        return round_power_of_two(x, turned_bits(uniforms, x.shape[1]))
    from bitbound.solvers.compressors.natural_pass import (  # noqa: PLC0415  (numba is slow to import)
        powers_of_two,
    )

    out = np.empty(x.shape)
    powers_of_two(np.ascontiguousarray(x), stretched(uniforms, x), out)
    return out


def random_bits(uniforms: Array) -> Array:
    """Return the first 52 bits of uniform numbers, as integers of the same shape."""
    xp = array_namespace(uniforms)
    return xp.astype(uniforms * 2.0**_BITS, xp.int64)


def turned_bits(uniforms: Array, d: int) -> Array:
    """Make 52 random bits for each of d entries of d/4 uniform numbers, or d: (n, d, R) integers.

    Each is the 52 bits of one number, turned in a circle by 0, 13, 26 or 39 places: uniform, and
    the first 13 bits, which nearly always decide, are each entry's own.
    """
    xp = array_namespace(uniforms)
    bits, places = random_bits(uniforms), _BITS // _SERVED
    turned = [bits]
    for _ in range(1, -(-d // uniforms.shape[1])):
        bits = ((bits << places) & (2**_BITS - 1)) | (bits >> (_BITS - places))
        turned.append(bits)
    return xp.concat(turned, axis=1)[:, :d, :]


def power_of_two_variance(x: Array) -> Array:
    """Exact variance of rounding every entry: (upper - |x|) (|x| - lower); same shape."""
    xp = array_namespace(x)
    size = xp.abs(x)
    low = floor_power_of_two(size)
    step = xp.maximum(low, xp.asarray(SMALLEST_POWER, dtype=low.dtype, device=low.device))
    low = low * xp.astype(low >= SMALLEST_POWER, low.dtype)
    return (low + step - size) * (size - low)
