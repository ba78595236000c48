"""Compilation by numba, for modules that are imported when their functions are first needed."""

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal


@cache
def can_compile() -> bool:
    """Whether numba is installed; it is not imported."""
    return importlib.util.find_spec("numba") is not None


def checked(what: str, x: Any, *shapes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array as compiled code reads it: of a given shape, C-contiguous, of 64-bit floats.

    Compiled code checks nothing itself: every array from outside goes through here.

    Raises
    ------
    Refusal
        If the array is of another type or shape.
    """
    if type(x) is np.ndarray and x.dtype == np.float64 and x.shape in shapes:
        return np.ascontiguousarray(x)
    kind = f"{getattr(x, 'dtype', type(x).__name__)} of shape {getattr(x, 'shape', ())}"
    raise Refusal(
        f"{what} of type {kind} for compiled code; give 64-bit floats of shape "
        f"{' or '.join(map(str, shapes))}"
    )


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function when it is first called with arguments of some kind.

    Products and sums may be contracted to one operation. numba stores compiled code beside the
    source, or in a folder of the user where that cannot be written, and stores none where neither
    can.
    """
    import numba  # noqa: PLC0415  (slow to import)

    options = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    result: Callable[..., Any]
    try:
        result = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        result = numba.njit(**options)(function)
    return result
