"""Messages as bytes: how many bits a message has, and the bits themselves.

A compressor names the layout of its messages; the layout packs them into bytes and back. The
number of bits counted anywhere in the project is :attr:`Layout.bits`, and :meth:`Layout.encode`
makes exactly that many, plus the zeros that fill the last byte.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.solvers.libraries import host, like

Message = tuple[Array, ...]
"""What clients send: one array (n, count, R) per field of the layout."""

Codes = NDArray[np.uint64]
Values = NDArray[Any]


class Field(ABC):
    """One kind of number on the wire: its width, and its values as unsigned integers."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Bits per number."""

    @abstractmethod
    def to_codes(self, values: Values) -> Codes:
        """Return the code of every value; refuses what this kind of number cannot represent."""

    @abstractmethod
    def from_codes(self, codes: Codes) -> Values:
        """Return the value of every code; refuses codes that no value has."""

    def require_fitting(self, values: Values, norm: Values | None) -> None:  # noqa: B027
        """Refuse numbers (n, count, R) that contradict each other or the norm (n, 1, R)."""


@dataclass(frozen=True)
class Float32(Field):
    """A 32-bit float (IEEE 754 binary32): rounded to nearest, infinite above its range.

    Every NaN is sent as a quiet NaN.

    Examples
    --------
    >>> from certibit import Float32
    >>> Float32().width
    32
    """

    width = 32

    def to_codes(self, values: Values) -> Codes:
        return _single(values).astype(np.uint64)

    def from_codes(self, codes: Codes) -> Values:
        low = codes & np.uint64(0x7FFFFFFF)
        loud = (low > np.uint64(_INFINITY)) & (low < np.uint64(_QUIET))
        _require(~loud, codes, "a 32-bit float, or a quiet not-a-number")
        return codes.astype(np.uint32).view(np.float32).astype(np.float64)


@dataclass(frozen=True)
class Norm(Field):
    """A nonnegative 32-bit float that scales the levels after it.

    A positive norm is never rounded to 0, so that all levels are 0 if the norm is.

    Examples
    --------
    >>> from certibit import Norm
    >>> Norm().width
    32
    """

    width = 32

    def to_codes(self, values: Values) -> Codes:
        _require(~(values < 0), values, _NORM)
        return np.maximum(_single(np.abs(values)), values > 0).astype(np.uint64)

    def from_codes(self, codes: Codes) -> Values:
        values = Float32().from_codes(codes)
        _require(~np.signbit(values), values, _NORM)
        return values


@dataclass(frozen=True)
class PowersOfTwo(Field):
    """Zero or plus or minus a power of two: the sign and the 8 exponent bits of a 32-bit float.

    Code 0 of the exponent is zero, code c in 1..254 is 2^(c-127), that is 2^-126 to 2^127, and
    code 255 is infinity, which stands for all that is larger or not a number.

    Examples
    --------
    >>> from certibit import PowersOfTwo
    >>> PowersOfTwo().width
    9
    """

    width = 9

    def to_codes(self, values: Values) -> Codes:
        codes = _single(values) >> np.uint32(23)
        sent = self.from_codes(codes)
        _require((sent == values) | np.isinf(sent), values, "zero or plus or minus a power of two")
        return codes.astype(np.uint64)

    def from_codes(self, codes: Codes | NDArray[np.uint32]) -> Values:
        return (codes.astype(np.uint32) << np.uint32(23)).view(np.float32).astype(np.float64)


@dataclass(frozen=True)
class Sign(Field):
    """Plus or minus one in one bit; the bit is set for minus.

    Examples
    --------
    >>> from certibit import Sign
    >>> Sign().width
    1
    """

    width = 1

    def to_codes(self, values: Values) -> Codes:
        _require(np.abs(values) == 1, values, "a sign, 1 or -1")
        return np.signbit(values).astype(np.uint64)

    def from_codes(self, codes: Codes) -> Values:
        return 1.0 - 2.0 * codes


