"""Jobs that are done elsewhere: their traces stay in the shared store, and their keys return."""

import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, cast

from certibit.solvers.store.store import NotStoredError, Store, StoredJob, only_stored

MOST_DEATHS = 3
"""How often the worker of a job may die with it before the job is given up."""
_PATIENCE = (0.0, 0.1, 0.5, 2.0, 10.0)
"""Seconds between looks for a file that a worker has just written, on a slow file system."""

T_co = TypeVar("T_co", covariant=True)


class Traceable(Protocol[T_co]):
    """A job: its trace is loaded, or computed and kept. It travels to other processes."""

    @property
    def name(self) -> str:
        """The name of the job in error messages."""

    def trace(self) -> T_co:
        """Load the trace, or compute and keep it."""


@dataclass(frozen=True)
class Stored:
    """The keys of the traces that a job has left in its store."""

    keys: tuple[str, ...]


class Place(Protocol):
    """Workers that see the folder of the store."""

    def outcomes(self, jobs: Mapping[int, Traceable[Any]]) -> Iterator[tuple[int, Any]]:
        """Have :func:`deliver` called with every job; yield its result or error as it comes.

        A job whose worker has died is done again, from its checkpoint; after ``MOST_DEATHS`` of
        its own deaths its outcome is a :class:`LostJobError`, and the others go on.
        """


class LostJobError(RuntimeError):
    """The workers of a job have died with it too often, or its trace is not here."""


_TURN = threading.Lock()
"""Workers of a cluster may have several threads; Python's parser is not made for these."""


def deliver(job: Traceable[Any]) -> Any:
    """Do a job on a worker; return the keys of its traces, or its result if it is not stored.

    Jobs of one process take turns.
    """
    with _TURN:
        result = job.trace()
        return _keys(job) or result


def found(job: Traceable[Any]) -> tuple[Any, ...]:
    """Return the trace of a job that is in its store already, as one of a tuple, or none."""
    if not isinstance(job, StoredJob) or job.store.fresh:
        return ()
    try:
        with only_stored():
            return (job.trace(),)
    except NotStoredError:
        return ()


def renewed(job: Traceable[Any]) -> Traceable[Any]:
    """Delete the stored trace of a job that is to be computed afresh, and return the job.

    When its worker dies, it then goes on from its checkpoint as any other.
    """
    if not isinstance(job, StoredJob) or not job.store.fresh:
        return job
    store, changed = job.store, cast(Any, job)
    stored = _keys(job)
    for key in stored.keys if stored else ():
        store.folder.joinpath(f"{key}.npz").unlink(missing_ok=True)
    return cast(Traceable[Any], replace(changed, store=Store(store.folder, limits=store.limits)))


def fetched_trace(job: Traceable[Any], delivered: Any) -> Any:
    """Return the trace that a worker has stored, or the result that it has returned.

    Raises
    ------
    LostJobError
        If the trace is not in the store here, so that the folder is not shared.
    """
    if not isinstance(delivered, Stored | None):
        return delivered
    for seconds in _PATIENCE:
        time.sleep(seconds)
        try:
            with only_stored():
                return job.trace()
        except NotStoredError:
            continue
    raise LostJobError(
        f"its worker has stored {', '.join(delivered.keys if delivered else ())}, which is not in "
        "the folder here; use a folder that all workers share"
    )


def _keys(job: Traceable[Any]) -> Stored | None:
    """Return the keys of the trace of a job that is in its store."""
    if not isinstance(job, StoredJob):
        return None
    try:
        with only_stored() as keys, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # told where the trace is used
            job.trace()
    except NotStoredError:
        return None
    return Stored(tuple(keys))
