"""Where numpy, cupy and a strict array library differ; the one module that knows of it.

Method, compressor and problem code asks an array for its namespace
(:func:`bitbound.data.arrays.array_namespace`) and uses operators and functions of the array API
standard. What the standard does not have is here, with one branch per library. Random numbers are
always drawn by numpy on the host and moved with :func:`like`, so that every library sees the same
ones.
"""

import ctypes
import dataclasses
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import scipy.sparse
from array_api_compat import device, is_cupy_array
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bitbound.data.arrays import Array, array_namespace, is_numpy
from bitbound.data.errors import Refusal
from bitbound.solvers.entries import Entries, places
from bitbound.solvers.lazy_gradient import LazyGradient

T = TypeVar("T")

LIBRARIES = ("numpy", "cupy", "array-api-strict")


def namespace(library: str) -> ModuleType:
    """Return the array namespace of a library by name.

    Raises
    ------
    Refusal
        If the name is unknown, or if cupy is asked for and no GPU is available.
    """
    if library == "numpy":
        return np
    if library == "cupy":
        return _cupy()
    if library == "array-api-strict":
        import array_api_strict  # noqa: PLC0415  (a test tool, not a dependency)

        return array_api_strict
    raise Refusal(f"the array library {library!r} is unknown; choose one of {', '.join(LIBRARIES)}")


def _cupy() -> ModuleType:
    try:
        import cupy  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise Refusal(
            "cupy is not installed; install bitbound[cuda12] or bitbound[cuda13], or use numpy"
        ) from None
    if not cupy.cuda.is_available():
        raise Refusal("cupy is installed but finds no GPU; use numpy here")
    return cupy


def host(x: Array) -> NDArray[Any]:
    """Return an array as a numpy array on the host."""
    if is_numpy(x):
        return x
    if is_cupy_array(x):
        return x.get()
    return written(x) if isinstance(x, Entries | LazyGradient) else np.from_dlpack(x)


def written(x: Array) -> Array:
    """Return an array itself, or the numbers of what is not written out yet."""
    return np.asarray(x) if isinstance(x, Entries | LazyGradient) else x


def like(x: Array, values: NDArray[Any]) -> Array:
    """Return a host array as an array of the library and on the device of ``x``.

    The dtype of ``values`` is kept.
    """
    if is_numpy(x) or isinstance(x, LazyGradient):
        return values
    return array_namespace(x).asarray(values, device=device(x))


def transfer(owner: T, library: str, dtype: str = "float64") -> T:
    """Return a frozen dataclass with every array field moved to a library and floats to a dtype.

    Fields that hold numpy arrays, scipy sparse matrices or further dataclasses of the same kind
    are moved; all others are kept. For ``numpy`` and ``float64`` the object itself is returned.
    """
    if library == "numpy" and dtype == "float64":
        return owner
    whole: Any = owner
    changes = {}
    for field in dataclasses.fields(whole):
        if not field.init:
            continue
        value = getattr(whole, field.name)
        moved = _move(value, library, dtype)
        if moved is not value:
            changes[field.name] = moved
    return dataclasses.replace(whole, **changes) if changes else owner


