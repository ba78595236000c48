"""Functions of arrays that the array API standard does not have, or not fast.

Method, compressor and problem code asks an array for its namespace
(:func:`certibit.data.arrays.array_namespace`) and uses operators and functions of the array API
standard. What the standard does not have is here, with one branch per library. Every library sees
the same random numbers: on a device they are made there
(:mod:`certibit.solvers.simulation.randomness`).
"""

from typing import Any

import numpy as np
from array_api_compat import device, is_cupy_array, is_torch_array
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, common_if, is_numpy
from certibit.data.errors import Refusal


def mean(x: Array) -> Array:
    """Average over the clients: (n, d, R) to (1, d, R).

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import mean
    >>> mean(np.array([[[1.0]], [[3.0]]]))
    array([[[2.]]])
    """
    return total(x) / x.shape[0]


def total(x: Array) -> Array:
    """Sum over the clients: (n, d, R) to (1, d, R).

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import total
    >>> total(np.array([[[1.0]], [[3.0]]]))
    array([[[4.]]])
    """
    return array_namespace(x).sum(x, axis=0, keepdims=True)


def squared_norm(x: Array) -> Array:
    """Sum of squares over the features: (n, d, R) to (n, 1, R).

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import squared_norm
    >>> squared_norm(np.array([[[3.0], [4.0]]]))
    array([[[25.]]])
    """
    return array_namespace(x).vecdot(x, x, axis=-2)[:, None, :]


def feature_sum(x: Array) -> Array:
    """Sum over the features: (n, d, R) to (n, 1, R), as a product."""
    xp = array_namespace(x)
    n, d, runs = x.shape
    ones = xp.ones((1, d), dtype=x.dtype, device=device(x))
    if runs == 1:
        return xp.reshape(xp.reshape(x, (n, d)) @ ones.T, (n, 1, 1))
    return ones @ x


def feature_max(x: Array) -> Array:
    """Largest over the features: (n, d, R) to (n, 1, R)."""
    return array_namespace(x).max(x, axis=1, keepdims=True)


def where(mask: Array, yes: Array, no: Array) -> Array:
    """Choose ``yes`` where the mask holds and ``no`` elsewhere; shapes broadcast.

    Whatever the mask, the chosen numbers have memory of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import where
    >>> one = np.ones((1, 2, 1))
    >>> where(np.array([[[True], [False]]]), one, 0 * one).ravel()
    array([1., 0.])
    """
    alike = is_numpy(mask) and is_numpy(yes) and (yes.shape, yes.dtype) == (no.shape, no.dtype)
    if alike and all(own in (1, length) for own, length in zip(mask.shape, yes.shape, strict=True)):
        chosen = np.count_nonzero(mask)
        if chosen in (0, mask.size):
            return (yes if chosen else no).copy()
    return array_namespace(yes).where(mask, yes, no)


def masked(mask: Array, x: Array) -> Array:
    """Choose ``x`` where the mask holds and 0 elsewhere; shapes broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import masked
    >>> masked(np.array([[[True]], [[False]]]), np.full((2, 1, 1), 5.0)).ravel()
    array([5., 0.])
    """
    if is_numpy(x) and mask.shape == x.shape:  # only the entries of the mask are written
        kept = np.zeros_like(x)
        np.copyto(kept, x, where=mask)
        return kept
    return where(mask, x, 0 * x)


def copies(x: Array, n: int) -> Array:
    """Repeat a vector for all clients: (1, d, R) to (n, d, R).

    Raises
    ------
    Refusal
        If it is a vector of every client already.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import copies
    >>> copies(np.ones((1, 4, 1)), n=3).shape
    (3, 4, 1)
    """
    if x.shape[0] != 1:
        raise Refusal(f"copies of {x.shape[0]} vectors for {n} clients; give one, (1, d, R)")
    if is_numpy(x):
        return np.repeat(x, n, axis=0)
    return x + array_namespace(x).zeros((n, 1, 1), dtype=x.dtype, device=device(x))


def everyone(x: Array) -> Array:
    """Return the mask of all clients of a vector: (n, d, R) to (n, 1, R), all true.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import everyone
    >>> everyone(np.zeros((2, 4, 1))).ravel().tolist()
    [True, True]
    """
    xp = array_namespace(x)
    return common_if((), xp.ones((x.shape[0], 1, x.shape[2]), dtype=xp.bool, device=device(x)))


