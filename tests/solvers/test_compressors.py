"""Constants, names and refusals; and one message on all libraries, dtypes and the wire."""

import re
from math import ceil, log2, sqrt

import array_api_strict
import numpy as np
import pytest
from compressor_cases import ALL, draw, serves

from certibit import DIANA, EF21PDIANA, Experiment, Quadratic, Refusal, compressor
from certibit.solvers.backend import feature_sum
from certibit.solvers.compressors.composition import downward, upward
from certibit.solvers.compressors.selector import NAMES
from certibit.solvers.libraries import host
from certibit.theory.checks.compressor.compression import compressor_checks

DIMENSIONS = [1, 2, 3, 5, 8, 9, 122]
each_name = pytest.mark.parametrize("name", ALL)


def served(name):
    return [d for d in DIMENSIONS if serves(name, d)]


def index(d):
    return ceil(log2(d))


BITS = {
    "identity": lambda d: 32 * d,
    "rand-k:1": lambda d: 32 + index(d),
    "rand-k:2": lambda d: 64 + 2 * index(d),
    "rand-k:3": lambda d: 96 + 3 * index(d),
    "rand-k:2@shared": lambda d: 64,
    "natural": lambda d: 9 * d,
    "rand-k:1+natural": lambda d: 9 + index(d),
    "rand-k:2+natural": lambda d: 18 + 2 * index(d),
    "l1": lambda d: 32 + index(d),
    "dithering:1": lambda d: 32 + 2 * d,
    "dithering:3": lambda d: 32 + 3 * d,
    "dithering:4": lambda d: 32 + 4 * d,
    "ternary": lambda d: 32 + 2 * d,
    "top-k:1": lambda d: 32 + index(d),
    "top-k:2": lambda d: 64 + 2 * index(d),
    "sign": lambda d: 32 + d,
    "chunked:2(top-k:1)": lambda d: -(-d // 2) * 33,
    "chunked:3(sign)": lambda d: -(-d // 3) * (32 + 3),
    "scaled(rand-k:1)": lambda d: 32 + index(d),
    "scaled(rand-k:2@shared)": lambda d: 64,
    "scaled(natural)": lambda d: 9 * d,
    "scaled(l1)": lambda d: 32 + index(d),
    "scaled(dithering:2)": lambda d: 32 + 3 * d,
    "rand-k:2(top-k:3)": lambda d: 64 + 2 * index(d),
}


@each_name
def test_table_of_bits(name):
    for d in served(name):
        assert compressor(name).bits(d) == BITS[name](d)


UNATTAINED = {
    "identity": lambda d: 0,
    "dithering:3": lambda d: min(d / 36, sqrt(d) / 3),
    "dithering:4": lambda d: min(d / 64, sqrt(d) / 4),
    "chunked:2(top-k:1)": lambda d: 1 / 2,
    "chunked:3(sign)": lambda d: 1 / 3,
    "scaled(dithering:2)": lambda d: 1 / (1 + min(d / 16, sqrt(d) / 2)),
}
"""The omega or alpha of those that name no vector at which it is attained, as the others do."""


@each_name
def test_all_checks_hold(name):
    """Constants at the vectors that attain them, bytes, clients and runs alone."""
    c = compressor(name)
    assert [v.advice for v in compressor_checks(c, draws=1000) if not v.holds] == []
    for d in served(name):
        constant = c.omega(d) if c.unbiased else c.alpha(d)
        if name in UNATTAINED:
            assert constant == pytest.approx(UNATTAINED[name](d), rel=1e-14)
        else:
            assert c.hardest(d) is not None


@each_name
def test_name_makes_the_compressor_again(name):
    assert compressor(name).name == name
    assert compressor(name).shared == ("@shared" in name)
    assert compressor(compressor(name).name) == compressor(name)


@each_name
def test_constants_that_are_not_there_are_refused(name):
    for d in served(name):
        c = compressor(name)
        if not c.unbiased:
            for constant, sizes in ((c.omega, (d,)), (c.omega_av, (d, 3))):
                with pytest.raises(Refusal, match="is biased and has no omega; choose an unbiased"):
                    constant(*sizes)
        elif c.omega(d) < 1:
            assert c.alpha(d) == pytest.approx(1 - c.omega(d), rel=1e-14)
        else:
            with pytest.raises(Refusal, match=r"is no contraction; use scaled\("):
                c.alpha(d)


def test_a_compressor_need_be_no_contraction():
    c = compressor("rand-k:2(top-k:4)")
    assert (c.bias(16), c.relative_variance(16)) == (sqrt(3) / 2, 1.0)
    with pytest.raises(Refusal, match="less than half of its entries and is no contraction"):
        c.alpha(16)


def test_every_form_of_a_selector_is_understood():
    made = [
        compressor(
            re.sub("COMPRESSOR|UP|DOWN", "l1", form.replace("BIASED", "sign"))
            .replace("K", "2")
            .replace("S", "4")
        )
        for form in NAMES
    ]
    assert len(set(made)) == len(NAMES) - 1  # qsgd is another name of dithering
    assert compressor("qsgd:4") == compressor("dithering:4")
    assert compressor("scaled(rand-k:2+natural)").name == "scaled(rand-k:2+natural)"


REFUSED = [
    ("foo", r"no compressor is called 'foo'; choose one of identity, natural"),
    ("natral", "did you mean natural\\?"),
    ("rand-k", "did you mean rand-k:K, such as rand-k:2\\?"),
    ("rand-k:two", "did you mean rand-k:K, such as rand-k:2"),
    ("rand-k:-1", "no compressor is called 'rand-k:-1'"),
    ("rand-k:2+l1", "no compressor is called 'rand-k:2\\+l1'"),
    ("", "no compressor is called ''"),
    ("rand-k:3(top-k:2)", "rand-k:3 keeps 3 of d = 2 entries"),
    ("rand-k:2(sign)", "no compressor is called"),
    ("rand-k:0", "rand-k has k = 0, which must be an integer of at least 1"),
    ("rand-k:0+natural", "rand-k has k = 0"),
    ("top-k:0", "top-k has k = 0"),
    ("qsgd:0", "dithering has s = 0"),
    ("scaled(sign)", "takes an unbiased compressor and 'sign' is biased"),
    ("scaled(foo)", "no compressor is called 'foo'"),
]


@pytest.mark.parametrize(("selector", "sentence"), REFUSED)
def test_selectors_are_refused(selector, sentence):
    with pytest.raises(Refusal, match=sentence):
        compressor(selector)


@pytest.mark.parametrize(
    "name", ["rand-k:4", "rand-k:4@shared", "rand-k:4+natural", "top-k:4", "scaled(rand-k:4)"]
)
def test_more_entries_than_there_are_is_refused(name):
    c, x, u = draw(name, 2, 3, 1)
    constant = c.omega if c.unbiased else c.alpha
    for use in (c.check, c.bits, constant, lambda _: c.message(x, u), lambda _: c.variance(x)):
        with pytest.raises(Refusal, match="keeps 4 of d = 3 entries; choose k between 1 and 3"):
            use(3)
    c.check(4)


@each_name
def test_strict_arrays_give_the_same_numbers(name):
    d = 7
    c, x, u = draw(name, 3, d, 2)
    x[0] = 0.0
    x_strict, u_strict = array_api_strict.asarray(x), array_api_strict.asarray(u)
    message, message_strict = c.message(x, u), c.message(x_strict, u_strict)
    pairs = [
        *zip(message, message_strict, strict=True),
        *zip(c.layout(d).transmit(message), c.layout(d).transmit(message_strict), strict=True),
        (c.vector(message, d), c.vector(message_strict, d)),
        (c.variance(x), c.variance(x_strict)),
    ]
    for expected, strict in pairs:
        assert isinstance(strict, type(x_strict))
        assert host(strict).dtype == expected.dtype
        np.testing.assert_allclose(host(strict), expected, rtol=1e-15, atol=0)


@each_name
def test_singles_stay_singles(name):
    c, x, u = draw(name, 3, 5, 2)
    single = c.compress(x.astype(np.float32), u)
    assert single.dtype == np.float32
    assert c.variance(x.astype(np.float32)).dtype == np.float32
    # Rounding x may turn a draw near its edge; not with this seed.
    np.testing.assert_allclose(single, c.compress(x, u), rtol=1e-5)


@each_name
def test_divergence_passes_through_the_wire(name):
    for value in (np.nan, np.inf, -np.inf, 1e308):
        c, x, u = draw(name, 3, 4, 2)
        x[1] = value
        x[2, 1:, 0] = value
        with np.errstate(all="ignore"):
            message = c.message(x, u)
            received = c.vector(c.layout(4).transmit(message), 4)
        assert np.isfinite(received[0]).all()
        assert np.isfinite(received[2, :, 1]).all()
        assert not np.isfinite(received[1]).all()


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 1, 2), (2, 5, 1), (2, 5, 3)])
def test_sums_over_the_features(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    for given in (x, array_api_strict.asarray(x)):
        np.testing.assert_allclose(host(feature_sum(given)), x.sum(axis=1, keepdims=True), 1e-13)


PROBLEM = Quadratic.random(3, 6, mu=1.0, L=10.0)
METHOD = EF21PDIANA(gamma=0.001, beta=0.3)


def test_a_pair_is_made_again_by_its_name():
    pair = compressor("two-way(rand-k:2;scaled(rand-k:1))")
    assert compressor(pair.name) == pair
    assert (upward(pair).name, downward(pair).name) == ("rand-k:2", "scaled(rand-k:1)")
    assert downward(compressor("natural")).name == "identity"


@pytest.mark.parametrize(
    ("method", "selector", "words"),
    [
        (DIANA(0.01, 0.3), "two-way(rand-k:2;top-k:2)", "broadcasts uncompressed vectors"),
        (METHOD, "two-way(top-k:2;top-k:2)", "biased and ef21p-diana needs an unbiased"),
        (METHOD, "two-way(rand-k:2;rand-k:2)", "is no contraction"),
        (METHOD, "two-way(rand-k:2;top-k:7)", "top-k:7"),
        (METHOD, "two-way(rand-k:2;two-way(natural;natural))", "goes both ways already"),
    ],
)
def test_what_does_not_fit_is_refused(method, selector, words):
    with pytest.raises(Refusal, match=words):
        Experiment.of(method, PROBLEM, compressor(selector))


def compressed(name, x):
    """Return C(x) of one vector (d,)."""
    return compressor(name).mean(x[None, :, None])[0, :, 0]


@pytest.mark.parametrize("inner", ["top-k:2", "sign"])
@pytest.mark.parametrize("d", [1, 4, 5, 11, 12])
def test_every_chunk_is_compressed_by_itself(inner, d):
    """The last one is filled with zeros."""
    x = np.random.default_rng(d).standard_normal(d)
    filled = np.append(x, np.zeros(-d % 4)).reshape(-1, 4)
    expected = np.ravel([compressed(inner, part) for part in filled])[:d]
    np.testing.assert_allclose(compressed(f"chunked:4({inner})", x), expected, rtol=1e-14)


def test_indices_are_those_within_a_chunk():
    """They may be equal in two chunks, and not in one; every index has the bits of a chunk's."""
    c = compressor("chunked:4(top-k:2)")
    x = np.tile([0.0, 3.0, 0.0, -1.0], 3)[None, :, None]
    layout, (indices, values) = c.layout(12), c.message(x, x[:, :0])
    assert indices.ravel().tolist() == [1, 3] * 3
    assert layout.bits == 3 * 2 * (2 + 32)
    decoded = layout.decode(layout.encode((indices, values)))
    np.testing.assert_array_equal(c.vector(decoded, 12), x)
    twice = np.array([1, 1, 3, 1, 3, 1])[None, :, None]
    with pytest.raises(Refusal, match="every index once"):
        layout.encode((twice, values))


@pytest.mark.parametrize("inner", ["natural", "scaled(rand-k:1)", "identity"])
def test_compressors_that_draw_are_refused(inner):
    with pytest.raises(Refusal, match="give one such as top-k:4"):
        compressor(f"chunked:4({inner})")


def test_a_chunk_that_is_too_small_is_refused():
    with pytest.raises(Refusal, match="keeps 5 of d = 4 entries"):
        compressor("chunked:4(top-k:5)").check(100)
