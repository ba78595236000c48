"""What compiled code draws and writes is what numpy does: the same numbers, and the same sums."""

import os
from itertools import count

import numpy as np
import pytest

from certibit import compressor
from certibit.data.passes import compilation, selection_pass
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.fast import entries
from certibit.solvers.fast.entries import Entries
from certibit.solvers.fast.messages import received
from certibit.solvers.registry import use_extensions

SHAPES = [(1, 1, 1), (5, 7, 3), (40, 8, 1), (6, 8, 5)]


def vectors(shape):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-60, 60, shape)
    if x.size > 8:
        x[0], x[1] = 0.0, np.resize((np.nan, np.inf, -np.inf), x[1].shape)
    return x


def both_ways(sent, x, uniforms):
    """Return what is received by compiled code, and by the compressor's own."""
    with np.errstate(invalid="ignore"):
        return np.asarray(received(sent, x, uniforms)), sent.compress(x, uniforms)


def assert_same(sent, x, uniforms):
    found, expected = both_ways(sent, x, uniforms)
    rtol = 1e-15 if sent.name == "l1" else 0
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)
    assert found.dtype == expected.dtype


@pytest.fixture
def loaded():
    with use_extensions("always"):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["rand-k:1", "rand-k:3", "rand-k:7+natural", "natural", "l1"])
def test_messages_are_those_of_numpy(loaded, name, shape):
    n, d, runs = shape
    sent = compressor(name.replace("7", str(d)).replace("3", str(min(3, d))))
    x = vectors(shape)
    drawn = np.random.default_rng(1).random((runs, n * sent.uniforms(d)))
    uniforms = drawn.T.reshape(n, -1, runs)  # in the order in which streams give them
    assert_same(sent, x, uniforms)


@pytest.mark.parametrize("stretch", [(1, 3, 4), (5, 3, 1), (1, 3, 1)])
@pytest.mark.parametrize("name", ["rand-k:3", "rand-k:3@shared", "natural"])
def test_what_clients_or_runs_have_alike_is_stretched(loaded, name, stretch):
    sent, x = compressor(name), np.random.default_rng(2).standard_normal((5, 12, 4))
    n, _, runs = stretch
    uniforms = np.random.default_rng(1).random((n, sent.uniforms(12), runs))
    assert_same(sent, x, uniforms)


def test_what_a_subclass_receives_is_its_own(loaded):
    class Doubled(RandK):
        def vector(self, message, d):
            return 2 * super().vector(message, d)

    x, uniforms = np.ones((4, 8, 3)), np.full((4, 1, 3), 0.5)
    np.testing.assert_array_equal(
        received(Doubled(1), x, uniforms), 2 * RandK(1).compress(x, uniforms)
    )


def test_the_largest_uniform_number_draws_a_feature(loaded):
    """Rounding brings u |x|_1 up to |x|_1 where this is small; features of size 0 are not drawn."""
    x = np.array([5e-324, 0.0, 3.0, 0.0]).reshape(2, 2, 1)
    uniforms = np.full((2, 1, 1), np.nextafter(1.0, 0.0))
    for vector in both_ways(compressor("l1"), x, uniforms):
        assert vector.ravel().tolist() == [5e-324, 0.0, 3.0, 0.0]


def test_entries_are_written_as_by_numpy(loaded):
    message = compressor("rand-k:3").message(vectors((6, 8, 5)), np.full((6, 3, 5), 0.4))
    expected = np.zeros((6, 8, 5))
    np.put_along_axis(expected, *message, axis=1)
    np.testing.assert_array_equal(np.asarray(Entries(*message, 8)), expected)


def test_code_is_compiled_where_it_was_asked_for_often(monkeypatch):
    monkeypatch.setattr(entries, "_OFTEN", 3)
    monkeypatch.setattr(entries, "_asked", iter(range(10)))
    monkeypatch.setattr(entries, "is_kept", lambda module: False)
    asked = [entries.is_worth_compiling(1, "selection_pass") for _ in range(5)]
    assert asked == [False] * 3 + [True] * 2
    assert entries.is_worth_compiling(1 << 20, "selection_pass")


def test_code_that_was_compiled_once_is_loaded(monkeypatch, tmp_path):
    monkeypatch.setattr(compilation, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(entries, "_asked", count())
    selection_pass.draw_entries  # noqa: B018  (numba is loaded)
    compilation.is_kept.cache_clear()
    assert not entries.is_worth_compiling(1, "selection_pass")
    folder = tmp_path / (f"compiled-{os.geteuid()}" if os.name == "posix" else "compiled")
    (folder / "passes_1").mkdir(mode=0o700)
    (folder / "passes_1" / "selection_pass.draw_entries-21.py311.nbi").touch()
    compilation.is_kept.cache_clear()
    assert entries.is_worth_compiling(1, "selection_pass")
    assert not entries.is_worth_compiling(1, "natural_pass")
    compilation.is_kept.cache_clear()
