"""Compilation by numba, for modules that are imported when their functions are first needed."""

import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from itertools import count
from typing import Any

from bitbound.data.files.cache import cache_folder

_LONGEST = 30.0
"""Seconds for which another process that compiles is waited for."""


def can_compile() -> bool:
    """Whether numba is there, and not switched off by ``BITBOUND_COMPILE=0``; it is not imported.

    Without it the same is done by numpy, to 1e-13 of every step.
    """
    return os.environ.get("BITBOUND_COMPILE") != "0" and _numba_is_there()


_MANY, _OFTEN = 1 << 14, 5000
_asked = count()


def is_worth_loading(numbers: int) -> bool:
    """Whether compiled code for so many numbers gains more than it takes to load it.

    It does once numba is loaded, or has been asked for often. As this depends on what else was
    done, the code must do the same bit for bit as what is done without it.
    """
    there = "numba" in sys.modules or numbers >= _MANY
    return can_compile() and (there or next(_asked) >= _OFTEN)


@cache
def _numba_is_there() -> bool:
    return importlib.util.find_spec("numba") is not None


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function when it is first called with arguments of some kind.

    Products and sums may be contracted to one operation. What is compiled is kept in the user's
    cache folder, and one process does it: others that need it wait, and load what is kept. As this
    only saves time, who has waited for half a minute compiles as well, and so does who cannot write
    the file of the lock.
    """
    import numba  # noqa: PLC0415  (slow to import)
    from filelock import FileLock  # noqa: PLC0415
    from numba.core.compiler_lock import global_compiler_lock  # noqa: PLC0415

    folder = cache_folder() / "compiled"
    kept, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        options = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
        result = numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = kept
    compile_or_load = result.compile

    def compile_once(signature: Any) -> Any:
        lock = FileLock(folder / f"{function.__module__}.{function.__name__}.lock", _LONGEST)
        with global_compiler_lock, ExitStack() as stack:  # of the threads here, then of processes
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(lock)
            return compile_or_load(signature)

    result.compile = compile_once
    compiled_function: Callable[..., Any] = result
    return compiled_function
