"""Compilation by numba, for modules that are imported when their functions are first needed."""

import importlib.util
import os
import stat
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.files.cache import cache_folder

_LONGEST = 30.0
"""Seconds for which another process that compiles is waited for."""


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

    Products and sums may be contracted to one operation. Compiled code is stored in a folder of the
    user. One process compiles; others that need the same code wait and load it. A process that has
    waited for half a minute, or cannot read or write the files, compiles itself.

    Warns
    -----
    UserWarning
        If others may write to the folder: then nothing is stored or loaded.
    """
    import numba  # noqa: PLC0415  (slow to import)
    from filelock import FileLock  # noqa: PLC0415
    from numba.core.compiler_lock import global_compiler_lock  # noqa: PLC0415

    from certibit.data.passes.compiled_files import KeptCode  # noqa: PLC0415

    options = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    result: Any = numba.njit(**options)(function)
    folder = _own_folder()
    if folder is None:
        return result
    try:
        result._cache = KeptCode(function, folder)
    except RuntimeError:  # nothing can be written
        return result
    compile_or_load = result.compile

    def compile_once(signature: Any) -> Any:
        lock = FileLock(folder / f"{function.__module__}.{function.__name__}.lock", _LONGEST)
        with global_compiler_lock, ExitStack() as stack:  # of the threads here, then of processes
            with suppress(OSError):
                stack.enter_context(lock)
            return compile_or_load(signature)

    result.compile = compile_once
    compiled_function: Callable[..., Any] = result
    return compiled_function


def _own_folder() -> Path | None:
    """Return the folder of compiled code, which nobody but the user may write; else None."""
    user = f"-{os.geteuid()}" if os.name == "posix" else ""
    folder = cache_folder() / f"compiled{user}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = not user or (stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid())
    if own and (not user or not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return folder
    warnings.warn(
        f"{folder} may be written by others, and what is there would be run: nothing is kept of "
        "what is compiled; remove the folder, or set CERTIBIT_CACHE to one of your own",
        stacklevel=3,
    )
    return None
