"""Processes of this machine that do jobs; one that dies is replaced, its job retried.

Each thread of the executor has a pool of one process and waits for it, so that a process that dies
costs nobody else's job. The threads, and so the processes, do not see Ctrl-C: it reaches the main
thread, which ends them.
"""

import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

LONGEST = 86_400.0
"""Seconds after which a job is given up: it may be an endless loop."""
_GRACE = 1.0
"""Seconds in which a process that must end removes its unfinished files."""
_STOPPED = 143

T = TypeVar("T")


class _LostWorkerError(RuntimeError):
    """The process that did a job has died."""


class _EndlessJobError(RuntimeError):
    """A job has taken longer than any may."""


class Workers(Executor):
    """An executor of processes.

    If a process dies, its job is done once more by another process; then its future has a
    :class:`_LostWorkerError`. A job that takes more than ``LONGEST`` seconds is ended, and its
    future has an :class:`_EndlessJobError`.

    Parameters
    ----------
    processes : int
        How many.
    """

    def __init__(self, processes: int) -> None:
        resource_tracker.ensure_running()  # here, as it lets interrupts through where it starts
        self._threads = ThreadPoolExecutor(processes, initializer=_leave_interrupts_to_others)
        self._own = threading.local()
        self._lock = threading.Lock()
        self._pools: list[ProcessPoolExecutor] = []
        self._ended = False

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a function called in a process; it and all values must be picklable."""
        return self._threads.submit(self._do_twice, function, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let what was submitted be finished, then end the processes."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for pool in self._pools:  # those that no thread has left
            pool.shutdown(wait)

    def stop(self) -> None:
        """End everything at once; a process that is stopped or does not listen is killed."""
        with self._lock:
            self._ended = True
            processes = [process for pool in self._pools for process in _processes(pool)]
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        deadline = time.monotonic() + _GRACE
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            process.kill()
        self.shutdown()

    def _do_twice(self, *task: Any) -> Any:
        for _ in range(2):
            pool = self._pool()
            try:
                done, answer, told = self._submitted(pool, *task).result(LONGEST)
            except BrokenProcessPool:
                self._leave(pool)
                continue
            except TimeoutError:
                self._leave(pool)
                raise _EndlessJobError(
                    f"it was given up after {LONGEST / 3600:.3g} hours; start again to go on where "
                    "it was, or choose a smaller budget"
                ) from None
            except BaseException:
                self._leave(pool)
                raise
            for message in told:
                warnings.warn(message, stacklevel=2)
            if done:
                return answer
            raise answer
        raise _LostWorkerError(
            "its process was ended from outside, perhaps for lack of memory; start again, with "
            "fewer parallel jobs, to go on"
        )

    def _submitted(self, pool: ProcessPoolExecutor, *task: Any) -> Future[Any]:
        """Have a call done in a pool; a process that is being started is ended, too."""
        with self._lock:
            if self._ended:
                raise _LostWorkerError("the work was stopped")
            future = pool.submit(_called, *task)
            # The only end for writing is the process's: one that dies half-way is seen to be dead.
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
            return future

    def _pool(self) -> ProcessPoolExecutor:
        """Return the pool of this thread; make one where there is none."""
        with self._lock:
            pool: ProcessPoolExecutor | None = getattr(self._own, "pool", None)
            if pool is None:
                pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)
                self._own.pool = pool
                self._pools.append(pool)
            return pool

    def _leave(self, pool: ProcessPoolExecutor) -> None:
        """Leave a pool and end its process, so that another takes its place."""
        with self._lock:
            self._own.pool = None
            self._pools.remove(pool)
        for process in _processes(pool):
            process.kill()
        pool.shutdown()


def _processes(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((pool._processes or {}).values())


def _leave_interrupts_to_others() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # processes inherit it


def _begin() -> None:
    """Begin in a new process."""
    threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(_STOPPED))
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _called(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[bool, Any, list[Warning]]:
    """Return whether a call was done, its value or its error, and the warnings of this package."""
    with warnings.catch_warnings(record=True) as caught:
        try:
            done, answer = True, function(*args, **kwargs)
        except SystemExit:  # told to end; a file that was being written is gone by now
            os._exit(_STOPPED)
        except Exception as error:
            error.add_note(traceback.format_exc())
            done, answer = False, error
    told = []
    for each in caught:
        if isinstance(each.message, Warning) and each.category.__module__.startswith("certibit"):
            told.append(each.message)
        else:
            warnings.showwarning(each.message, each.category, each.filename, each.lineno)
    try:
        pickle.loads(pickle.dumps(answer))
    except Exception as error:
        fault = answer if isinstance(answer, Exception) else error
        done, answer = False, RuntimeError(f"{type(fault).__name__}: {fault}")
    return done, answer, told


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(_STOPPED)
