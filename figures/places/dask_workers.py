"""Jobs on the workers of a dask scheduler."""

import asyncio
import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from certibit.data.errors import Refusal
from certibit.figures.places.delivery import MOST_DEATHS, LostJobError, Traceable, deliver

_LOOK = 0.2
_RECONNECT = 300.0
"""Seconds in which a scheduler that has gone may come back."""
_SILENT, _PATIENCE = 5.0, 3600.0
"""Seconds without a worker after which that is said, and after which it is refused."""


@dataclass(frozen=True)
class DaskWorkers:
    """The workers of a dask scheduler, which see the folder of results and the data.

    The scheduler suspects every task that a dying worker has, started or not. So no more jobs are
    given away than there are workers, and a job that is suspected is given away again; it is given
    up after it has been suspected too often. If the scheduler is started again, all jobs that are
    not stored are given away again, without a suspicion.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``tcp://host:8786``.
    """

    address: str

    def outcomes(self, jobs: Mapping[int, Traceable[Any]]) -> Iterator[tuple[int, Any]]:
        """Give jobs to the workers and yield what becomes of each; see ``Place``.

        Raises
        ------
        Refusal
            If dask is missing, no scheduler answers, or it has no workers for an hour.

        Warns
        -----
        UserWarning
            If the scheduler has no workers for some seconds, or was started again.
        """
        client = self._client()
        waiting, deaths = list(jobs), dict.fromkeys(jobs, 0)
        given: dict[int, Any] = {}
        since, said = time.monotonic(), False
        try:
            while waiting or given:
                if client.status != "running":
                    waiting = sorted([*given, *waiting])
                    given.clear()
                    client = self._again(client)
                workers = _workers(client)
                if workers != 0:
                    since, said = time.monotonic(), False
                elif time.monotonic() - since > _PATIENCE:
                    raise Refusal(f"{self._without_workers} for {_PATIENCE / 60:g} minutes")
                elif time.monotonic() - since > _SILENT and not said:
                    warnings.warn(
                        f"{self._without_workers}; jobs wait for {_PATIENCE / 60:g} minutes",
                        stacklevel=2,
                    )
                    said = True
                most = -1 if workers is None else max(1, workers)  # one, for which some are started
                while waiting and len(given) < most:
                    place = waiting.pop(0)
                    given[place] = client.submit(deliver, jobs[place], pure=False, retries=0)
                time.sleep(_LOOK)
                for place, future in list(given.items()):
                    if future.status == "pending" or client.status != "running":
                        continue
                    del given[place]
                    outcome = _outcome(future)
                    if outcome is _CANCELLED or outcome is _SUSPECTED:
                        deaths[place] += outcome is _SUSPECTED
                        if deaths[place] < MOST_DEATHS:
                            waiting.append(place)
                            continue
                        outcome = LostJobError(
                            f"dask suspects it {MOST_DEATHS} times of the death of its workers, "
                            "perhaps for lack of memory; start again to go on"
                        )
                    yield place, outcome
        finally:
            client.close()

    def _client(self) -> Any:
        try:
            from distributed import Client  # noqa: PLC0415  (an optional extra)
        except ImportError:
            raise Refusal("dask is not installed; install certibit[cluster]") from None
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it is said here
        connect: Any = Client
        try:
            return connect(self.address)
        except (OSError, ValueError) as error:
            raise Refusal(f"no dask scheduler answers at {self.address}: {error}") from None

    @property
    def _without_workers(self) -> str:
        return (
            f"the dask scheduler at {self.address} has no workers; start some, by such as `dask "
            f"worker {self.address}`"
        )

    def _again(self, client: Any) -> Any:
        """Return a client of the scheduler that has been started again."""
        client.close()
        deadline = time.monotonic() + _RECONNECT
        while True:
            try:
                client = self._client()
                warnings.warn(
                    f"the dask scheduler at {self.address} was started again; start its workers "
                    "again, too",
                    stacklevel=3,
                )
                return client
            except Refusal:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1.0)


_CANCELLED, _SUSPECTED = object(), object()


def _workers(client: Any) -> int | None:
    """Return how many workers there are; None while the scheduler has gone."""
    try:
        return len(client.nthreads())
    except OSError:
        return None


def _outcome(future: Any) -> Any:
    """Return the result or the error of a task that is done, or that dask has given it up."""
    from distributed import KilledWorker  # noqa: PLC0415  (an optional extra)

    if future.status in ("cancelled", "lost"):
        return _CANCELLED
    try:
        if future.status == "finished":
            return future.result()
        error = future.exception()
    except (OSError, CancelledError, asyncio.CancelledError):  # the scheduler has just gone
        return _CANCELLED
    return _SUSPECTED if isinstance(error, KilledWorker) else error