def floor_power_of_two(x: Array) -> Array:
    """Return sign(x) 2^a with 2^a <= |x| < 2^(a+1), by clearing the mantissa; exact.

    Zeros and subnormal numbers give zero, infinity and not-a-number give infinity; signs are kept.
    """
    mantissa_bits, _ = _format(x)
    return _viewed(_viewed(x, "i") & -(1 << mantissa_bits), "f")


def round_power_of_two(x: Array, bits: Array) -> Array:
    """Round every number to a neighbouring power of two, without bias; same shape as x.

    ``bits`` are integers of 52 random bits. They are added to the mantissa, which carries into the
    exponent with the probability of rounding up, and then the mantissa is cleared. Numbers are
    scaled first so that those below 2^-126 are subnormal; their neighbours are 0 and 2^-126.
    Infinity and NaN give infinity.
    """
    xp = array_namespace(x)
    mantissa_bits, smallest = _format(x)
    scale = 2.0 ** (-126 - smallest)
    added = ((1 << _RANDOM_BITS) - 1 - bits) >> (_RANDOM_BITS - mantissa_bits)
    scaled = _viewed(x / scale, "i")
    scaled += xp.astype(added, scaled.dtype)
    scaled &= -(1 << mantissa_bits)
    rounded = scale * _viewed(scaled, "f")
    # the carry of a not-a-number has run into its sign
    return xp.where(xp.isnan(x), xp.full_like(x, xp.inf), rounded)


def _format(x: Array) -> tuple[int, int]:
    """Return the bits of the mantissa, and the exponent of the smallest normal number."""
    return (52, -1022) if x.dtype == array_namespace(x).float64 else (23, -126)


def _viewed(x: Array, kind: str) -> Array:
    """Return the bits of numbers as numbers of another kind and of the same size."""
    if is_numpy(x) or is_cupy_array(x):
        return x.view(f"{kind}{x.dtype.itemsize}")
    if is_torch_array(x):
        name = {"i": "int", "f": "float"}[kind] + str(8 * x.dtype.itemsize)
        return x.view(getattr(array_namespace(x), name))
    inside = x._array  # the standard has no such function, and the stand-in is one of numpy's
    viewed = inside.view(f"{kind}{inside.itemsize}")
    return array_namespace(x).asarray(viewed, device=device(x))


_RANDOM_BITS = 52


def gather(x: Array, indices: Array) -> Array:
    """Return the entries of x at feature indices: (n, d, R) to (n, k, R).

    Raises
    ------
    Refusal
        If an index, on the host, is not one of 0..d-1.
    """
    if is_numpy(indices):
        _require_inside(indices, x.shape[1])
    return array_namespace(x).take_along_axis(x, indices, axis=1)


def scatter(indices: Array, values: Array, d: int) -> Array:
    """Write values at distinct feature indices into zeros: (n, k, R) to (n, d, R).

    Raises
    ------
    Refusal
        If an index, on the host, is not one of 0..d-1, or there are not as many as values.
    """
    if indices.ndim != 3 or indices.shape != values.shape:
        raise Refusal(
            f"indices {indices.shape} do not fit values {values.shape}; give (n, k, R) of both"
        )
    if is_numpy(values):
        _require_inside(indices, d)
        written = np.zeros((len(values), d, values.shape[2]), values.dtype)
        np.put_along_axis(written, indices, values, axis=1)
        return written
    xp = array_namespace(values)
    n, k, runs = values.shape
    out = xp.zeros((n, d, runs), dtype=values.dtype, device=device(values))
    if is_cupy_array(values):
        out[xp.arange(n)[:, None, None], indices, xp.arange(runs)[None, None, :]] = values
        return out
    if is_torch_array(values):
        return out.scatter(1, indices, values)
    feature = xp.arange(d, device=device(values))[None, :, None]
    for i in range(k):
        out = xp.where(feature == indices[:, i : i + 1, :], values[:, i : i + 1, :], out)
    return out


def _require_inside(indices: NDArray[Any], d: int) -> None:
    """Refuse an index outside 0..d-1, which would address other memory."""
    if indices.dtype.kind not in "iu":
        raise Refusal(f"indices of type {indices.dtype} are no features; give integers")
    unsigned = indices.view(f"u{indices.dtype.itemsize}")  # a negative one is a large one
    if unsigned.max(initial=0) >= d:
        wrong = indices[unsigned >= d][0]
        raise Refusal(f"the index {wrong} is no feature of d = {d}; give 0..{d - 1}")
