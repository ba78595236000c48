"""The array library of a run, and transfers of arrays to it and back."""

import dataclasses
import importlib.util
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import scipy
from array_api_compat import is_torch_array
from numpy.typing import NDArray

from certibit.data.arrays import Array, fetched, is_numpy, moved
from certibit.data.errors import Refusal
from certibit.solvers.registry import on_device

T = TypeVar("T")

LIBRARIES = ("numpy", "cupy", "torch", "torch:cuda", "array-api-strict")

_DEVICE = 1 << 20
"""Numbers in the arrays (n, d, R) of a run from which on a GPU is taken if there is one.

On an H200 all iterations measured were faster from 9e5 numbers on than on one core: docs/gpu.md.
"""


def namespace(library: str) -> ModuleType:
    """Return the array namespace of a library by name.

    Raises
    ------
    Refusal
        If the name is unknown, the library is not installed, or there is no GPU for it.
    """
    if library == "numpy":
        return np
    if library == "cupy":
        return _cupy()
    if library.partition(":")[0] == "torch" and library in LIBRARIES:
        return _torch(library)
    if library == "array-api-strict":
        import array_api_strict  # noqa: PLC0415  (a test tool, not a dependency)

        return array_api_strict
    raise Refusal(f"the array library {library!r} is unknown; choose one of {', '.join(LIBRARIES)}")


def _cupy() -> ModuleType:
    try:
        import cupy  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise Refusal(
            "cupy is not installed; install certibit[cuda12] or certibit[cuda13], or use numpy"
        ) from None
    if not cupy.cuda.is_available():
        raise Refusal("cupy is installed but finds no GPU; use numpy here")
    return cupy


def _torch(library: str) -> ModuleType:
    try:
        from array_api_compat import torch  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise Refusal("torch is not installed; install certibit[torch], or use numpy") from None
    found: Any = torch
    if library == "torch:cuda" and not found.cuda.is_available():
        raise Refusal("torch finds no GPU here; use torch, which is on the host, or numpy")
    namespace: ModuleType = found
    return namespace


def fitting_library(numbers: int) -> str:
    """Return "cupy" for arrays of so many numbers if they are large and a GPU is here.

    Else "numpy".
    """
    if numbers < _DEVICE or importlib.util.find_spec("cupy") is None:
        return "numpy"
    try:
        namespace("cupy")
        on_device()
    except Refusal:
        return "numpy"
    return "cupy"


def host(x: Array) -> NDArray[Any]:
    """Return an array as a numpy array on the host."""
    return fetched(x)


def like(x: Array, values: NDArray[Any]) -> Array:
    """Return a host array as an array of the library and on the device of ``x``.

    The dtype of ``values`` is kept.
    """
    return values if is_numpy(x) else moved(values, x)


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
        return matrix if library == "numpy" else _put(matrix.toarray(), library)
    if isinstance(value, np.ndarray):
        floating = np.issubdtype(value.dtype, np.floating)
        return _put(value.astype(dtype) if floating else value, library)
    if is_torch_array(value) and library.startswith("torch"):  # of a network
        return value.to(_torch_device(library))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return transfer(value, library, dtype)
    return value


def _put(values: NDArray[Any], library: str) -> Array:
    """Return a host array as one of a library; the stand-in's are on a device of its own."""
    xp = namespace(library)
    if library == "array-api-strict":
        return xp.asarray(values, device=xp.Device("device1"))
    if library.startswith("torch"):
        return xp.asarray(values.copy(), device=_torch_device(library))
    return xp.asarray(values)


def _torch_device(library: str) -> str:
    return library.partition(":")[2] or "cpu"
