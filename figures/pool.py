"""Many jobs in parallel processes, or on the workers of a dask cluster."""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import active_children, get_context, parent_process
from typing import Protocol, TypeVar

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from bitbound.data.errors import Refusal

SCHEDULER = "BITBOUND_SCHEDULER"
"""The environment variable that names a dask scheduler, such as ``tcp://host:8786``."""
_STOPPED = 143


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Traceable(Protocol[T_co]):
    """A job: its trace is loaded, or computed and kept. It travels to other processes."""

    def trace(self) -> T_co:
        """Load the trace, or compute and keep it."""


def traces(jobs: Sequence[Traceable[T]], processes: int | None = None) -> Iterator[tuple[int, T]]:
    """Return the place of every job and its trace, as they are finished.

    Jobs are started in their order: give the longest first. A progress bar goes to stderr.

    Parameters
    ----------
    jobs : sequence of Traceable
        What to load or to compute.
    processes : int, optional
        How many at once; by default, one for every core that this process may use. If the
        environment variable ``BITBOUND_SCHEDULER`` names a dask scheduler, its workers are used
        instead; they must see the folder of the traces and the data.

    Raises
    ------
    Refusal
        If a job does not fit, or ``processes`` is not positive. What is finished is kept.
    """
    with (
        _executor(min(_count(processes), max(len(jobs), 1))) as executor,
        tqdm(total=len(jobs), desc="curves", unit="curve", file=sys.stderr, disable=None) as bar,
    ):
        futures = {executor.submit(_run, job): place for place, job in enumerate(jobs)}
        for future in as_completed(futures):
            try:
                trace = future.result()
            except BrokenProcessPool:
                raise Refusal(
                    "a process was ended from outside, perhaps for lack of memory; "
                    "start again, with fewer parallel jobs, to go on with what is finished"
                ) from None
            bar.update()
            yield futures[future], trace


def _count(processes: int | None) -> int:
    if processes is None:
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    if processes < 1:
        raise Refusal(f"{processes} parallel jobs are not possible; give at least 1")
    return processes


def _executor(processes: int) -> AbstractContextManager[Executor]:
    address = os.environ.get(SCHEDULER)
    return _cluster(address) if address else _machine(processes)


@contextmanager
def _machine(processes: int) -> Iterator[Executor]:
    """Return processes of this machine; those that are still at work at an error are stopped."""
    others = set(active_children())
    executor = ProcessPoolExecutor(processes, get_context("spawn"), _prepare)
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        executor.shutdown()


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """Return the workers of a dask cluster; leaving takes back what they have not started."""
    try:
        from distributed import Client  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise Refusal(
            f"{SCHEDULER} is set but dask is not installed; install bitbound[cluster] or unset it"
        ) from None
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise Refusal(f"no dask scheduler answers at {SCHEDULER}={address}: {error}") from None
    with client:
        yield client.get_executor()


def _prepare() -> None:
    """Prepare a process: one BLAS thread, no interrupts but the parent's, no life without it."""
    threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(_STOPPED))
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(_STOPPED)


def _run(job: Traceable[T]) -> T:
    try:
        return job.trace()
    except SystemExit:  # stopped by the parent; a file that was being written is gone by now
        os._exit(_STOPPED)
