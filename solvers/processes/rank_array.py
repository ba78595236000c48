"""Arrays of which a process holds the rows of its own clients.

A method computes with arrays (n, d, R). Spread over processes (*ranks*), each rank holds the rows
of its own clients, and rank 0 is the server as well. The method class is the same: its arithmetic
is elementwise over the clients, and the mean over clients, the only operation across them, is one
of the server. :class:`RankArray` gives each of its arrays this meaning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import is_common
from certibit.data.errors import Refusal


@dataclass(frozen=True)
class Share:
    """The clients of one rank: those of the slice, out of n; rank 0 is the server, too."""

    n: int
    clients: slice
    serves: bool

    @property
    def own(self) -> int:
        """How many clients the rank has."""
        return int(self.clients.stop - self.clients.start)

    @staticmethod
    def of(n: int, rank: int, ranks: int) -> "Share":
        """Return the share of a rank: contiguous clients, and as equal numbers as possible.

        Raises
        ------
        Refusal
            If there are not two clients for every rank (an array of one client could not be told
            from one that all clients share).
        """
        if ranks > 1 and n < 2 * ranks:
            raise Refusal(
                f"{ranks} processes for {n} clients; start at most {max(n // 2, 1)}, so that each "
                "has two clients"
            )
        return Share(n, slice(rank * n // ranks, (rank + 1) * n // ranks), rank == 0)

    def rows(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the rows of the rank's clients as a plain array; (1, d, R) stays as it is."""
        plain = x.view(np.ndarray) if isinstance(x, np.ndarray) else np.asarray(x)
        if len(plain) == self.n != self.own:
            return plain[self.clients].copy()  # not a view that keeps all rows
        return plain

    def array(self, x: NDArray[Any], received: bool = False, common: bool = False) -> "RankArray":
        """Return the array with the clients that its rows belong to."""
        array = np.asarray(x).view(RankArray)
        array.share, array.received, array.common = self, received, common
        return array


_WRITES = (np.copyto, np.put, np.place, np.putmask, np.put_along_axis)


class RankArray(np.ndarray):
    """An array (n, d, R) or (1, d, R) of a run that is spread over ranks.

    Three kinds are told apart. (1, d, R) belongs to all clients, or to the server alone; the other
    ranks have NaN in its place until it is broadcast. A *received* array is known to the server
    in whole: there it has n rows, and elsewhere those of the rank's own clients; masks that are
    drawn from the common seed have n rows everywhere. All others have the rows of the rank's
    clients. Combined with one of these, any array gives its rows of the same clients.

    What is computed of masks from the common seed alone is ``common``, as without ranks.

    A sum over the clients is one of the server over all n rows, in their order, as without ranks;
    other ranks get NaN. A sum of vectors that the server has not received is refused.
    """

    share: Share
    received: bool
    common: bool

    def __array_finalize__(self, origin: Any) -> None:
        if isinstance(origin, RankArray):
            self.share = origin.share
        self.received = getattr(origin, "received", False)
        self.common = getattr(origin, "common", False)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.add and method == "reduce" and 0 in _axes(options.get("axis", 0)):
            return self._sum(**options)
        targets = options.pop("out", ())
        plain, received = self._aligned(inputs)
        common = is_common((inputs, options))
        result = self._wrapped(getattr(ufunc, method)(*plain, **options), received, common)
        if not targets:
            return result
        (target,) = targets
        self._write(target, ..., result)
        return target

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __getitem__(self, key: Any) -> Any:
        self._require_all_clients(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._require_all_clients(key)
        self._write(self, key, value)

    def _write(self, target: NDArray[Any], key: Any, value: Any) -> None:
        """Write the rows of the same clients; refuse those that the server does not know."""
        known = getattr(target, "received", False)
        of_clients = np.ndim(value) == 3 and len(value) != 1
        if known and of_clients and not getattr(value, "received", False):
            raise Refusal(
                "vectors that were not sent are written into those that the server has received; "
                "write y = y + z in place of y += z, or run this method in one process"
            )
        if of_clients and not (known and len(value) == len(target)):
            value = self.share.rows(np.asarray(value))
        np.asarray(target)[key] = value
        if isinstance(target, RankArray):
            target.common = False

    def _require_all_clients(self, key: Any) -> None:
        first = key[0] if isinstance(key, tuple) and key else key
        everyone = first is Ellipsis or (isinstance(first, slice) and first == slice(None))
        if self.ndim == 3 and len(self) != 1 and not everyone:
            raise Refusal(
                f"the clients {first!r} of a vector are asked for; over processes a rank has its "
                "own only: write [:, ...], or run this method in one process"
            )

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: Mapping[str, Any]
    ) -> Any:
        if function is np.sum and 0 in _axes(options.get("axis")):
            return self._sum(**options)
        if function in _WRITES or "out" in options:
            raise Refusal(
                f"numpy.{function.__name__} writes into its argument, of which every process has "
                "other clients; write y = y + z, or run this method in one process"
            )
        plain, received = self._aligned(arguments)
        common = is_common((arguments, options))
        return self._wrapped(function(*plain, **options), received, common)

    def _aligned(self, inputs: Sequence[Any]) -> tuple[list[Any], bool]:
        """Return plain arrays of the same clients, and whether the server knows all of them."""
        rows = [x for x in _flat(inputs) if getattr(x, "ndim", 0) == 3 and len(x) != 1]
        received = all(isinstance(x, RankArray) and x.received for x in rows)
        whole = received and all(len(x) == self.share.n for x in rows)

        def plain(x: Any) -> Any:
            if isinstance(x, list | tuple):
                return type(x)(map(plain, x))
            if not isinstance(x, np.ndarray):
                return x
            return x.view(np.ndarray) if whole or x.ndim != 3 else self.share.rows(x)

        return [plain(x) for x in inputs], received

    def _wrapped(self, result: Any, received: bool, common: bool = False) -> Any:
        if isinstance(result, np.ndarray) and result.ndim == 3:
            return self.share.array(result, received, common)
        return result

    def _sum(self, **options: Any) -> Any:
        if len(self) != 1 and not self.received and self.share.own != self.share.n:
            raise Refusal(
                "the mean over the clients of vectors that were not sent; over processes the "
                "server knows only what it has received: run this method in one process"
            )
        known = len(self) in (1, self.share.n)
        summed = np.add.reduce(self.view(np.ndarray), **options)
        return self._wrapped(summed if known else np.full_like(summed, np.nan), True)


def _axes(axis: Any) -> tuple[int, ...]:
    return (0,) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def _flat(inputs: Sequence[Any]) -> list[Any]:
    return [x for one in inputs for x in (_flat(one) if isinstance(one, list | tuple) else [one])]
