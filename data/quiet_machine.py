"""Settings of the process while array code runs: threads, memory and warnings."""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

_MALLOPT = {-3: 1 << 30, -1: (1 << 31) - 1, -2: 256 << 20}
"""glibc: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD and M_TOP_PAD with the values they are raised to."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS run on one thread; more threads only slow down small products."""
    scipy.linalg.blas  # noqa: B018  (has a BLAS of its own, which is limited once it is loaded)
    with threadpool_limits(1):
        yield


@contextmanager
def quiet_machine() -> Iterator[None]:
    """Prepare the process for pure array code and undo what can be undone.

    BLAS runs on one thread. The allocator of glibc keeps the memory of temporaries instead of
    giving it back to the kernel after every step. Overflow and invalid operations do not warn: a
    run that diverges is recorded as such.
    """
    if platform.libc_ver()[0] == "glibc":
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in _MALLOPT.items():
            mallopt(parameter, value)
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        yield
