"""The bits of messages of other programs, as papers count them and as a decoder needs them."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.numbers import whole
from certibit.solvers.compressors.wire import PowersOfTwo

FORMATS = {"float16": 16, "float32": 32, "float64": 64, "natural": 9, "sign": 1}
"""Bits of one value: floats, a power of two (sign and exponent), a sign."""

_EXACT = 10_000
"""Entries of a set, or those beside it, up to which its number is computed."""

_DESCRIPTION = re.compile(r"(rand-k|top-k):([0-9]+) of ([0-9]+)(?: in ([\w]+))?")


@dataclass(frozen=True)
class Sparse:
    """Sparse messages of vectors of R^d: the numbers of entries and the format of a value.

    Attributes
    ----------
    d : int
        Entries of a vector.
    sizes : tuple of int
        Entries that are sent, of every message.
    value : str
        The format of a value, one of ``FORMATS``.
    extra : int
        Bits of a message beside its entries: the magnitude that signs share.
    seeded : bool
        Whether both sides can draw the entries from a common seed.
    """

    d: int
    sizes: tuple[int, ...]
    value: str
    extra: int = 0
    seeded: bool = False


@dataclass(frozen=True)
class Count:
    """The bits of messages by one convention.

    Attributes
    ----------
    way : str
        What is counted.
    bits : float
        Bits of a message, the mean.
    decodes : bool
        Whether a receiver can make the vector again from these bits alone.
    why : str
        The condition under which it decodes, or the reason why it does not.
    """

    way: str
    bits: float
    decodes: bool
    why: str


def counts(messages: Sparse) -> tuple[Count, ...]:
    """Count messages by the conventions of papers, and as dense vectors.

    If messages have different numbers of entries, each states its number in ceil(log2(d + 1)) bits,
    since it cannot be decoded otherwise. Conventions that omit the indices omit these bits, too.
    """
    d, sizes, width = messages.d, np.array(messages.sizes), FORMATS[messages.value]
    size = 0 if len(set(messages.sizes)) == 1 else d.bit_length()
    values = width * sizes + messages.extra
    index = (d - 1).bit_length()
    sets = np.array([_set_bits(d, int(k)) for k in sizes])
    only = "if the entries come from a common seed"
    if not messages.seeded:
        only = "no: which entries is not known"
    dense_width = 2 if messages.value == "sign" else width
    return (
        Count("values only", float(np.mean(values)), messages.seeded, only),
        Count(
            f"values, and an index of {index} bits each",
            float(np.mean(values + size + index * sizes)),
            True,
            "yes",
        ),
        Count(
            "values, and the number of their set",
            float(np.mean(values + size + sets)),
            True,
            "yes",
        ),
        Count("values, and a bit for every entry", float(np.mean(values)) + d, True, "yes"),
        Count("every entry, zeros as well", float(dense_width * d + messages.extra), True, "yes"),
    )


def described(text: str) -> Sparse:
    """Read a description, such as ``rand-k:12 of 122 in float32``.

    Raises
    ------
    Refusal
        If it cannot be read, has more entries than the vector, or a number of more than 12 digits.
    """
    parts = _DESCRIPTION.fullmatch(text.strip())
    if parts is None:
        raise Refusal(
            f"{text!r} is no file and cannot be read; expected an .npz file, or words such as "
            "'rand-k:12 of 122 in float32'"
        )
    k, d, value = whole(parts[2]), whole(parts[3]), parts[4] or "float32"
    if k is None or d is None:
        raise Refusal(f"a number in {text!r} is too long; take at most 12 digits")
    if value not in FORMATS:
        raise Refusal(f"the format {value!r} is unknown; choose one of {', '.join(FORMATS)}")
    if not 1 <= k <= d:
        raise Refusal(f"{k} entries of a vector of {d}; give from 1 to {d}")
    extra = 32 if value == "sign" else 0
    return Sparse(d, (k,), value, extra, seeded=parts[1] == "rand-k")


def counted_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Sparse]:
    """Look at the messages in arrays whose last axis is the vector, and encode and decode each.

    The format of the values is the narrowest that has them all exactly.

    Raises
    ------
    Refusal
        If an array holds no finite numbers, or there is none.
    """
    if not arrays:
        raise Refusal("the file has no arrays; give one with messages along its last axis")
    found = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or array.ndim == 0 or array.size == 0:
            raise Refusal(f"the array {name} is {array.dtype} of shape {array.shape}; give numbers")
        vectors = array.reshape(-1, array.shape[-1])
        if not np.isfinite(vectors).all():
            raise Refusal(f"the array {name} has a value that is not finite, which is no message")
        sizes = tuple(np.count_nonzero(vectors, axis=1).tolist())
        value, extra = _format(vectors)
        found[name] = Sparse(vectors.shape[1], sizes, value, extra)
        for vector in vectors:
            entries = np.flatnonzero(vector).tolist()
            number = set_number(entries)
            if set_of(number, len(entries), len(vector)) != entries:
                raise ArithmeticError(f"a message of {name} does not decode")
    return found


def set_number(entries: list[int]) -> int:
    """Return the number of a set among all of its size: the sum of comb(entry, place)."""
    return sum(math.comb(entry, place) for place, entry in enumerate(entries, start=1))


def set_of(number: int, size: int, d: int) -> list[int]:
    """Return the set of a number, sorted; the inverse of :func:`set_number`."""
    entries, entry = [], d
    for place in range(size, 0, -1):
        entry -= 1
        while math.comb(entry, place) > number:
            entry -= 1
        number -= math.comb(entry, place)
        entries.append(entry)
    return entries[::-1]


def _set_bits(d: int, k: int) -> int:
    """Bits of the number of a set of k among d: ceil(log2 comb(d, k)).

    Where the number itself would take long, by logarithms of factorials, to about a bit.
    """
    if min(k, d - k) <= _EXACT:
        return (math.comb(d, k) - 1).bit_length()
    return math.ceil(
        (math.lgamma(d + 1) - math.lgamma(k + 1) - math.lgamma(d - k + 1)) / math.log(2)
    )


def _format(vectors: NDArray[Any]) -> tuple[str, int]:
    """Return the narrowest format that has all values exactly, and the bits beside the entries."""
    own = vectors.astype(np.float64)
    kinds = ("float16", "float32", "float64")
    with np.errstate(over="ignore"):
        plain = next(kind for kind in kinds if np.array_equal(own, own.astype(kind)))
    sizes = np.abs(own)
    largest = sizes.max(axis=1, keepdims=True)
    if ((sizes == largest) | (sizes == 0)).all():
        return "sign", FORMATS[plain]
    field = PowersOfTwo()
    try:
        sent = field.from_codes(field.to_codes(own))
    except Refusal:
        return plain, 0
    return ("natural", 0) if np.array_equal(sent, own) else (plain, 0)
