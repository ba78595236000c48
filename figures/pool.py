"""Many jobs in parallel processes, or on the workers of a cluster."""

import os
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from tqdm import tqdm

from certibit.data.errors import FailedJobsError, Refusal
from certibit.figures.places.dask_workers import DaskWorkers
from certibit.figures.places.delivery import Place, Traceable, fetched_trace, found, renewed
from certibit.figures.workers import Workers
from certibit.solvers.runs.budget import Budget
from certibit.solvers.store.store import Store

SCHEDULER = "CERTIBIT_SCHEDULER"
"""The environment variable that names a dask scheduler, such as ``tcp://host:8786``."""

_NAMED = 3
"""So many jobs are named of those that fail for the same reason."""
_LOOK = 0.2
"""Seconds between two looks for what is done."""
T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call of a function as a job; function, arguments and result travel between processes.

    Attributes
    ----------
    name : str
        The name of the job in error messages.
    function : callable
    arguments : tuple
    """

    name: str
    function: Callable[..., T]
    arguments: tuple[Any, ...]

    def trace(self) -> T:
        """Return the result."""
        return self.function(*self.arguments)


Tell = Callable[[Callable[[], str]], None]
"""Called with a function that writes a text: for a file, or fitted to the terminal."""


def _tell(write: Callable[[], str]) -> None:
    print(write())


@dataclass(frozen=True)
class Work:
    """What all figures of a folder have in common: the runs of their curves, and where these run.

    Attributes
    ----------
    folder : Path
        Of the files that are written; traces go into its folder ``traces``.
    seeds : int
        Runs of every curve.
    downlink : float
        The weight of a bit received in tables of costs; figures draw bits sent.
    fresh : bool
        Whether stored traces are ignored and computed again.
    limits : Budget, optional
        Limits that end runs before the figure does; which runs they cut is said in warnings.
    processes : int or Place, optional
        Parallel processes, by default one for every core; or a cluster.
    tell : callable
        Called with a function that writes each text of the output.
    """

    folder: Path
    seeds: int = 5
    downlink: float = 0.0
    fresh: bool = False
    limits: Budget | None = None
    processes: int | Place | None = None
    tell: Tell = _tell

    @property
    def store(self) -> Store:
        """The traces of the folder."""
        return Store(self.folder / "traces", self.fresh, self.limits)


def in_file(file: str, name: str, *arguments: Any) -> Any:
    """Call a function of a Python file, which imports the files beside it; as a job, by its name.

    Workers see the file under the same path.
    """
    folder = str(Path(file).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return getattr(import_module(Path(file).stem), name)(*arguments)


def results(calls: Sequence[Call[T]], processes: int | Place | None = None) -> list[T]:
    """Return the results of all calls, in their order, as :func:`traces` computes them."""
    return [result for _, result in sorted(traces(calls, processes), key=itemgetter(0))]


def traces(
    jobs: Sequence[Traceable[T]], processes: int | Place | None = None
) -> Iterator[tuple[int, T]]:
    """Yield the index and the trace of every job when it is finished.

    Jobs are started in their order: give the longest first. A progress bar goes to stderr.

    Parameters
    ----------
    jobs : sequence of Traceable
        What to load or to compute.
    processes : int or Place, optional
        How many at once on this machine, by default one for every core that this process may use;
        or a cluster. If the environment variable ``CERTIBIT_SCHEDULER`` names a dask scheduler, its
        workers are the default.

    A process that dies is replaced and its job done once more; a job that takes more than 24 hours
    is given up. A job that fails does not keep the others
    from being finished. A cluster gets only jobs whose traces are not stored, and leaves traces in
    the store.

    Raises
    ------
    Refusal
        If ``processes`` is not positive; and at the end, if all jobs that fail are refused alike.
    FailedJobsError
        At the end, if some have failed otherwise.
    """
    failed: list[tuple[str, Exception]] = []
    address = os.environ.get(SCHEDULER)
    if processes is None and address:
        processes = DaskWorkers(address)
    if isinstance(processes, int | None):
        outcomes = _here(jobs, min(_count(processes), max(len(jobs), 1)))
    else:
        outcomes = _elsewhere(jobs, processes)
    with (
        closing(outcomes),
        tqdm(total=len(jobs), desc="curves", unit="curve", file=sys.stderr, disable=None) as bar,
    ):
        for place, outcome in outcomes:
            if isinstance(outcome, Exception):
                failed.append((jobs[place].name, outcome))
            else:
                yield place, cast(T, outcome)
            bar.update()
    if failed:
        raise _together(failed, len(jobs))


Outcomes = Generator[tuple[int, Any], None, None]
"""The index of a job with its trace, or with an error."""


def _here(jobs: Sequence[Traceable[Any]], processes: int) -> Outcomes:
    with _executor(processes) as executor:
        futures = {executor.submit(_trace, job): place for place, job in enumerate(jobs)}
        for future in _as_completed(futures):
            try:
                outcome = future.result()
            except Exception as error:
                outcome = error
            yield futures[future], outcome


def _elsewhere(jobs: Sequence[Traceable[Any]], cluster: Place) -> Outcomes:
    missing: dict[int, Traceable[Any]] = {}
    for place, job in enumerate(jobs):
        if stored := found(job):
            yield place, stored[0]
        else:
            missing[place] = renewed(job)
    for place, delivered in cluster.outcomes(missing):
        outcome = delivered
        if not isinstance(delivered, Exception):
            try:
                outcome = fetched_trace(missing[place], delivered)
            except Exception as error:
                outcome = error
        yield place, outcome


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
    alike: dict[str, list[str]] = {}
    for name, error in failed:
        alike.setdefault(str(error) or type(error).__name__, []).append(name)
    told = "; ".join(f"{_several(names)}: {reason}" for reason, names in alike.items())
    together = FailedJobsError(f"{len(failed)} of {jobs} curves failed: {told}")
    together.__cause__ = ExceptionGroup("what they raised", errors)
    return together


def _several(names: Sequence[str]) -> str:
    """Name a few of several jobs."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(processes: int | None) -> int:
    if processes is None:
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    if processes < 1:
        raise Refusal(f"{processes} parallel jobs are not possible; give at least 1")
    return processes


@contextmanager
def _executor(processes: int) -> Iterator[Executor]:
    """Return processes of this machine; those that are still at work at an error are ended."""
    executor = Workers(processes)
    try:
        yield executor
    except BaseException:
        executor.stop()
        raise
    executor.shutdown()


def _trace(job: Traceable[T]) -> T:
    return job.trace()
