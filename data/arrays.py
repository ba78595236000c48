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


class _CommonMask(np.ndarray):
    """A mask that clients and server both know, because it was drawn from a common seed.

    What is computed from such masks and plain Python values alone is ``common`` as well, and may
    not be written to; anything else that is computed with one is an array like any other.
    """

    common = False

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _computed(getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, _: Any, arguments: Any, options: Any) -> Any:
        return _computed(function, arguments, options)

    def __getitem__(self, key: Any) -> Any:
        return _computed(np.ndarray.__getitem__, (self, key), {})

    def astype(self, *arguments: Any, **options: Any) -> Any:
        """Return the mask as other numbers."""
        return _computed(np.ndarray.astype, (self, *arguments), options)

    def __iand__(self, other: Any) -> Any:  # type: ignore[misc]
        return self & other

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        return self | other


def _computed(function: Any, arguments: Any, options: dict[str, Any]) -> Any:
    plain = {name: _plain(x) for name, x in options.items()}
    return common_if((arguments, options), function(*_plain(arguments), **plain))


def _plain(x: Any) -> Any:
    if isinstance(x, _CommonMask):
        return x.view(np.ndarray)
    return type(x)(map(_plain, x)) if type(x) in (tuple, list) else x


def is_common(x: Any) -> bool:
    """Whether clients and server both know a value: of common masks, or of no array at all."""
    if isinstance(x, tuple | list | dict):
        return all(map(is_common, x.values() if isinstance(x, dict) else x))
    return bool(getattr(x, "common", not hasattr(x, "dtype") or isinstance(x, type)))


def common_if(sources: Any, x: Any) -> Any:
    """Return what was computed from some sources, as a common mask if they are common."""
    if not (type(x) is np.ndarray and is_common(sources)):
        return x
    mask = x.view(_CommonMask)
    mask.common = True
    mask.setflags(write=False)
    return mask


def is_numpy(x: Array) -> bool:
    """Whether an array is one of numpy itself, or a mask."""
    return type(x) is np.ndarray or type(x) is _CommonMask


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
