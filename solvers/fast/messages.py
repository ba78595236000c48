"""Compressed messages by compiled code: equal to those of the compressors, bit for bit.

Few entries of large vectors are received as :class:`Entries`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import is_numpy
from certibit.data.errors import Refusal
from certibit.data.noise import subsets
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import RandKNatural, Scaled
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.natural import Natural, multipliers, powers_near
from certibit.solvers.compressors.selection import L1Selection, RandK, TopK
from certibit.solvers.compressors.two_way import upward
from certibit.solvers.fast.columns import Columns
from certibit.solvers.fast.deferred import written
from certibit.solvers.fast.entries import Entries, is_worth_compiling
from certibit.solvers.fast.lazy_gradient import LazyGradient

LARGE = 1 << 14
"""Numbers in vectors (n, d, R) from which on few entries of them are not written out."""
_FEW = 16
"""Features per entry that is sent, at least, for which the other entries are not evaluated."""

Selected = tuple[NDArray[np.int64], Any]
"""Features and what is sent of them, (n, k, R) each."""


def received(sent: Compressor, x: Any, uniforms: NDArray[np.float64]) -> Any:
    """Return C(x) of every client and run, (n, d, R), perhaps :class:`Deferred`.

    Parameters
    ----------
    sent : Compressor
        C. A subclass of the project's compressors does what it defines.
    x : (n, d, R)
        The vectors, perhaps deferred ones.
    uniforms : (n, q, R), or (1, q, R)
        The random numbers of the messages.
    """
    sent = upward(sent)
    way = _WAYS.get(type(sent))
    return sent.compress(written(x), uniforms) if way is None else way(sent, x, uniforms)


def _rand_k(sent: Any, x: Any, uniforms: Any) -> Any:
    d, k = x.shape[1], sent.k
    if not _is_large(x, k) and _is_compiled(x, uniforms):
        out = np.zeros(x.shape)
        _in_one_pass("keep_entries", k, x, uniforms, d / k, out)
        return out
    indices, values = few_entries(x, k, uniforms)
    return _scattered(indices, values * (d / k), x)


def _rand_k_natural(sent: Any, x: Any, uniforms: Any) -> Any:
    d, k = x.shape[1], sent.k
    indices, values = few_entries(x, k, uniforms[:, :k])
    return _scattered(indices, rounded_to_powers(values, uniforms[:, k:]) * (d / k), x)


def _by_size(sent: Any, x: Any, uniforms: Any) -> Any:
    x = written(x)
    own = not _is_plain(x)
    found = sent.message(x, uniforms) if own else _in_one_pass("draw_by_size", 1, x, uniforms)
    indices, values = found
    return _scattered(indices, values, x)


def _largest(sent: Any, x: Any, uniforms: Any) -> Any:
    x = written(x)
    indices, values = sent.message(x, uniforms)
    return _scattered(indices, values, x)


def rounded_to_powers(x: Any, uniforms: NDArray[np.float64]) -> Any:
    """Round numbers to powers of two as natural compression does."""
    x = written(x)
    if not (_is_plain(x) and is_worth_compiling(x.size, "natural_pass")):
        return powers_near(x, uniforms)
    from certibit.data.passes import natural_pass  # noqa: PLC0415  (numba is slow to import)

    count = x.shape[1] if uniforms.shape[1] == x.shape[1] else 2
    numbers = np.ascontiguousarray(stretched(uniforms, x, count))  # else it compiles again
    out = np.array(x, order="C")
    natural_pass.powers_of_two(out, numbers, multipliers(np, "cpu", natural_pass.AT_ONCE + 1))
    return out


def few_entries(x: Any, k: int, uniforms: NDArray[np.float64]) -> Selected:
    """Draw k features of every client and run, and find the entries there."""
    n, d, runs = x.shape
    if _FEW * k > d or not isinstance(x, LazyGradient | Columns):
        x = written(x)
    if _is_compiled(x, uniforms):
        return _in_one_pass("draw_entries", k, x, uniforms)
    if is_numpy(x):
        indices, values = RandK(k).message(x, uniforms)
        return indices, values
    indices = np.broadcast_to(subsets(uniforms, d), (n, k, runs))
    return indices, x.entries(indices)


def stretched(uniforms: NDArray[np.float64], x: Any, count: int) -> NDArray[np.float64]:
    """Return ``count`` uniforms (n, q, R) for vectors (n, d, R), of clients or runs the same ones.

    Compiled code does not broadcast its arguments, nor check their size.

    Raises
    ------
    Refusal
        If there are more or fewer for a message.
    """
    n, _, runs = x.shape
    if uniforms.ndim != 3 or uniforms.shape[1] != count:
        raise Refusal(f"uniforms {uniforms.shape} do not fit; a message takes (n, {count}, R)")
    if uniforms.shape[::2] == (n, runs):
        return uniforms
    return np.broadcast_to(uniforms, (n, uniforms.shape[1], runs))


def _in_one_pass(name: str, k: int, x: Any, uniforms: Any, *others: Any) -> Selected:
    """Draw features and find what is sent of them, by compiled code that may need others too."""
    from certibit.data.passes import selection_pass  # noqa: PLC0415  (numba is slow to import)

    x, uniforms = np.ascontiguousarray(x), np.ascontiguousarray(stretched(uniforms, x, k))
    indices, values = np.empty(uniforms.shape, np.int64), np.empty(uniforms.shape)
    if not getattr(selection_pass, name)(x, uniforms, indices, values, *others):
        raise Refusal("a uniform number of a compressor is not in [0, 1); draw all of them there")
    return indices, values


def _scattered(indices: Any, values: Any, x: Any) -> Any:
    """Write entries into zeros of the shape of x, unless they are few of large vectors."""
    entries = Entries(indices, values, x.shape[1])
    return entries if _is_large(x, indices.shape[1]) else np.asarray(entries)


def _is_large(x: Any, k: int) -> bool:
    n, d, runs = x.shape
    return 4 * k <= d and n * d * runs >= LARGE


def _is_plain(x: Any) -> bool:
    return is_numpy(x) and x.dtype == np.float64


def _is_compiled(x: Any, uniforms: NDArray[np.float64]) -> bool:
    """Whether entries of an array are found by compiled code."""
    return _is_plain(x) and is_worth_compiling(uniforms.size, "selection_pass")


_WAYS: dict[type[Compressor], Callable[[Any, Any, Any], Any]] = {
    Natural: lambda sent, x, uniforms: rounded_to_powers(x, uniforms),
    RandK: _rand_k,
    RandKNatural: _rand_k_natural,
    L1Selection: _by_size,
    TopK: _largest,
    Scaled: lambda sent, x, uniforms: received(sent.inner, x, uniforms) * sent.alpha(x.shape[1]),
    Identity: lambda sent, x, uniforms: x,
}
"""How messages of each class are received."""
