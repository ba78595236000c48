"""Bytes: every representable value survives, everything else is refused."""

import numpy as np
import pytest
from compressor_cases import ALL, draw, serves

from certibit.data.errors import Refusal
from certibit.solvers.compressors import wire


def same_bits(a, b):
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


EVERY_CODE = [
    wire.PowersOfTwo(),
    wire.Sign(),
    *[wire.Level(s) for s in (1, 2, 3, 4, 7, 8)],
    *[wire.Index(d) for d in (1, 2, 3, 5, 8, 122, 256)],
]


def valid_codes(field):
    if isinstance(field, wire.Index):
        return np.arange(field.d, dtype=np.uint64)
    codes = np.arange(2**field.width, dtype=np.uint64)
    if isinstance(field, wire.Level):
        return codes[codes % np.uint64(2 ** (field.width - 1)) <= field.s]
    return codes


@pytest.mark.parametrize("field", EVERY_CODE, ids=repr)
def test_every_code_is_the_code_of_its_value(field):
    codes = valid_codes(field)
    values = field.from_codes(codes)
    assert same_bits(field.to_codes(values), codes)
    assert len({(value, np.signbit(value)) for value in values.tolist()}) == codes.size


def test_values_of_natural_codes():
    codes = np.array([0, 1, 127, 254, 255, 256, 257, 511], dtype=np.uint64)
    expected = [0.0, 2.0**-126, 1.0, 2.0**127, np.inf, -0.0, -(2.0**-126), -np.inf]
    values = wire.PowersOfTwo().from_codes(codes)
    np.testing.assert_array_equal(values, expected)
    assert np.signbit(values).tolist() == [False] * 5 + [True] * 3


def test_values_of_level_codes():
    values = wire.Level(2).from_codes(np.arange(7, dtype=np.uint64)[[0, 1, 2, 4, 5, 6]])
    assert str(values.tolist()) == "[0.0, 1.0, 2.0, -0.0, -1.0, -2.0]"


def test_float32_rounds_and_overflows():
    values = np.array([1 / 3, 1e39, -1e39, 1e-46, np.nan])
    field = wire.Float32()
    expected = [float(np.float32(1 / 3)), np.inf, -np.inf, 0.0, np.nan]
    np.testing.assert_array_equal(field.from_codes(field.to_codes(values)), expected)


REFUSED = [
    (wire.PowersOfTwo(), [1.0, 3.0], "3.0 here, it expects zero or plus or minus a power of two"),
    (wire.PowersOfTwo(), [2.0**-127], "power of two"),
    (wire.PowersOfTwo(), [1e-300], "power of two"),
    (wire.Sign(), [1.0, 0.0], "0.0 here, it expects a sign, 1 or -1"),
    (wire.Level(2), [-3.0], "-3.0 here, it expects a level -2..2"),
    (wire.Level(2), [0.5], "a level -2..2"),
    (wire.Level(2), [np.nan], "a level -2..2"),
    (wire.Index(5), [0, 5], "5 here, it expects an index 0..4"),
    (wire.Index(5), [-1], "an index 0..4"),
    (wire.Index(5), [0.5], "an index 0..4"),
]


@pytest.mark.parametrize(("field", "values", "sentence"), REFUSED)
def test_values_outside_are_refused(field, values, sentence):
    with pytest.raises(Refusal, match=sentence):
        field.to_codes(np.array(values))


@pytest.mark.parametrize(
    ("field", "code"), [(wire.Index(5), 5), (wire.Level(2), 3), (wire.Level(4), 13)]
)
def test_codes_without_a_value_are_refused(field, code):
    with pytest.raises(Refusal, match="the wire cannot carry"):
        field.from_codes(np.array([code], dtype=np.uint64))


MIXED = wire.Layout(
    (
        (wire.Index(5), 2),
        (wire.Float32(), 1),
        (wire.PowersOfTwo(), 3),
        (wire.Sign(), 2),
        (wire.Level(4), 1),
    )
)


