"""Expectation and variance, exactly: every outcome of a draw with its probability."""

import re
from itertools import combinations, product

import numpy as np
import pytest
from compressor_cases import ALL, CASES, VECTORS, outcomes, serves
from hypothesis import given, strategies as st

from certibit.data.noise import subsets
from certibit.solvers.backend import round_power_of_two
from certibit.solvers.compressors.natural import multipliers, random_bits, spread_bits
from certibit.solvers.compressors.selector import compressor

TINIEST = 2.0**-126


def beyond_omega(name, d):
    """What natural compression may add to the variance below its smallest power."""
    return d * d * TINIEST**2 if "natural" in name else 0.0


def check_moments(name, x):
    c = compressor(name)
    values, probability = outcomes(c, x)
    rounding = 1e-13 * np.abs(x).max() * x.size + 1e-322  # some steps of subnormal numbers
    lost = 2.0**-178 if "natural" in name else 0.0
    rounding += lost
    square = float(x @ x)
    assert probability.sum() == pytest.approx(1, abs=1e-14)
    mean = values @ probability
    if c.unbiased:
        assert np.abs(mean - x).max() <= rounding
    elif name.startswith("scaled"):
        assert np.abs(mean - x * c.alpha(x.size)).max() <= rounding
    elif not c.deterministic(x.size):
        assert np.abs(mean - c.mean(x[None, :, None])[0, :, 0]).max() <= rounding
    error = ((values - x[:, None]) ** 2).sum(axis=0) @ probability
    about = ((values - mean[:, None]) ** 2).sum(axis=0) @ probability
    room = 1e-12 * square + beyond_omega(name, x.size) + 1e-300
    assert about <= c.relative_variance(x.size) * square + room
    assert ((mean - x) ** 2).sum() <= c.bias(x.size) ** 2 * square + room
    variance = c.variance(x[None, :, None])
    assert variance.shape == (1, 1)
    assert variance[0, 0] == pytest.approx(
        error, rel=1e-12, abs=1e-12 * square + lost * TINIEST * 4 + 1e-300
    )
    bound = c.omega(x.size) if c.unbiased else 1 - c.alpha(x.size)
    # A denormal square has lost its digits, hence the absolute term; where alpha = 1, the square of
    # a rounding is left.
    most = bound * square * (1 + 1e-12) + 1e-30 * square + beyond_omega(name, x.size) + 1e-300
    assert variance[0, 0] <= most
    assert variance[0, 0] >= 0


@pytest.mark.parametrize(("name", "vector"), CASES)
def test_moments_by_enumeration(name, vector):
    check_moments(name, np.array(VECTORS[vector]))


entries = st.one_of(
    st.floats(-1e100, 1e100),
    st.sampled_from([0.0, -0.0, 5e-324, -1e-310, 1e-40, TINIEST, 1.0, -1.0, 1.5, 2.0, 3e100]),
)


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("name", ALL)
@given(data=st.data())
def test_moments_of_any_vector(name, data):
    least = next(d for d in range(1, 5) if serves(name, d))
    x = data.draw(st.lists(entries, min_size=least, max_size=4))
    check_moments(name, np.array(x))


@pytest.mark.parametrize("name", ALL)
def test_outcome_is_constant_inside_a_cell(name):
    """The enumeration evaluates one point of each cell; here two further ones.

    Of subnormal numbers some cells are narrower than the smallest normal number: left out.
    """
    for other, vector in CASES:
        if other != name or vector == "subnormal":
            continue
        x = np.array(VECTORS[vector])
        middle, _ = outcomes(compressor(name), x)
        for fraction in (1e-3, 0.999):
            again, _ = outcomes(compressor(name), x, fraction)
            np.testing.assert_array_equal(again, middle, err_msg=vector)


@pytest.mark.parametrize("name", [x for x in ALL if not re.search("sign", x)])
def test_zero_entries_stay_zero(name):
    """Also where a uniform number is 0, and where its product with a norm rounds up to the norm."""
    c, vectors = compressor(name), ([0.0, 3.0, 0.0], [0.0, 5e-324, -0.0], [0.0, -0.7, 1e300])
    for u, vector in product((0.0, 0.9, 1 - 2.0**-53), vectors):
        x = np.array(vector)[None, :, None]
        y = c.compress(x, np.full((1, c.uniforms(3), 1), u))
        assert not y[x == 0].any()
        if name == "l1":
            assert np.abs(y).sum() == np.abs(x).sum()


