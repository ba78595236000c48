"""What compiled code draws and writes is what numpy does: the same numbers, and the same sums."""

import numpy as np
import pytest

from certibit import compressor
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.fast.fast_world import received
from certibit.solvers.registry import use_extensions

SHAPES = [(1, 1, 1), (5, 7, 3), (40, 8, 1), (6, 8, 5), (3, 5, 64), (2, 200, 1)]


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
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


@pytest.fixture
def loaded():
    with use_extensions("always"):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["rand-k:1", "rand-k:3", "natural"])
def test_messages_are_those_of_numpy(loaded, name, shape):
    n, d, runs = shape
    sent = compressor(name.replace("3", str(min(3, d))))
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
