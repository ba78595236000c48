"""Compressed messages by compiled code: equal to those of the compressors, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import is_numpy
from certibit.data.errors import Refusal
from certibit.data.passes.compilation import checked
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.natural import Natural, multipliers
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.compressors.two_way import upward
from certibit.solvers.registry import are_forced

LARGE = 1 << 14
"""Numbers in an array (n, d, R) from which on compiled code is faster than numpy."""

Vectors = NDArray[np.float64]


def pays(numbers: int) -> bool:
    """Whether compiled code is faster for so many numbers, or is asked for."""
    return numbers >= LARGE or are_forced()


def received(sent: Compressor, x: Any, uniforms: Vectors) -> Any:
    """Return C(x) of every client and run, (n, d, R).

    Parameters
    ----------
    sent : Compressor
        C. A subclass of the project's compressors does what it defines.
    x : (n, d, R)
        The vectors.
    uniforms : (n, q, R), or (1, q, R)
        The random numbers of the messages.

    Raises
    ------
    Refusal
        If they are not as many numbers of [0, 1) as a message takes.
    """
    sent = upward(sent)
    fits = is_numpy(x) and x.dtype == np.float64 and x.ndim == 3 and pays(x.size)
    way = _WAYS.get(type(sent)) if fits else None
    return sent.compress(x, uniforms) if way is None else way(sent, x, uniforms)


def _natural(sent: Natural, x: Vectors, uniforms: Vectors) -> Vectors:
    from certibit.data.passes import message_passes  # noqa: PLC0415  (numba is slow to import)

    numbers = _stretched(uniforms, x, (sent.uniforms(x.shape[1]), x.shape[1]))
    out = np.array(x, order="C")
    message_passes.powers_of_two(out, numbers, multipliers(np, "cpu", message_passes.AT_ONCE + 1))
    return out


def _rand_k(sent: RandK, x: Vectors, uniforms: Vectors) -> Vectors:
    from certibit.data.passes import message_passes  # noqa: PLC0415  (numba is slow to import)

    sent.check(x.shape[1])
    numbers, out = _stretched(uniforms, x, (sent.k,)), np.zeros(x.shape)
    x = checked("vectors", x, out.shape)
    if not message_passes.keep_entries(x, numbers, x.shape[1] / sent.k, out):
        raise Refusal("a uniform number of a compressor is not in [0, 1); draw all of them there")
    return out


def _stretched(uniforms: Vectors, x: Vectors, counts: tuple[int, ...]) -> Vectors:
    """Return uniforms (n, q, R) for vectors (n, d, R), of clients or runs the same ones."""
    n, _, runs = x.shape
    shapes = [(many, q, each) for q in counts for many in (n, 1) for each in (runs, 1)]
    count = checked("uniforms", uniforms, *dict.fromkeys(shapes)).shape[1]
    return np.ascontiguousarray(np.broadcast_to(uniforms, (n, count, runs)))


_WAYS: dict[type[Compressor], Callable[[Any, Any, Any], Any]] = {
    Natural: _natural,
    RandK: _rand_k,
    Scaled: lambda sent, x, uniforms: received(sent.inner, x, uniforms) * sent.alpha(x.shape[1]),
}
"""How messages of each class are received."""