ABOUT_THE_MEAN = [
    ("top-k:2", [1.0, 1.0, -1.0, 1.0], [1.0, 2.0, 0.0]),
    ("rand-k:2(top-k:3)", [1.0, 1.0, -1.0, 1.0], [3.0, 0.0, 1.0]),
    ("scaled(rand-k:1)", [0.4, -7.0, 2.0], [0.4, -7.0, 2.0]),
    ("scaled(natural)", [4 / 3, -8 / 3, 1 / 3], [4 / 3, -8 / 3, 1 / 3]),
]


@pytest.mark.parametrize(("name", "biased", "varied"), ABOUT_THE_MEAN)
def test_bias_and_variance_are_attained(name, biased, varied):
    c = compressor(name)
    x, y = np.array(biased), np.array(varied)
    values, probability = outcomes(c, x)
    assert np.linalg.norm(values @ probability - x) == pytest.approx(
        c.bias(x.size) * np.linalg.norm(x), rel=1e-12
    )
    values, probability = outcomes(c, y)
    about = ((values - (values @ probability)[:, None]) ** 2).sum(axis=0) @ probability
    assert about == pytest.approx(c.relative_variance(y.size) * (y @ y), rel=1e-12)


@pytest.mark.parametrize(("d", "k"), [(d, k) for d in range(1, 7) for k in range(1, d + 1)])
def test_subsets_are_uniform(d, k):
    cells = [(np.arange(j) + 0.5) / j for j in range(d - k + 1, d + 1)]
    uniforms = np.array(list(product(*cells))).T[None]
    drawn = subsets(uniforms, d)
    assert drawn.shape == uniforms.shape
    subset, count = np.unique(np.sort(drawn[0], axis=0), axis=1, return_counts=True)
    assert [tuple(s) for s in subset.T] == list(combinations(range(d), k))
    assert len(set(count)) == 1


@pytest.mark.parametrize(("d", "k"), [(1, 1), (7, 3), (10**6, 2)])
def test_subsets_stay_inside_at_the_ends(d, k):
    uniforms = np.stack([np.zeros((1, k)), np.full((1, k), 1 - 2.0**-53)], axis=2)
    drawn = subsets(uniforms, d)[0]
    assert drawn.min() >= 0
    assert drawn.max() <= d - 1
    assert all(len(set(column)) == k for column in drawn.T)


@pytest.mark.parametrize("k", [1, 2, 4])
@given(data=st.data())
def test_top_k_keeps_the_largest(k, data):
    x = np.array(data.draw(st.lists(entries, min_size=k, max_size=6)))
    c = compressor(f"top-k:{k}")
    indices, values = c.message(x[None, :, None], np.empty((1, 0, 1)))
    kept = indices[0, :, 0]
    assert len(set(kept)) == k
    np.testing.assert_array_equal(values[0, :, 0], x[kept])
    left = np.delete(np.abs(x), kept)
    assert np.abs(x[kept]).min() >= left.max(initial=0.0)
    y = c.compress(x[None, :, None], np.empty((1, 0, 1)))[0, :, 0]
    np.testing.assert_array_equal(y[kept], x[kept])
    assert not np.delete(y, kept).any()


def test_top_k_takes_the_first_of_equal_entries():
    x = np.array([1.0, -2.0, 2.0, -1.0, 1.0])
    indices, _ = compressor("top-k:3").message(x[None, :, None], np.empty((1, 0, 1)))
    assert indices[0, :, 0].tolist() == [1, 2, 0]


@pytest.mark.parametrize("d", [1, 2])
def test_few_entries_of_natural_compression_have_a_number_each(d):
    uniforms = np.random.default_rng(0).random((3, compressor("natural").uniforms(d), 2))
    np.testing.assert_array_equal(spread_bits(uniforms, d), random_bits(uniforms))


@pytest.mark.parametrize("d", [3, 300])
def test_numbers_of_natural_compression_are_uniform(d):
    """The first number shifts the bits of every entry, which runs through all of them by that."""
    first, other, second = np.random.default_rng(0).random((3, 4, 1, 2))
    made, moved, alone = (
        spread_bits(np.concatenate(both, axis=1), d)
        for both in ((first, second), (other, second), (first, 0 * second))
    )
    assert made.shape == (4, d, 2)
    np.testing.assert_array_equal(
        (moved - made) % 2**52, np.repeat(random_bits(other) - random_bits(first), d, 1) % 2**52
    )
    np.testing.assert_array_equal(alone, np.repeat(random_bits(first), d, axis=1))


