"""Arrays of any library, with shortcuts for numpy in hot loops."""

from fractions import Fraction
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np
import scipy
from numpy.typing import NDArray

Array = Any
"""An array of any library that follows the array API standard."""


def is_numpy(x: Array) -> bool:
    """Whether an array is one of numpy itself."""
    return type(x) is np.ndarray


def array_namespace(x: Array) -> ModuleType:
    """Return the namespace of an array, as ``array_api_compat`` does; numpy's is numpy itself."""
    if is_numpy(x):
        return np
    return array_api_compat.array_namespace(x)


def plain_numbers(owner: Any) -> None:
    """Put plain numbers in the fields of a new frozen dataclass, for numpy's scalars and fractions.

    Arrays with axes stay; a tuple is taken for one of scalars if its first entry is one.
    """

    def plain(x: Any) -> Any:
        if isinstance(x, tuple) and x and isinstance(x[0], np.generic | np.ndarray | Fraction):
            return tuple(map(plain, x))
        if isinstance(x, Fraction):
            return float(x)
        if not (isinstance(x, np.generic) or (is_numpy(x) and x.ndim == 0)):
            return x
        number = x.item()
        return float(number) if isinstance(number, np.floating) else number  # of long doubles

    for name, x in vars(owner).items():
        object.__setattr__(owner, name, plain(x))


def fetched(x: Array) -> NDArray[Any]:
    """Return an array of another library as a numpy array: the only transfer from a device.

    The call waits until the device has finished its queue.
    """
    if is_numpy(x):
        return x
    if array_api_compat.is_cupy_array(x):
        return x.get()
    if array_api_compat.is_array_api_strict_namespace(array_namespace(x)):
        x = x.to_device(array_namespace(x).Device("CPU_DEVICE"))
    return np.from_dlpack(x.cpu() if array_api_compat.is_torch_array(x) else x)


def moved(values: NDArray[Any], x: Array) -> Array:
    """Return a host array as one of the library and on the device of x: the only way there."""
    if array_api_compat.is_torch_array(x):  # whose arrays may not share memory that is read only
        values = values.copy()
    return array_namespace(x).asarray(values, device=array_api_compat.device(x))


def add_scaled(y: Array, a: float, x: Array) -> Array:
    """Add a x to y, in place, and give y; shapes broadcast.

    For large numpy arrays one pass over the memory in place of two.
    """
    if (
        is_numpy(x)
        and is_numpy(y)
        and y.shape == x.shape
        and y.dtype == x.dtype == np.float64
        and y.flags.c_contiguous
        and x.flags.c_contiguous
    ):
        scipy.linalg.blas.daxpy(x.reshape(-1), y.reshape(-1), a=a)
    else:
        y += a * x
    return y
