"""Compressors of chunks and of cosine coefficients, and values of two bits."""

import numpy as np
import pytest

from certibit import Refusal, compressor


def compressed(name, x):
    """Return C(x) of one vector (d,)."""
    return compressor(name).mean(x[None, :, None])[0, :, 0]


@pytest.mark.parametrize("inner", ["top-k:2", "top-k:2+2-bit", "dct(top-k:2)", "sign"])
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


def test_the_transform_is_orthonormal_and_finds_a_cosine():
    d = 16
    wave = np.cos(np.pi * 3 * (2 * np.arange(d) + 1) / (2 * d))
    np.testing.assert_allclose(compressed("dct(top-k:1)", wave), wave, atol=1e-14)
    x = np.random.default_rng(0).standard_normal(d)
    np.testing.assert_allclose(compressed(f"dct(top-k:{d})", x), x, atol=1e-14)


def test_two_bits_are_the_best_of_their_scale():
    x = np.array([0.1, -4.0, 1.0, 0.0, 3.0])
    p = np.array([0, -3, 1, 0, 3])
    expected = (x @ p) / (p @ p) * p
    np.testing.assert_allclose(compressed("top-k:3+2-bit", x), expected, rtol=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 50])
def test_the_alpha_of_two_bits_holds_and_is_attained(k):
    """By one entry that is not 0, where all d are kept; searched near it and at random."""
    c, rng = compressor(f"top-k:{k}+2-bit"), np.random.default_rng(k)
    x = np.concatenate([rng.standard_normal((400, k)) ** 3, rng.uniform(0, 1, (400, k))])
    x[:400] *= rng.random((400, 1)) < 0.9
    x[400:, 0] = rng.choice([1.0, 2.0], 400)
    x = np.concatenate([x, np.eye(k)[:1]])[:, :, None]
    left = c.variance(x)[:, 0] / np.maximum(1e-300, np.sum(x**2, axis=(1, 2)))
    assert left.max() <= 1 - c.alpha(k) + 1e-12
    assert left[-1] == pytest.approx(1 - c.alpha(k), abs=1e-15)


@pytest.mark.parametrize("inner", ["natural", "scaled(rand-k:1)", "identity"])
@pytest.mark.parametrize("form", ["chunked:4({})", "dct({})"])
def test_compressors_that_draw_are_refused(form, inner):
    with pytest.raises(Refusal, match="give one such as top-k:4"):
        compressor(form.format(inner))


def test_a_chunk_that_is_too_small_is_refused():
    with pytest.raises(Refusal, match="keeps 5 of d = 4 entries"):
        compressor("chunked:4(top-k:5)").check(100)
