"""Many jobs in parallel processes, or on the workers of a dask cluster."""

import os
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

from tqdm import tqdm

from certibit.data.errors import FailedJobsError, Refusal
from certibit.figures.workers import Workers

SCHEDULER = "CERTIBIT_SCHEDULER"
"""The environment variable that names a dask scheduler, such as ``tcp://host:8786``."""

_LOOK = 0.2
"""Seconds between two looks for what is done."""
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Traceable(Protocol[T_co]):
    """A job: its trace is loaded, or computed and kept. It travels to other processes."""

    @property
    def name(self) -> str:
        """The name of the job in error messages."""

    def trace(self) -> T_co:
        """Load the trace, or compute and keep it."""


def traces(jobs: Sequence[Traceable[T]], processes: int | None = None) -> Iterator[tuple[int, T]]:
    """Yield the index and the trace of every job when it is finished.

    Jobs are started in their order: give the longest first. A progress bar goes to stderr.

    Parameters
    ----------
    jobs : sequence of Traceable
        What to load or to compute.
    processes : int, optional
        How many at once; by default, one for every core that this process may use. If the
        environment variable ``CERTIBIT_SCHEDULER`` names a dask scheduler, its workers are used
        instead; they must see the folder of the traces and the data.

    A process that dies, or uses no processor time for a minute, is replaced and its job done once
    more; a job that takes more than 24 hours is given up. A job that fails does not keep the others
    from being finished.

    Raises
    ------
    Refusal
        If ``processes`` is not positive; and at the end, if all jobs that fail are refused alike.
    FailedJobsError
        At the end, if some have failed otherwise.
    """
    failed: list[tuple[str, Exception]] = []
    with (
        _executor(min(_count(processes), max(len(jobs), 1))) as executor,
        tqdm(total=len(jobs), desc="curves", unit="curve", file=sys.stderr, disable=None) as bar,
    ):
        futures = {executor.submit(_trace, job): place for place, job in enumerate(jobs)}
        for future in _as_completed(futures):
            place = futures[future]
            try:
                trace = future.result()
            except Exception as error:
                failed.append((jobs[place].name, error))
            else:
                yield place, trace
            bar.update()
    if failed:
        raise _together(failed, len(jobs))


def _as_completed(futures: Collection[Future[T]]) -> Iterator[Future[T]]:
    """Yield futures as they are done; an interrupt is never slept through."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, _LOOK, FIRST_COMPLETED)
        yield from done


def _together(failed: Sequence[tuple[str, Exception]], jobs: int) -> Exception:
    """Return one error for those of some jobs, each with its name."""
    errors = [error for _, error in failed]
    if isinstance(errors[0], Refusal) and len({str(error) for error in errors}) == 1:
        return errors[0]
    address = os.environ.get(SCHEDULER)
    silent = [name for name, error in failed if address and not str(error)]
    worded = [(name, error) for name, error in failed if str(error) or not address]
    sentences = [f"{name}: {str(error) or type(error).__name__}" for name, error in worded]
    if silent:  # a scheduler that has gone says nothing
        sentences.append(
            f"the dask scheduler at {SCHEDULER}={address} has gone before {', '.join(silent)}; "
            "start it again to go on"
        )
    told = "; ".join(sentences)
    together = FailedJobsError(f"{len(failed)} of {jobs} curves failed: {told}")
    together.__cause__ = ExceptionGroup("what they raised", errors)
    return together


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
    """Return processes of this machine; those that are still at work at an error are ended."""
    executor = Workers(processes)
    try:
        yield executor
    except BaseException:
        executor.stop()
        raise
    executor.shutdown()


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """Return the workers of a dask cluster; leaving takes back what they have not started."""
    try:
        from distributed import Client  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise Refusal(
            f"{SCHEDULER} is set but dask is not installed; install certibit[cluster] or unset it"
        ) from None
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise Refusal(f"no dask scheduler answers at {SCHEDULER}={address}: {error}") from None
    with client:
        yield client.get_executor()


_TURN = threading.Lock()
"""Workers of a cluster may have several threads; Python's parser is not made for these."""


def _trace(job: Traceable[T]) -> T:
    """Do a job; those of one process take turns."""
    with _TURN:
        return job.trace()
