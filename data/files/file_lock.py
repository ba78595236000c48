"""A lock between processes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not a POSIX system: processes do not wait for each other
    fcntl = None  # type: ignore[assignment]

_LONGEST, _LOOK = 30.0, 0.02
"""Seconds after which a lock is waited for no longer, and between two looks at it."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made where it is missing, against other processes.

    It is for what is done once only to save time: who has waited for half a minute goes on without
    it, and so does who cannot write the file. A process that dies gives its locks back.
    """
    file = _opened(path)
    if file is None:
        yield
        return
    with file:
        deadline = time.monotonic() + _LONGEST
        while fcntl and time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(_LOOK)
        yield


def _opened(path: Path) -> IO[bytes] | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("ab")
    except OSError:
        return None