@dataclass(frozen=True)
class Level(Field):
    """An integer -s..s: one sign bit and ceil(log2(s+1)) bits for the size.

    Examples
    --------
    >>> from certibit import Level
    >>> Level(4).width
    4
    """

    s: int

    @property
    def width(self) -> int:
        return 1 + self.s.bit_length()

    def to_codes(self, values: Values) -> Codes:
        size = np.abs(values)
        _require(
            (size <= self.s) & (size == np.floor(size)), values, f"a level -{self.s}..{self.s}"
        )
        sign = np.signbit(values).astype(np.uint64)
        return (sign << np.uint64(self.width - 1)) | size.astype(np.uint64)

    def from_codes(self, codes: Codes) -> Values:
        top = np.uint64(self.width - 1)
        size = codes & ((np.uint64(1) << top) - np.uint64(1))
        _require(size <= self.s, size, f"a level -{self.s}..{self.s}")
        return np.where(codes >> top, -size.astype(np.float64), size.astype(np.float64))

    def require_fitting(self, values: Values, norm: Values | None) -> None:
        if norm is not None:
            _require((values == 0) | (norm != 0), values, "a level 0 beside a norm of 0")


@dataclass(frozen=True)
class Index(Field):
    """A feature index 0..d-1 in ceil(log2 d) bits (0 bits for d = 1); indices of a field differ.

    Examples
    --------
    >>> from certibit import Index
    >>> Index(100).width
    7
    """

    d: int

    @property
    def width(self) -> int:
        return (self.d - 1).bit_length()

    def to_codes(self, values: Values) -> Codes:
        inside = (values >= 0) & (values < self.d) & (values == np.floor(values))
        _require(inside, values, f"an index 0..{self.d - 1}")
        return values.astype(np.uint64)

    def from_codes(self, codes: Codes) -> Values:
        _require(codes < self.d, codes, f"an index 0..{self.d - 1}")
        return codes.astype(np.int64)

    def require_fitting(self, values: Values, norm: Values | None) -> None:
        ordered = np.sort(values, axis=1)
        _require(np.diff(ordered, axis=1) != 0, ordered[:, 1:], "every index once")


@dataclass(frozen=True)
class Shared(Field):
    """A number that both sides draw from a common seed; it is not sent and costs no bits.

    Parameters
    ----------
    kind : Field, optional
        What kind of number it is.

    Examples
    --------
    >>> from certibit import Shared
    >>> Shared().width
    0
    """

    kind: Field | None = None
    width = 0

    def to_codes(self, values: Values) -> Codes:
        if self.kind is not None:
            self.kind.to_codes(values)
        return np.zeros(values.shape, dtype=np.uint64)

    def from_codes(self, codes: Codes) -> Values:
        raise Refusal(
            "a shared number is not in the bytes; give decode the shared arrays of the message"
        )

    def require_fitting(self, values: Values, norm: Values | None) -> None:
        if self.kind is not None:
            self.kind.require_fitting(values, norm)


