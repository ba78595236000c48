"""Arrays that hold one row for all clients that are treated alike, for any number of clients.

They look like arrays (n, d, R) and are used by the unchanged method; what is stored has a few rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ClientRows:
    """Which client each row stands for.

    Attributes
    ----------
    cells : sequence of range
        Clients that are treated alike.
    representatives : (m,) int
        A client of each row.
    counts : (m,) int
        How many clients a row stands for.
    n : int
        Number of clients.
    """

    cells: Sequence[range]
    representatives: NDArray[np.intp]
    counts: NDArray[np.intp]
    n: int

    @classmethod
    def of(cls, cells: Sequence[range]) -> "ClientRows":
        """Return rows for the first, the second and the other clients of every cell."""
        parts = _parts(cells)
        first, counts = [part[0] for part in parts], [len(part) for part in parts]
        return cls(cells, np.array(first), np.array(counts), sum(counts))

    @cached_property
    def row_of(self) -> NDArray[np.intp]:
        """The row of every client, (n,)."""
        rows = np.zeros(self.n, dtype=np.intp)
        for row, part in enumerate(_parts(self.cells)):
            rows[part.start : part.stop] = row
        return rows


def _parts(cells: Sequence[range]) -> list[range]:
    return [part for cell in cells for part in (cell[:1], cell[1:2], cell[2:]) if part]


class ClientArray(NDArrayOperatorsMixin):
    """An array (n, d, R) by its rows (m, d, R), or (1, d, R) of what all clients share.

    Operators, ``where`` and sums work on the rows; for anything else the array is written out.
    Arrays of numpy with n rows are taken to be the same for all clients of a row.
    """

    def __init__(self, values: NDArray[Any], layout: ClientRows) -> None:
        self.values, self.layout = values, layout

    @property
    def shape(self) -> tuple[int, int, int]:
        """Clients, features, runs."""
        rows, d, runs = self.values.shape
        return (self.layout.n if rows == len(self.layout.counts) else 1), d, runs

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return self.values.dtype

    @property
    def device(self) -> str:
        """Where the entries are."""
        return "cpu"

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return 3

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        written = self.values[self.layout.row_of] if self.shape[0] > 1 else self.values
        return written if dtype is None else written.astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.signature:
            written = [np.asarray(x) if isinstance(x, ClientArray) else x for x in inputs]
            return getattr(ufunc, method)(*written, **options)
        return self._by_rows(ufunc, inputs)

    def __array_function__(
        self, function: Any, types: Iterable[type], inputs: Any, options: Any
    ) -> Any:
        if function is np.where and len(inputs) == 3:
            return self._by_rows(np.where, inputs)
        if function in {np.sum, np.mean} and options.get("axis") == 0 and options.get("keepdims"):
            return inputs[0].sum() if function is np.sum else inputs[0].mean()
        written = [np.asarray(x) if isinstance(x, ClientArray) else x for x in inputs]
        return function(*written, **options)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and index[0] == slice(None):
            return ClientArray(self.values[index], self.layout)
        return np.asarray(self)[index]

    def sum(self, axis: int = 0, keepdims: bool = True) -> Any:
        """Sum over the clients: (1, d, R)."""
        if axis != 0 or not keepdims:
            return np.asarray(self).sum(axis=axis, keepdims=keepdims)
        if self.shape[0] == 1:
            return self
        weighted = (
            self.values * self.layout.counts.astype(object if self._exact else float)[:, None, None]
        )
        return ClientArray(weighted.sum(axis=0, keepdims=True), self.layout)

    def mean(self, axis: int = 0, keepdims: bool = True) -> Any:
        """Average over the clients: (1, d, R)."""
        if axis != 0 or not keepdims:
            return np.asarray(self).mean(axis=axis, keepdims=keepdims)
        return self.sum() / self.shape[0]

    @cached_property
    def _exact(self) -> bool:
        return bool(self.dtype == object)

    def _by_rows(self, function: Callable[..., Any], inputs: Sequence[Any]) -> "ClientArray":
        return ClientArray(function(*(rows_of(x, self.layout) for x in inputs)), self.layout)


def rows_of(x: Any, layout: ClientRows) -> Any:
    """Return the rows of an array, those of an array of numpy with n rows included."""
    if isinstance(x, ClientArray):
        return x.values
    if isinstance(x, np.ndarray) and x.ndim == 3 and x.shape[0] == layout.n > 1:
        return x[layout.representatives]
    return x
