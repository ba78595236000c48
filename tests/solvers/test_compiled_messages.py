"""What compiled code draws and writes is what numpy does: the same numbers, and the same sums."""

import numpy as np
import pytest

from certibit import compressor
from certibit.data.compiled import compilation
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.entries import Entries

SHAPES = [(1, 1, 1), (5, 7, 3), (40, 8, 1), (6, 8, 5)]


def vectors(shape):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-60, 60, shape)
    if x.size > 8:
        x[0], x[1] = 0.0, np.resize((np.nan, np.inf, -np.inf), x[1].shape)
    return x


def both_ways(monkeypatch, sent, x, uniforms):
    """Return what is received with compiled code and without."""
    found = []
    for compile_ in ("1", "0"):
        monkeypatch.setenv("CERTIBIT_COMPILE", compile_)
        with np.errstate(invalid="ignore"):
            message = sent.message(x, uniforms)
            received = sent.compress(x, uniforms)
        vector = np.asarray(sent.vector(message, x.shape[1]))
        np.testing.assert_array_equal(received, vector)
        found.append((*message, vector))
    return found


@pytest.fixture
def loaded(monkeypatch):
    monkeypatch.setattr(compilation, "_MANY", 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["rand-k:1", "rand-k:3", "rand-k:7+natural", "natural", "l1"])
def test_messages_are_those_of_numpy(monkeypatch, loaded, name, shape):
    n, d, runs = shape
    sent = compressor(name.replace("7", str(d)).replace("3", str(min(3, d))))
    x = vectors(shape)
    drawn = np.random.default_rng(1).random((runs, n * sent.uniforms(d)))
    uniforms = drawn.T.reshape(n, -1, runs)  # in the order in which streams give them
    for got, expected in zip(*both_ways(monkeypatch, sent, x, uniforms), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-15 if name == "l1" else 0, atol=0)
        assert got.dtype == expected.dtype


@pytest.mark.parametrize("stretch", [(1, 3, 4), (5, 3, 1), (1, 3, 1)])
@pytest.mark.parametrize("name", ["rand-k:3", "rand-k:3@shared", "natural"])
def test_what_clients_or_runs_have_alike_is_stretched(monkeypatch, loaded, name, stretch):
    sent, x = compressor(name), np.random.default_rng(2).standard_normal((5, 12, 4))
    n, _, runs = stretch
    uniforms = np.random.default_rng(1).random((n, sent.uniforms(12), runs))
    for got, expected in zip(*both_ways(monkeypatch, sent, x, uniforms), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-15, atol=0)


def test_what_a_subclass_receives_is_its_own(loaded):
    class Doubled(RandK):
        def vector(self, message, d):
            return 2 * super().vector(message, d)

    x, uniforms = np.ones((4, 8, 3)), np.full((4, 1, 3), 0.5)
    np.testing.assert_array_equal(
        Doubled(1).compress(x, uniforms), 2 * RandK(1).compress(x, uniforms)
    )


def test_the_largest_uniform_number_draws_a_feature(monkeypatch, loaded):
    """Rounding brings u |x|_1 up to |x|_1 where this is small; features of size 0 are not drawn."""
    x = np.array([5e-324, 0.0, 3.0, 0.0]).reshape(2, 2, 1)
    uniforms = np.full((2, 1, 1), np.nextafter(1.0, 0.0))
    for index, value, _ in both_ways(monkeypatch, compressor("l1"), x, uniforms):
        assert index.ravel().tolist() == [0, 0]
        assert value.ravel().tolist() == [5e-324, 3.0]


def test_entries_are_written_as_by_numpy(monkeypatch, loaded):
    message = compressor("rand-k:3").message(vectors((6, 8, 5)), np.full((6, 3, 5), 0.4))
    entries = Entries(*message, 8)
    written = np.asarray(entries)
    monkeypatch.setenv("CERTIBIT_COMPILE", "0")
    np.testing.assert_array_equal(written, np.asarray(entries))


def test_compiled_code_is_loaded_where_it_was_asked_for_often(monkeypatch):
    monkeypatch.delitem(compilation.sys.modules, "numba", raising=False)
    monkeypatch.setattr(compilation, "_OFTEN", 3)
    monkeypatch.setattr(compilation, "_asked", iter(range(10)))
    assert [compilation.is_worth_loading(1) for _ in range(5)] == [False] * 3 + [True] * 2
    assert compilation.is_worth_loading(1 << 20)
    monkeypatch.setenv("CERTIBIT_COMPILE", "0")
    assert not compilation.is_worth_loading(1 << 20)