def test_two_entries_of_natural_compression_are_independent():
    """The second number shifts entries against each other by its odd multiple, or 4 (j - k) of it.

    So their difference runs through all multiples of that power of two, equally often.
    """
    d, one = 300, np.array([0.0, 2.0**-52])[None, :, None]
    powers = spread_bits(one, d)[0, :, 0].astype(np.int64)
    apart = (powers[:, None] - powers) % 2**52
    place = np.arange(d)[:, None] - np.arange(d)
    off = place != 0
    np.testing.assert_array_equal((apart & -apart)[off], 4 * (place & -place)[off])
    assert (apart & -apart)[off].max() <= 4 * d


def test_the_multiplier_of_natural_compression_passes_the_spectral_test():
    """In two dimensions: the shortest vector (-a t mod m, t), by the reduction of Gauss."""
    m, a = 2**52, int(multipliers(np, "cpu", 2)[1])
    long, short = (m, 0), (-a % m, 1)

    def product_of(u, v):
        return u[0] * v[0] + u[1] * v[1]

    while (size := product_of(short, short)) < product_of(long, long):
        times = (2 * product_of(long, short) + size) // (2 * size)
        rest = tuple(x - times * y for x, y in zip(long, short, strict=True))
        long, short = short, rest
    assert product_of(long, long) > 0.1 * m


@pytest.mark.parametrize("places", [(0, 1), (0, 1, 2), (4, 5, 6, 8)])
def test_entries_of_natural_compression_are_rounded_up_together_as_if_independent(places):
    """Measured with 200,000 messages; a false alarm in 10^9."""
    uniforms = np.random.default_rng(len(places)).random((200_000, 2, 1))
    up = (spread_bits(uniforms, 9)[:, places, 0] < 0.3 * 2**52).all(axis=1)
    p = 0.3 ** len(places)
    assert abs(up.mean() - p) <= 6.2 * (p * (1 - p) / up.size) ** 0.5


def test_natural_rounds_up_by_the_share_of_the_mantissa():
    """Every count of 0 ... 2^10 of a mantissa of ten bits, with all random bits that matter."""
    bits = (np.arange(1024) << 42)[None, None, :] + (1 << 41)
    for count in range(0, 1024, 31):
        x = np.full((1, 1, 1024), -(1 + count / 1024))
        rounded = round_power_of_two(x, bits)
        assert set(rounded.ravel()) <= {-1.0, -2.0}
        assert np.count_nonzero(rounded == -2.0) == count


class TestNaturalAtTheEndsOfItsRange:
    """The grid of powers is 0, 2^-126, 2^-125, ..., 2^127 on the wire."""

    c = compressor("natural")

    def send(self, x, u):
        message = self.c.message(np.full((1, 1, 1), x), np.full((1, 1, 1), u))
        (received,) = self.c.layout(1).transmit(message)
        return float(message[0][0, 0, 0]), float(received[0, 0, 0])

    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize(
        ("x", "u", "sent"),
        [
            (TINIEST, 0.0, TINIEST),
            (0.75 * TINIEST, 0.74, TINIEST),
            (0.75 * TINIEST, 0.75, 0.0),
            (1.75 * TINIEST, 0.74, 2 * TINIEST),
            (1.75 * TINIEST, 0.75, TINIEST),
            (2.0**-178, 0.0, TINIEST),
            (2.0**-178, 2.0**-52, 0.0),
            (5e-324, 0.0, 0.0),
            (2.0**127, 0.0, 2.0**127),
            (1.5 * 2.0**126, 0.4, 2.0**127),
            (4 / 3, 0.3333, 2.0),
            (4 / 3, 0.3334, 1.0),
            (1.0, 0.0, 1.0),
        ],
    )
    def test_inside(self, x, u, sent, sign):
        assert self.send(sign * x, u) == (sign * sent, sign * sent)

    @pytest.mark.parametrize("x", [1.5 * 2.0**127, 2.0**128, 1e300, np.inf])
    def test_above_is_infinite_on_the_wire(self, x):
        with np.errstate(invalid="ignore"):
            assert self.send(x, 0.1)[1] == np.inf
            assert self.send(-x, 0.1)[1] == -np.inf

    def test_singles_have_the_same_range(self):
        x = np.array([1e-40, -3e-39, 2.0**-126, 3.0, 1e38], dtype=np.float32)[None, :, None]
        u = np.array([0.0, 0.9, 0.9, 0.4, 0.9])[None, :, None]
        y = round_power_of_two(x, random_bits(u))
        assert y.dtype == np.float32
        assert self.c.compress(x, u[:, :2]).dtype == np.float32
        np.testing.assert_array_equal(y[0, :, 0], [TINIEST, 0, TINIEST, 4, 2.0**126])
