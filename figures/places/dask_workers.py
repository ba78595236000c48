"""Jobs on the workers of a dask scheduler."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from certibit.data.errors import Refusal
from certibit.figures.places.delivery import MOST_DEATHS, LostJobError, Traceable, deliver

_LOOK = 0.2
_RECONNECT = 300.0
"""Seconds in which a scheduler that has gone may come back."""


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
            If dask is missing, or no scheduler answers.
        """
        client = self._client()
        waiting, deaths = list(jobs), dict.fromkeys(jobs, 0)
        given: dict[int, Any] = {}
        try:
            while waiting or given:
                if client.status != "running":
                    waiting = sorted([*given, *waiting])
                    given.clear()
                    client = self._again(client)
                while waiting and len(given) < _workers(client):
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
        connect: Any = Client
        try:
            return connect(self.address)
        except (OSError, ValueError) as error:
            raise Refusal(f"no dask scheduler answers at {self.address}: {error}") from None

    def _again(self, client: Any) -> Any:
        """Return a client of the scheduler that has been started again."""
        client.close()
        deadline = time.monotonic() + _RECONNECT
        while True:
            try:
                return self._client()
            except Refusal:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1.0)


_CANCELLED, _SUSPECTED = object(), object()


def _workers(client: Any) -> int:
    """Return how many workers there are, at least one; 0 while the scheduler has gone."""
    try:
        return max(1, len(client.nthreads()))
    except OSError:
        return 0


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
