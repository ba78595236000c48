"""Constants, names and refusals; and one message on all libraries, dtypes and the wire."""

import re
from itertools import product
from math import ceil, log2, sqrt

import array_api_strict
import numpy as np
import pytest
from compressor_cases import ALL, BIASED, UNBIASED, draw, serves

from certibit.data.errors import Refusal
from certibit.solvers.backend import feature_sum
from certibit.solvers.compressors.selector import NAMES, compressor
from certibit.solvers.libraries import host

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
    "top-k:1+2-bit": lambda d: 34 + index(d),
    "top-k:3+2-bit": lambda d: 38 + 3 * index(d),
    "dct(top-k:1)": lambda d: 32 + index(d),
    "chunked:2(top-k:1)": lambda d: -(-d // 2) * 33,
    "chunked:3(dct(top-k:2+2-bit))": lambda d: -(-d // 3) * (32 + 2 * 4),
    "scaled(rand-k:1)": lambda d: 32 + index(d),
    "scaled(rand-k:2@shared)": lambda d: 64,
    "scaled(natural)": lambda d: 9 * d,
    "scaled(l1)": lambda d: 32 + index(d),
    "scaled(dithering:2)": lambda d: 32 + 3 * d,
    "rand-k:2(top-k:3)": lambda d: 64 + 2 * index(d),
}
OMEGA = {
    "identity": lambda d: 0,
    "rand-k:1": lambda d: d - 1,
    "rand-k:2": lambda d: d / 2 - 1,
    "rand-k:3": lambda d: d / 3 - 1,
    "rand-k:2@shared": lambda d: d / 2 - 1,
    "natural": lambda d: 1 / 8,
    "rand-k:1+natural": lambda d: 9 * d / 8 - 1,
    "rand-k:2+natural": lambda d: 9 * d / 16 - 1,
    "l1": lambda d: d - 1,
    "dithering:1": lambda d: sqrt(d) - 1,
    "dithering:3": lambda d: min(d / 36, sqrt(d) / 3),
    "dithering:4": lambda d: min(d / 64, sqrt(d) / 4),
    "ternary": lambda d: (sqrt(d) - 1) / 2,
}
ALPHA = {
    "top-k:1": lambda d: 1 / d,
    "top-k:2": lambda d: 2 / d,
    "sign": lambda d: 1 / d,
    "top-k:1+2-bit": lambda d: 1 / d,
    "top-k:3+2-bit": lambda d: 27 / 11 / d,
    "dct(top-k:1)": lambda d: 1 / d,
    "chunked:2(top-k:1)": lambda d: 1 / 2,
    "chunked:3(dct(top-k:2+2-bit))": lambda d: 9 / 10 * 2 / 3,
    "scaled(rand-k:1)": lambda d: 1 / d,
    "scaled(rand-k:2@shared)": lambda d: 2 / d,
    "scaled(natural)": lambda d: 8 / 9,
    "scaled(l1)": lambda d: 1 / d,
    "scaled(dithering:2)": lambda d: 1 / (1 + min(d / 16, sqrt(d) / 2)),
    "rand-k:2(top-k:3)": lambda d: 1 / 2 * 3 / d,
}
ABOUT_THE_MEAN = {
    "rand-k:2(top-k:3)": lambda d: (sqrt(1 - 3 / d), 1 / 2),
    "scaled(rand-k:1)": lambda d: (1 - 1 / d, (d - 1) / d**2),
    "scaled(rand-k:2@shared)": lambda d: (1 - 2 / d, (d / 2 - 1) * 4 / d**2),
    "scaled(natural)": lambda d: (1 / 9, 8 / 81),
}


@each_name
def test_table_of_bits(name):
    for d in served(name):
        assert compressor(name).bits(d) == BITS[name](d)


@pytest.mark.parametrize("name", UNBIASED)
def test_table_of_omega(name):
    for d in served(name):
        c = compressor(name)
        assert c.unbiased
        assert c.omega(d) == pytest.approx(OMEGA[name](d), rel=1e-14)
        shared = name.endswith("@shared")
        assert c.omega_av(d, 7) == pytest.approx(OMEGA[name](d) / (1 if shared else 7), rel=1e-14)
        if OMEGA[name](d) < 1:
            assert c.alpha(d) == pytest.approx(1 - OMEGA[name](d), rel=1e-14)
        else:
            with pytest.raises(Refusal, match=r"is no contraction; use scaled\("):
                c.alpha(d)


@pytest.mark.parametrize("name", BIASED)
def test_table_of_alpha(name):
    for d in served(name):
        c = compressor(name)
        assert not c.unbiased
        assert c.alpha(d) == pytest.approx(ALPHA[name](d), rel=1e-14)
        for constant, sizes in ((c.omega, (d,)), (c.omega_av, (d, 3))):
            with pytest.raises(Refusal, match="is biased and has no omega; choose an unbiased one"):
                constant(*sizes)


@each_name
def test_table_of_bias_and_variance(name):
    """By default those of the table, of the whole error where nothing is drawn, and of omega."""
    for d in served(name):
        c = compressor(name)
        if c.unbiased:
            expected = 0.0, OMEGA[name](d)
        elif c.deterministic(d):
            expected = sqrt(1 - ALPHA[name](d)), 0.0
        elif name in ABOUT_THE_MEAN:
            expected = ABOUT_THE_MEAN[name](d)
        else:
            omega = 1 / ALPHA[name](d) - 1
            expected = omega / (1 + omega), omega / (1 + omega) ** 2
        found = c.bias(d), c.relative_variance(d)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_compressor_need_be_no_contraction():
    c = compressor("rand-k:2(top-k:4)")
    assert (c.bias(16), c.relative_variance(16)) == (sqrt(3) / 2, 1.0)
    with pytest.raises(Refusal, match="less than half of its entries and is no contraction"):
        c.alpha(16)


@each_name
def test_name_makes_the_compressor_again(name):
    assert compressor(name).name == name
    assert compressor(name).shared == ("@shared" in name)
    assert compressor(compressor(name).name) == compressor(name)


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
    ("rand-k", "did you mean rand-k:K\\?"),
    ("rand-k:two", "with integers of at least 1 for K and S"),
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
def test_wire_is_normal_up_to_single_precision(name):
    for d, seed in product(served(name), (0, 1)):
        c, x, u = draw(name, 3, d, 2, seed)
        message = c.message(x, u)
        normal = c.vector(message, d)
        wired = c.vector(c.layout(d).transmit(message), d)
        assert np.all(np.abs(wired - normal) <= 2.0**-24 * (1 + 1e-6) * np.abs(normal))


@each_name
def test_clients_and_runs_do_not_see_each_other(name):
    rounding = 1e-14 if "dct" in name else 0  # products sum in another order
    for d in served(name):
        c, x, u = draw(name, 3, d, 4)
        together = c.compress(x, u)
        for i in range(3):
            for r in range(4):
                numbers = u[:, :, r : r + 1] if c.shared else u[i : i + 1, :, r : r + 1]
                alone = c.compress(x[i : i + 1, :, r : r + 1], numbers)
                np.testing.assert_allclose(
                    alone[0, :, 0], together[i, :, r], rtol=1e-15, atol=rounding
                )


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