def mixed_message(n=2, runs=3):
    rng = np.random.default_rng(3)
    return (
        np.argsort(rng.random((n, 5, runs)), axis=1)[:, :2],
        rng.standard_normal((n, 1, runs)).astype(np.float32).astype(np.float64),
        2.0 ** rng.integers(-126, 128, (n, 3, runs)),
        rng.choice([-1.0, 1.0], (n, 2, runs)),
        rng.integers(-4, 5, (n, 1, runs)).astype(np.float64),
    )


def test_layout_against_bit_strings():
    message = mixed_message()
    payload = MIXED.encode(message)
    assert MIXED.bits == 2 * 3 + 32 + 3 * 9 + 2 + 4 == 71
    assert payload.shape == (2, 9, 3)
    assert payload.dtype == np.uint8
    for i in range(2):
        for r in range(3):
            string = "".join(
                format(int(field.to_codes(values[i, j : j + 1, r])[0]), f"0{field.width}b")
                for (field, count), values in zip(MIXED.fields, message, strict=True)
                for j in range(count)
            )
            octets = [string.ljust(72, "0")[8 * b : 8 * b + 8] for b in range(9)]
            assert payload[i, :, r].tolist() == [int(octet, 2) for octet in octets]


@pytest.mark.parametrize(
    ("name", "d"), [(name, d) for name in ALL for d in (1, 2, 3, 8, 13, 122) if serves(name, d)]
)
def test_counted_bits_are_encoded_bits(name, d):
    """The bytes hold the counted bits, zeros after them, and no counted bit is idle.

    What a damaged message decodes to is encoded as the same bytes.
    """
    c, x, u = draw(name, 1, d, 1)
    layout = c.layout(d)
    message = c.message(x, u)
    payload = layout.encode(message)
    assert payload.shape == (1, -(-c.bits(d) // 8), 1)
    bits = np.unpackbits(payload[0, :, 0])
    assert not bits[c.bits(d) :].any()
    known = tuple(m for (f, _), m in zip(layout.fields, message, strict=True)
                  if isinstance(f, wire.Shared))  # fmt: skip
    received = [np.ascontiguousarray(values).tobytes() for values in layout.decode(payload, known)]
    for position in range(c.bits(d)):
        flipped = bits.copy()
        flipped[position] ^= 1
        try:
            other = layout.decode(np.packbits(flipped)[None, :, None], known)
        except Refusal:
            continue
        np.testing.assert_array_equal(layout.encode(other)[0, :, 0], np.packbits(flipped))
        assert [np.ascontiguousarray(values).tobytes() for values in other] != received


def test_a_positive_norm_is_never_0_on_the_wire():
    values = np.array([0.0, -0.0, 1e-60, 2.0**-149, 1.0, np.inf, np.nan, -np.nan])
    field = wire.Norm()
    expected = [0.0, 0.0, 2.0**-149, 2.0**-149, 1.0, np.inf, np.nan, np.nan]
    np.testing.assert_array_equal(field.from_codes(field.to_codes(values)), expected)


LEVELS = wire.Layout(((wire.Norm(), 1), (wire.Level(3), 2)))
INDICES = wire.Layout(((wire.Index(5), 2), (wire.Float32(), 2)))
DRAWN = wire.Layout(((wire.Shared(wire.Index(5)), 2), (wire.Float32(), 2)))


def message(*columns):
    return tuple(np.array(column)[None, :, None] for column in columns)


def payload(text):
    return np.packbits(np.array([bit == "1" for bit in text if bit != " "]))[None, :, None]


NEGATIVE, ZERO, ONE = (format(int(np.float32(x).view(np.uint32)), "032b") for x in (-1.0, 0.0, 1.0))
LOUD = "0 11111111 0" + 22 * "1"
WHOLE, EMPTY = mixed_message(), np.zeros((1, 8, 1), np.uint8)
ENCODED = [
    (LEVELS, message([-1.0], [1.0, 2.0]), "carry -1.0 here, it expects a norm, 0 or above"),
    (LEVELS, message([0.0], [0.0, 2.0]), "carry 2.0 here, it expects a level 0 beside a norm of 0"),
    (INDICES, message([3, 3], [1.0, 2.0]), "carry 3 here, it expects every index once"),
    (DRAWN, message([3, 3], [1.0, 2.0]), "carry 3 here, it expects every index once"),
    (DRAWN, message([3, 5], [1.0, 2.0]), "carry 5 here, it expects an index 0..4"),
    (DRAWN, message(["a", "b"], [1.0, 2.0]), "is no part of a message; give numbers"),
    (INDICES, message([1, 2], [1.0 + 1j, 2.0]), "is no part of a message; give numbers"),
    (MIXED, WHOLE[:-1], r"has \[2, 1, 3, 2, 1\] numbers; encode"),
    (MIXED, (*WHOLE[:-1], WHOLE[-1][:1]), "differ in n or R"),
]
DECODED = [
    (LEVELS, payload(f"{NEGATIVE} 001 000"), (), "carry -1.0 here, it expects a norm"),
    (LEVELS, payload(f"1{31 * '0'} 000 000"), (), "carry -0.0 here, it expects a norm"),
    (LEVELS, payload(f"{ZERO} 000 101"), (), "carry -1.0 here, it expects a level 0 beside a norm"),
    (INDICES, payload(f"011 011 {ONE} {ONE}"), (), "carry 3 here, it expects every index once"),
    (INDICES, payload(f"011 001 {ONE} {LOUD}"), (), "a quiet not-a-number"),
    (LEVELS, payload(f"{ONE} 000 001 01"), (), "bits after the 38 of a message; fill with zeros"),
    (INDICES, 1.0 * EMPTY, (), r"a payload of float64 \(1, 8, 1\) is no message"),
    (INDICES, EMPTY[..., 0], (), r"a payload of uint8 \(1, 8\) is no message"),
    (INDICES, bytes(8), (), r"a payload of bytes \(\) is no message"),
    (DRAWN, EMPTY, message([1, 5]), "carry 5 here, it expects an index 0..4"),
    (DRAWN, EMPTY, message([-1, 2]), "carry -1 here, it expects an index 0..4"),
    (DRAWN, EMPTY, message([2, 2]), "carry 2 here, it expects every index once"),
    (DRAWN, EMPTY, message(["1", "2"]), "is no part of a message"),
    (
        DRAWN,
        EMPTY,
        message([1, 2, 3]),
        r"shared arrays \[\(1, 3, 1\)\] do not fit; this layout has",
    ),
    (DRAWN, EMPTY, message([1, 2], [1, 2]), "do not fit"),
    (DRAWN, EMPTY, (np.array([1, 2]),), "do not fit"),
    (LEVELS, payload(f"{ONE} 000 001"), message([1, 2]), "do not fit"),
    (MIXED, MIXED.encode(WHOLE)[:, :-1], (), "8 bytes per message where its layout has 9"),
]


@pytest.mark.parametrize(("layout", "given", "sentence"), ENCODED)
def test_messages_that_do_not_fit_are_refused(layout, given, sentence):
    with pytest.raises(Refusal, match=sentence):
        layout.encode(given)


@pytest.mark.parametrize(("layout", "given", "shared", "sentence"), DECODED)
def test_bytes_that_encode_cannot_make_are_refused(layout, given, shared, sentence):
    with pytest.raises(Refusal, match=sentence):
        layout.decode(given, shared)


def test_shared_numbers_are_not_sent():
    c, x, u = draw("rand-k:2@shared", 4, 6, 3)
    layout = c.layout(6)
    message = c.message(x, u)
    assert layout.bits == 64
    assert layout.encode(message).shape == (4, 8, 3)
    with pytest.raises(Refusal, match="give decode the shared arrays"):
        layout.decode(layout.encode(message))
    assert same_bits(np.ascontiguousarray(layout.transmit(message)[0]), np.array(message[0]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ALL)
def test_transmit_keeps_the_dtypes(name, dtype):
    c, x, u = draw(name, 2, 5, 3)
    message = c.message(x.astype(dtype), u)
    received = c.layout(5).transmit(message)
    assert [a.dtype for a in received] == [a.dtype for a in message]
    if dtype is np.float32:  # all singles: nothing is rounded
        for sent, got in zip(message, received, strict=True):
            np.testing.assert_array_equal(got, sent)