@dataclass(frozen=True)
class Layout:
    """The fields of a message in the order they are sent, with how many numbers each has.

    With ``chunks`` the numbers of a field belong to chunks of a vector, as many of each: indices
    differ, and a norm scales, within one.

    Examples
    --------
    >>> from certibit import Float32, Index, Layout
    >>> Layout(((Index(100), 5), (Float32(), 5))).bits
    195
    """

    fields: tuple[tuple[Field, int], ...]
    chunks: int = 1

    @cached_property
    def bits(self) -> int:
        """Bits of one client's message."""
        return sum(field.width * count for field, count in self.fields)

    @property
    def bytes(self) -> int:
        """Bytes of one client's message: ceil(bits / 8)."""
        return -(-self.bits // 8)

    def encode(self, message: Message) -> NDArray[np.uint8]:
        """Pack a message, one array (n, count, R) of numbers per field, into bytes (n, bytes, R).

        The fields follow each other without gaps, the highest bit of each number first; zeros
        fill the last byte.

        Raises
        ------
        Refusal
            If the message does not have the fields of the layout or a value cannot be represented.
        """
        given = tuple(map(host, message))
        shapes, expected = [array.shape for array in given], [count for _, count in self.fields]
        if [shape[1] if len(shape) == 3 else 0 for shape in shapes] != expected:
            raise Refusal(
                f"the message has arrays {shapes} where its layout has {expected} numbers; "
                f"encode it with the layout of the compressor and d that made it"
            )
        if len({(n, runs) for n, _, runs in shapes}) > 1:
            raise Refusal(f"the arrays {shapes} of a message differ in n or R; give those of one")
        for array in given:
            _require_numbers(array)
        codes = [field.to_codes(x) for (field, _), x in zip(self.fields, given, strict=True)]
        self._require_fitting(given)
        pairs = zip(codes, self.fields, strict=True)
        bits = np.concat([_to_bits(numbers, field.width) for numbers, (field, _) in pairs], axis=2)
        return np.moveaxis(np.packbits(bits, axis=2), 2, 1)

    def decode(self, payload: NDArray[np.uint8], shared: Message = ()) -> Message:
        """Unpack bytes (n, bytes, R) of uint8 into the message, on the host.

        ``shared`` are the arrays of the :class:`Shared` fields, which the bytes do not hold.

        Raises
        ------
        Refusal
            If these are not the bytes that :meth:`encode` makes of a message.
        """
        if not isinstance(payload, np.ndarray) or payload.ndim != 3 or payload.dtype != np.uint8:
            kind = f"{getattr(payload, 'dtype', type(payload).__name__)} {np.shape(payload)}"
            raise Refusal(f"a payload of {kind} is no message; give bytes (n, bytes, R) of uint8")
        if payload.shape[1] != self.bytes:
            raise Refusal(
                f"the payload has {payload.shape[1]} bytes per message where its layout has "
                f"{self.bytes}; decode it with the layout that encoded it"
            )
        bits = np.unpackbits(np.moveaxis(payload, 1, 2), axis=2)
        if bits[:, :, self.bits :].any():
            raise Refusal(f"there are bits after the {self.bits} of a message; fill with zeros")
        known = iter(self._known(shared, *payload.shape[::2]))
        message = []
        start = 0
        for field, count in self.fields:
            stop = start + field.width * count
            if isinstance(field, Shared) and shared:
                message.append(next(known))
            else:
                message.append(field.from_codes(_to_codes(bits[:, :, start:stop], count)))
            start = stop
        self._require_fitting(tuple(message))
        return tuple(message)

    def _known(self, shared: Message, n: int, runs: int) -> Message:
        """Return the arrays of the shared fields, or nothing, if they fit."""
        fields = [(f, (n, count, runs)) for f, count in self.fields if isinstance(f, Shared)]
        given = tuple(map(np.asarray, shared))
        if given and [x.shape for x in given] != [shape for _, shape in fields]:
            raise Refusal(
                f"shared arrays {[x.shape for x in given]} do not fit; this layout has "
                f"{[shape for _, shape in fields]}"
            )
        for (field, _), values in zip(fields, given, strict=False):
            _require_numbers(values)
            field.to_codes(values)
        return given

    def _require_fitting(self, message: Message) -> None:
        """Refuse numbers of a message that do not fit each other."""
        norm = None
        for (field, count), numbers in zip(self.fields, message, strict=True):
            n, _, runs = numbers.shape
            values = numbers.reshape(n * self.chunks, count // self.chunks, runs)
            field.require_fitting(values, norm)
            norm = values if isinstance(field, Norm) else None

    def transmit(self, message: Message) -> Message:
        """Return the message as the receiver has it: encoded, decoded, in the arrays' own library.

        Every array keeps its library, device and dtype; its values are those of the wire.
        """
        pairs = zip(self.fields, message, strict=True)
        shared = tuple(host(values) for (field, _), values in pairs if isinstance(field, Shared))
        received = self.decode(self.encode(message), shared)
        return tuple(
            like(sent, values.astype(host(sent).dtype))
            for sent, values in zip(message, received, strict=True)
        )


def position_bits(numbers: Array, d: int) -> Array:
    """Bits of the positions of some of d entries, of each of the numbers of entries."""
    count, index = Index(d + 1).width, Index(d).width
    xp = array_namespace(numbers)
    return count + xp.minimum(numbers * index, xp.full_like(numbers, d))


def _position_layout(number: int, d: int) -> Layout:
    """Return the layout of the positions of some of d entries: the number, then where they are.

    That is in the form that is shorter: their indices, or a sign for each of the d entries.
    """
    listed = number * Index(d).width <= d
    return Layout(((Index(d + 1), 1), (Index(d), number) if listed else (Sign(), d)))


def encode_positions(chosen: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Pack the positions where an array (d,) is true into bytes."""
    places, d = np.flatnonzero(chosen), chosen.size
    layout = _position_layout(places.size, d)
    field, _ = layout.fields[1]
    where = 1 - 2 * chosen if isinstance(field, Sign) else places
    count = np.array([places.size])
    return layout.encode((count[None, :, None], where[None, :, None]))[0, :, 0]


def decode_positions(payload: NDArray[np.uint8], d: int) -> NDArray[np.bool_]:
    """Unpack what :func:`encode_positions` made of an array (d,)."""
    width = Index(d + 1).width
    number = _to_codes(np.unpackbits(payload)[None, None, :width], 1)[0, 0, 0]
    layout = _position_layout(int(number), d)
    _, where = layout.decode(payload[None, :, None])
    if isinstance(layout.fields[1][0], Sign):
        signs: NDArray[np.bool_] = where[0, :, 0] < 0
        return signs
    chosen = np.zeros(d, dtype=bool)
    chosen[where[0, :, 0]] = True
    return chosen


_INFINITY, _QUIET = 0x7F800000, 0x7FC00000
"""As 32-bit floats: infinity, and the first not-a-number that is quiet."""

_NORM = "a norm, 0 or above"


def _require_numbers(values: Values) -> None:
    if values.dtype.kind not in "biuf":
        raise Refusal(f"an array of {values.dtype} is no part of a message; give numbers")


def _single(values: Values) -> NDArray[np.uint32]:
    """Return the bits of the values rounded to 32-bit floats."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32).view(np.uint32)


def _require(allowed: NDArray[np.bool_], values: Values, expected: str) -> None:
    if not allowed.all():
        raise Refusal(
            f"the wire cannot carry {values[~allowed][0]} here, it expects {expected}; "
            f"send only what the compressor's message gave"
        )


def _to_bits(codes: Codes, width: int) -> NDArray[np.uint8]:
    """Codes (n, count, R) to bits (n, R, count * width), the highest first."""
    octets = np.moveaxis(codes, 1, 2).astype(">u8")[..., np.newaxis].view(np.uint8)
    bits = np.unpackbits(octets, axis=3)[..., 64 - width :]
    return bits.reshape(*bits.shape[:2], codes.shape[1] * width)


def _to_codes(bits: NDArray[np.uint8], count: int) -> Codes:
    """Bits (n, R, count * width), the highest first, to codes (n, count, R)."""
    n, runs, length = bits.shape
    width = length // max(count, 1)
    padded = np.zeros((n, runs, count, 64), dtype=np.uint8)
    padded[..., 64 - width :] = bits.reshape(n, runs, count, width)
    codes = np.packbits(padded, axis=3).view(">u8")[..., 0]
    return np.moveaxis(codes, 2, 1).astype(np.uint64)
