"""The clients of a round, and the vectors of all clients, of which few were ever written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal

Clients = NDArray[np.int64]
"""Sorted numbers of clients, (m,)."""


class Crowd:
    """The n clients, and which of them take part in the round that is computed now.

    Parameters
    ----------
    n : int
        Number of clients.

    Attributes
    ----------
    asked : bool
        Whether the method has drawn the cohort of the round.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._clients: Clients | None = None
        self.asked = False

    @property
    def is_drawn(self) -> bool:
        """Whether the cohort of the round is known."""
        return self._clients is not None

    @property
    def clients(self) -> Clients:
        """The cohort, (m,): all clients, if their vectors are used before one is drawn."""
        if self._clients is None:
            self._clients = np.arange(self.n)
        return self._clients

    @property
    def size(self) -> int:
        """M."""
        return len(self.clients)

    @property
    def is_everyone(self) -> bool:
        """Whether all clients take part."""
        return self.is_drawn and self.size == self.n

    def gather(self, clients: Clients) -> None:
        """Say who takes part.

        Raises
        ------
        Refusal
            If others do already.
        """
        if self._clients is not None and not np.array_equal(self._clients, clients):
            raise Refusal(
                f"a round with a cohort of {self.size} clients and another of {len(clients)}; with "
                "by_cohort a round has one"
            )
        self._clients = clients

    def total(self, rows: NDArray[Any]) -> Any:
        """Return the sum over the clients of the cohort, (1, d, 1), of rows or their common one."""
        return self.size * rows if len(rows) == 1 else rows.sum(axis=0, keepdims=True)


class VectorsOfClients:
    """Vectors of n clients, (n, d, 1): one common value, and the vectors that have been written.

    Memory is taken for the clients that were written, or for all. The sum over all clients is kept
    with every writing, in twice the precision of a number (Neumaier's compensated summation, 1974),
    so that it does not drift.

    Parameters
    ----------
    n : int
    value : (1, d, 1)
        What every client has.
    """

    def __init__(self, n: int, value: NDArray[Any]) -> None:
        self.n, self._value = n, value
        self._place: dict[int, int] | None = {}  # None: that of a client is its number
        self._rows = np.empty((0, *value.shape[1:]), value.dtype)
        self._sum = n * value
        self._lost = np.zeros_like(self._sum)

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d, 1)."""
        return (self.n, *self._value.shape[1:])

    @property
    def written(self) -> int:
        """The number of clients whose vector was written."""
        return self.n if self._place is None else len(self._place)

    @property
    def total(self) -> NDArray[Any]:
        """The sum over all clients, (1, d, 1)."""
        return self._sum + self._lost

    def read(self, clients: Clients) -> NDArray[Any]:
        """Return the vectors of some clients, (m, d, 1)."""
        places = self._places(clients)
        rows = np.repeat(self._value, len(clients), axis=0)
        known = places >= 0
        rows[known] = self._rows[places[known]]
        return rows

    def write(self, clients: Clients, rows: NDArray[Any]) -> None:
        """Put the vectors of some clients in the place of those that they have."""
        if rows.dtype.kind == "f":
            self._add(rows.sum(axis=0, keepdims=True))
            self._add(-self.read(clients).sum(axis=0, keepdims=True))
        if self._place is not None:
            new = [client for client in clients.tolist() if client not in self._place]
            self._place.update(zip(new, range(self.written, self.written + len(new)), strict=True))
        if self.written > len(self._rows):
            larger = np.empty((max(self.written, 2 * len(self._rows)), *rows.shape[1:]), rows.dtype)
            larger[: len(self._rows)] = self._rows
            self._rows = larger
        self._rows[self._places(clients)] = rows

    def expect_all(self) -> None:
        """Take memory for all clients, of whom none was written or all."""
        if not self.written:
            self._place, self._rows = None, np.repeat(self._value, self.n, axis=0)

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays (., ., 1): value, numbers of clients, rows, sum."""
        if self._place is None:
            clients = np.arange(self.n)
        else:
            clients = np.fromiter(self._place, np.int64, self.written)
        return {
            "value": self._value,
            "clients": clients[:, None, None],
            "rows": self._rows[: self.written],
            "sum": np.concatenate([self._sum, self._lost]),
        }

    def copy(self) -> "VectorsOfClients":
        """Return the same vectors at a place of their own."""
        arrays = self.as_arrays()
        return VectorsOfClients.from_arrays(self.n, arrays | {"rows": arrays["rows"].copy()})

    @staticmethod
    def from_arrays(n: int, arrays: dict[str, NDArray[Any]]) -> "VectorsOfClients":
        """Return what :meth:`as_arrays` has written."""
        made = VectorsOfClients(n, arrays["value"])
        clients = arrays["clients"].ravel()
        whole = len(clients) == n and np.array_equal(clients, np.arange(n))
        made._place = None if whole else {int(client): k for k, client in enumerate(clients)}
        made._rows = arrays["rows"]
        made._sum, made._lost = arrays["sum"][:1], arrays["sum"][1:]
        return made

    def _places(self, clients: Clients) -> NDArray[np.int64]:
        if self._place is None:
            return clients
        find = self._place.get
        return np.array([find(client, -1) for client in clients.tolist()], np.int64)

    def _add(self, x: NDArray[Any]) -> None:
        changed = self._sum + x
        large = np.abs(self._sum) >= np.abs(x)
        self._lost += np.where(large, (self._sum - changed) + x, (x - changed) + self._sum)
        self._sum = changed
