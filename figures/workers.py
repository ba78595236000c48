"""Processes of this machine that do jobs; one that dies or hangs is replaced, its job retried.

Each thread of the executor has a process of its own and waits for it. The threads, and so the
processes, do not see Ctrl-C: it reaches the main thread, which ends them.
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
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

import psutil
from threadpoolctl import threadpool_limits

PATIENCE = 60.0
"""A process that uses no processor time for so many seconds is taken to hang."""
LONGEST = 86_400.0
"""Seconds after which a job is given up: it may be an endless loop."""
_GRACE = 1.0
"""Seconds in which a process that must end removes its unfinished files."""
_LOOK = 0.5
"""Seconds between two looks at a process that works."""
_STOPPED = 143

T = TypeVar("T")
Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function with its arguments."""


class LostWorkerError(RuntimeError):
    """The process that did a job has died or hung."""


class EndlessJobError(RuntimeError):
    """A job has taken longer than any may."""


class Workers(Executor):
    """An executor of processes.

    If a process dies, or uses no processor time for ``PATIENCE`` seconds, its job is done once more
    by another process; then its future has a :class:`LostWorkerError`. A job that takes more than
    ``LONGEST`` seconds is ended, and its future has an :class:`EndlessJobError`.

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
        self._workers: dict[SpawnProcess, Connection] = {}
        self._ended = False

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a function called in a process; it and all values must be picklable."""
        return self._threads.submit(self._do_twice, (function, args, kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let what was submitted be finished, then end the processes."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for process, line in self._workers.items():
            line.close()
            process.join()

    def stop(self) -> None:
        """End everything at once; a process that is stopped or does not listen is killed."""
        with self._lock:
            self._ended = True
            processes = list(self._workers)
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
            _wake(process)
        deadline = time.monotonic() + _GRACE
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            process.kill()

    def _do_twice(self, task: Task) -> Any:
        try:
            return self._do(task)
        except LostWorkerError:
            return self._do(task)

    def _do(self, task: Task) -> Any:
        process, line = self._worker()
        try:
            line.send(task)
            _wait_for_answer(process, line)
            (done, answer), told = line.recv()
        except (LostWorkerError, EndlessJobError):
            process.kill()
            self._forget(process)
            raise
        except (EOFError, OSError):
            process.join(_GRACE)
            self._forget(process)
            raise LostWorkerError(
                f"its process was ended from outside (exit code {process.exitcode}), perhaps for "
                "lack of memory; start again, with fewer parallel jobs, to go on"
            ) from None
        for message in told:
            warnings.warn(message, stacklevel=2)
        if done:
            return answer
        raise answer

    def _worker(self) -> tuple[SpawnProcess, Connection]:
        """Return the process of this thread and the line to it; start one where there is none."""
        with self._lock:
            if self._ended:
                raise LostWorkerError("the work was stopped")
            process = getattr(self._own, "process", None)
            if process is None:
                context = get_context("spawn")
                line, other = context.Pipe()
                process = context.Process(target=_work, args=(other,))
                process.daemon = True
                process.start()
                other.close()
                self._own.process, self._workers[process] = process, line
            return process, self._workers[process]

    def _forget(self, process: SpawnProcess) -> None:
        """Leave a process, so that another takes its place."""
        with self._lock:
            del self._own.process
            self._workers.pop(process).close()


def _wait_for_answer(process: SpawnProcess, line: Connection) -> None:
    """Wait until a process has answered or died; raise if it hangs, or works for too long."""
    used, start = -1.0, time.monotonic()
    since = start
    while not wait([line, process.sentinel], _LOOK):
        now = time.monotonic()
        if now - start > LONGEST:
            raise EndlessJobError(
                f"it was given up after {LONGEST / 3600:.3g} hours; start again to go on where it "
                "was, or choose a smaller budget"
            )
        if (so_far := _processor_time(process)) != used:
            used, since = so_far, now
        elif now - since > PATIENCE:
            raise LostWorkerError(f"its process used no processor time for {PATIENCE:g} s")


def _processor_time(process: SpawnProcess) -> float:
    try:
        times = psutil.Process(process.pid).cpu_times()
    except psutil.Error:  # it has just ended
        return -1.0
    return float(times.user + times.system)


def _wake(process: SpawnProcess) -> None:
    """Let a process that was stopped go on, to hear that it is to end."""
    if hasattr(signal, "SIGCONT") and process.pid is not None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)


def _leave_interrupts_to_others() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # processes inherit it


def _work(line: Connection) -> None:
    """Do the jobs that arrive, one after the other, until the pipe is closed."""
    threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(_STOPPED))
    threading.Thread(target=_die_with_parent, daemon=True).start()
    told: list[Warning] = []
    warnings.showwarning = partial(_keep_own, told, warnings.showwarning)
    while True:
        try:
            function, args, kwargs = line.recv()
        except EOFError:
            return
        try:
            answer: tuple[bool, Any] = True, function(*args, **kwargs)
        except SystemExit:  # told to end; a file that was being written is gone by now
            os._exit(_STOPPED)
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = False, error
        line.send((_picklable(answer), told))
        told.clear()


def _keep_own(
    told: list[Warning],
    show: Callable[..., None],
    message: Warning | str,
    category: type[Warning],
    *where: Any,
    **more: Any,
) -> None:
    """Keep a warning of this package for the process that gave the job, and show others."""
    if isinstance(message, Warning) and category.__module__.split(".")[0] == "certibit":
        told.append(message)
    else:
        show(message, category, *where, **more)


def _picklable(answer: tuple[bool, Any]) -> tuple[bool, Any]:
    """Return an answer, or an error that says why it cannot travel."""
    try:
        pickle.loads(pickle.dumps(answer))
    except Exception as error:
        told = answer[1] if isinstance(answer[1], Exception) else error
        return False, RuntimeError(f"{type(told).__name__}: {told}")
    return answer


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(_STOPPED)