def _move(value: Any, library: str, dtype: str) -> Any:
    if scipy.sparse.issparse(value):
        matrix: Any = value
        matrix = matrix.astype(dtype)
        if library == "cupy":
            import cupyx.scipy.sparse  # noqa: PLC0415  (an optional extra)

            return cupyx.scipy.sparse.csr_matrix(matrix)
        return matrix if library == "numpy" else namespace(library).asarray(matrix.toarray())
    if isinstance(value, np.ndarray):
        floating = np.issubdtype(value.dtype, np.floating)
        return namespace(library).asarray(value.astype(dtype) if floating else value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return transfer(value, library, dtype)
    return value


def mean(x: Array) -> Array:
    """Average over the clients: (n, d, R) to (1, d, R).

    Examples
    --------
    >>> import numpy as np
    >>> from bitbound import mean
    >>> mean(np.array([[[1.0]], [[3.0]]]))
    array([[[2.]]])
    """
    return total(x) / x.shape[0]


def total(x: Array) -> Array:
    """Sum over the clients: (n, d, R) to (1, d, R).

    Examples
    --------
    >>> import numpy as np
    >>> from bitbound import total
    >>> total(np.array([[[1.0]], [[3.0]]]))
    array([[[4.]]])
    """
    if isinstance(x, Entries | LazyGradient):
        return x.total()
    if is_numpy(x) and x.dtype.kind == "f":  # as a product, without a reduction
        n = x.shape[0]
        return (np.ones((1, n), dtype=x.dtype) @ x.reshape(n, -1)).reshape(1, *x.shape[1:])
    return array_namespace(x).sum(x, axis=0, keepdims=True)


def squared_norm(x: Array) -> Array:
    """Sum of squares over the features: (n, d, R) to (n, 1, R).

    Examples
    --------
    >>> import numpy as np
    >>> from bitbound import squared_norm
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
    """Largest over the features: (n, d, R) to (n, 1, R).

    The reduced axis is made the last in memory first: a reduction over few runs at a time is slow.
    """
    xp = array_namespace(x)
    n, d, runs = x.shape
    rows = xp.reshape(xp.permute_dims(x, (0, 2, 1)), (n * runs, d))
    return xp.reshape(xp.max(rows, axis=1), (n, 1, runs))


def where(mask: Array, yes: Array, no: Array) -> Array:
    """Choose ``yes`` where the mask holds and ``no`` elsewhere; shapes broadcast.

    One of the two itself is given back where the mask holds everywhere, or nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> from bitbound import where
    >>> one = np.ones((1, 2, 1))
    >>> where(np.array([[[True], [False]]]), one, 0 * one).ravel()
    array([1., 0.])
    """
    if is_numpy(mask) and yes.shape == no.shape:
        if mask.all():
            return yes
        if not mask.any():
            return no
    return array_namespace(yes).where(mask, yes, no)


def masked(mask: Array, x: Array) -> Array:
    """Choose ``x`` where the mask holds and 0 elsewhere; shapes broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> from bitbound import masked
    >>> masked(np.array([[[True]], [[False]]]), np.full((2, 1, 1), 5.0)).ravel()
    array([5., 0.])
    """
    if is_numpy(x) and mask.shape == x.shape:  # only the entries of the mask are written
        kept = np.zeros_like(x)
        np.copyto(kept, x, where=mask)
        return kept
    if isinstance(x, Entries) and mask.shape[1] == 1:
        return x.masked(mask)
    return where(mask, x, 0 * x)


def copies(x: Array, n: int) -> Array:
    """Repeat what all clients share: (1, d, R) to (n, d, R).

    Examples
    --------
    >>> import numpy as np
    >>> from bitbound import copies
    >>> copies(np.ones((1, 4, 1)), n=3).shape
    (3, 4, 1)
    """
    if is_numpy(x):
        return np.repeat(x, n, axis=0)
    return x + array_namespace(x).zeros((n, 1, 1), dtype=x.dtype, device=device(x))


def floor_power_of_two(x: Array) -> Array:
    """Return sign(x) 2^a with 2^a <= |x| < 2^(a+1), by clearing the mantissa; exact.

    Zeros and subnormal numbers give zero, infinity and not-a-number give infinity; signs are kept.
    """
    if is_numpy(x) or is_cupy_array(x):
        mantissa_bits = np.finfo(x.dtype).nmant
        return (x.view(f"i{x.dtype.itemsize}") & -(1 << mantissa_bits)).view(x.dtype)
    return like(x, floor_power_of_two(host(x)))


def round_power_of_two(x: Array, bits: Array) -> Array:
    """Round every number to a neighbouring power of two, up by the share of its mantissa; as x.

    ``bits`` are integers of 52 random bits. They are added to the mantissa, so that it carries
    into the exponent with the probability that it says, and the mantissa is cut. Numbers are
    scaled first so that below 2^-126 they are subnormal, where the neighbours are 0 and 2^-126.
    What is not finite gives infinity.
    """
    if not (is_numpy(x) or is_cupy_array(x)):
        return like(x, round_power_of_two(host(x), host(bits)))
    limits = np.finfo(x.dtype)
    scale = 2.0 ** (-126 - limits.minexp)
    added = ((1 << _RANDOM_BITS) - 1 - bits) >> (_RANDOM_BITS - limits.nmant)
    scaled = (x / scale).view(f"i{x.dtype.itemsize}")
    scaled += added.astype(scaled.dtype)
    scaled &= -(1 << limits.nmant)
    rounded = scale * scaled.view(x.dtype)
    rounded[array_namespace(x).isnan(x)] = (
        np.inf
    )  # the carry of a not-a-number has run into its sign
    return rounded


_RANDOM_BITS = 52
_LARGE = 1 << 14
"""Numbers in an array (n, d, R) from which on it is not written out without need."""


def gather(x: Array, indices: Array) -> Array:
    """Return the entries of x at distinct feature indices: (n, d, R) to (n, k, R)."""
    if isinstance(x, LazyGradient):
        return x.entries(indices)
    if is_numpy(x):
        return np.take(x, places(indices, x.shape[1]))
    return array_namespace(x).take_along_axis(x, indices, axis=1)


def scatter(indices: Array, values: Array, d: int) -> Array:
    """Write values at distinct feature indices into zeros: (n, k, R) to (n, d, R).

    On the host they are not written out if they are few: see :class:`Entries`.
    """
    if is_numpy(values):
        n, k, runs = values.shape
        entries = Entries(indices, values, d)
        return entries if 4 * k <= d and n * d * runs >= _LARGE else np.asarray(entries)
    if is_cupy_array(values):
        xp = array_namespace(values)
        n, _, runs = values.shape
        out = xp.zeros((n, d, runs), dtype=values.dtype)
        out[xp.arange(n)[:, None, None], indices, xp.arange(runs)[None, None, :]] = values
        return out
    return like(values, scatter(host(indices), host(values), d))


_MALLOPT = {-3: 1 << 30, -1: (1 << 31) - 1, -2: 256 << 20}
"""glibc: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD and M_TOP_PAD with the values they are raised to."""


@contextmanager
def quiet_machine() -> Iterator[None]:
    """Prepare the process for pure array code and undo what can be undone.

    BLAS runs on one thread (small products lose by more). The allocator of glibc keeps the memory
    of temporaries instead of giving it back to the kernel after every step. Overflow and invalid
    operations do not warn: a run that diverges is recorded as such.
    """
    if platform.libc_ver()[0] == "glibc":
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in _MALLOPT.items():
            mallopt(parameter, value)
    with threadpool_limits(1), np.errstate(over="ignore", invalid="ignore"):
        yield
