"""Arrays (n, d, 1) of which only the rows of a cohort are computed.

A method computes with the vectors of all n clients, (n, d, R). Where a cohort takes part, most of
these rows are never used, or are what they were. :class:`CohortArray` holds the rows of the cohort,
and what it knows of the rows of the others: the one value that they share, or that they are those
of a state that was kept, or nothing. The class of the method is the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from certibit.data.arrays import is_common
from certibit.data.errors import Refusal
from certibit.solvers.cohorts.crowd import Crowd, VectorsOfClients

Others = NDArray[Any] | VectorsOfClients | None
"""The rows of clients outside the cohort: one value of theirs, as they are kept, or not known."""

_ROW_BY_ROW: tuple[Callable[..., Any], ...] = (np.zeros_like, np.full_like, np.max, np.min)


class NoUse(Refusal, AttributeError):  # noqa: N818  (as its base)
    """What arrays of a cohort cannot do; for what asks whether an array has something, too."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} of vectors of which only the cohort is computed; write formulas of whole "
            "vectors, such as y = y - eta * g, or run the method without by_cohort"
        )


class CohortArray(NDArrayOperatorsMixin):
    """An array (n, d, 1) of the clients, or (1, d, 1) of the server, in a round with a cohort.

    It never changes: what would write into it is refused.

    Parameters
    ----------
    crowd : Crowd
        All clients, and the cohort.
    rows : (m, d, 1) or (1, d, 1), or None
        Those of the cohort, or the one of all of it; None for those that are kept.
    others
        The rows of the others.
    of_clients : bool
        Whether the array has n rows, and not one.
    """

    device = "cpu"
    common = False
    """Whether it is a mask that was drawn, or was computed from such masks alone."""

    def __init__(self, crowd: Crowd, rows: Any, others: Others, of_clients: bool) -> None:
        self.crowd, self.others, self.of_clients = crowd, others, of_clients
        self.unchanged = rows is None
        """Whether these are the vectors that are kept, of the cohort as well."""
        self._rows = rows

    @staticmethod
    def shared(crowd: Crowd, x: NDArray[Any], of_clients: bool = False) -> "CohortArray":
        """Return a vector (1, d, 1) of the server, or one that all clients have alike."""
        return CohortArray(crowd, x, x, of_clients)

    def drawn(self) -> "CohortArray":
        """Return the same array, as a mask that was drawn."""
        self.common = True
        return self

    @staticmethod
    def kept(crowd: Crowd, vectors: VectorsOfClients) -> "CohortArray":
        """Return the vectors of all clients; those of the cohort are read when they are used."""
        return CohortArray(crowd, None, vectors, True)

    @property
    def rows(self) -> Any:
        """The rows of the cohort, (m, d, 1), or one row (1, d, 1) for all of it."""
        if self._rows is None:
            assert isinstance(self.others, VectorsOfClients)
            self._rows = self.others.read(self.crowd.clients)
        return self._rows

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d, 1) or (1, d, 1)."""
        if self.unchanged:
            assert isinstance(self.others, VectorsOfClients)
            return self.others.shape
        return (self.crowd.n if self.of_clients else 1, *self.rows.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """Type of the numbers."""
        return self.rows.dtype

    def total(self) -> Any:
        """Sum over all clients, (1, d, 1).

        Raises
        ------
        Refusal
            If nothing is known of the clients outside of the cohort.
        """
        crowd, others = self.crowd, self.others
        if not self.of_clients:
            return self.rows
        if self.unchanged:
            assert isinstance(others, VectorsOfClients)
            return others.total
        if self.rows is others:
            return crowd.n * np.asarray(others)
        outside = crowd.n - crowd.size
        if not outside:
            return crowd.total(self.rows)
        if isinstance(others, VectorsOfClients):
            return others.total + crowd.total(self.rows - others.read(crowd.clients))
        if others is None:
            raise Refusal(
                "a sum over all clients of vectors that only the cohort computes; such a method "
                "needs all clients in every round: run it without by_cohort"
            )
        summed = crowd.total(self.rows)
        return summed + outside * others if others.any() else summed

    def __array_namespace__(self, api_version: str | None = None) -> "Namespace":
        return Namespace(self.crowd)

    def __getitem__(self, key: Any) -> Any:
        first = key[0] if isinstance(key, tuple) else key
        if first in (slice(None), Ellipsis):
            return self._each(lambda x: x[key], [self])
        if self.of_clients:
            raise Refusal(
                f"the clients {first} of a vector are asked for; with by_cohort one has all"
            )
        return np.array(self.rows[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NoUse("the entries are written")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise NoUse("a numpy array is made")

    def __getattr__(self, name: str) -> Any:
        raise NoUse(f".{name} is used")

    def copy(self) -> "CohortArray":
        """Return the array itself, which never changes."""
        return self

    def __dlpack__(self, **options: Any) -> Any:
        return self.rows.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.rows.__dlpack_device__()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or "out" in options:
            how = "writes in place" if "out" in options else f".{method} is used"
            raise NoUse(f"numpy.{ufunc.__name__} {how}")
        return self._each(lambda *x: ufunc(*x, **options), inputs, _kept_by(ufunc, inputs))

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        if function is np.where:
            return self._each(np.where, arguments, _chosen(*arguments))
        if function is np.sum and options.get("axis") == 0:
            return CohortArray.shared(self.crowd, self.total())
        if function in (np.sum, *_ROW_BY_ROW) and options.get("axis", 1) not in (0, None):
            return self._each(lambda x, *more: function(x, *more, **options), arguments)
        raise NoUse(f"numpy.{function.__name__} is used")

    def _each(
        self, function: Callable[..., Any], inputs: Any, others: Others = None
    ) -> "CohortArray":
        """Apply a function to the rows of the cohort, and to the row of the others."""
        crowd = self.crowd
        inside = [_of_cohort(x, crowd) for x in inputs]
        rows = function(*inside)
        common = all(getattr(x, "common", is_common(x)) for x in inputs)
        if not any(_has_clients(x, crowd) for x in inputs):
            shared = CohortArray.shared(crowd, rows)
            return shared.drawn() if common else shared
        if others is None:
            outside = [_of_others(x, crowd) for x in inputs]
            if all(x is y for x, y in zip(inside, outside, strict=True)):
                others = rows
            elif not any(x is None or isinstance(x, VectorsOfClients) for x in outside):
                others = function(*outside)
        found = CohortArray(crowd, rows, others, True)
        return found.drawn() if common else found


class Namespace:
    """The functions of numpy; zeros and ones of all n clients are stored as one row."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: tuple[int, ...], *, dtype: Any = None, device: Any = None) -> Any:
        """Return zeros."""
        return self._alike(np.zeros, shape, dtype)

    def ones(self, shape: tuple[int, ...], *, dtype: Any = None, device: Any = None) -> Any:
        """Return ones."""
        return self._alike(np.ones, shape, dtype)

    def _alike(self, make: Callable[..., Any], shape: tuple[int, ...], dtype: Any) -> Any:
        many = shape[0] == self._crowd.n
        return CohortArray.shared(self._crowd, make((1, *shape[1:]), dtype=dtype), many)


def _has_clients(x: Any, crowd: Crowd) -> bool:
    return bool(getattr(x, "of_clients", _is_table(x, crowd)))


def _is_table(x: Any, crowd: Crowd) -> bool:
    """Whether a plain array has a row of every client."""
    return isinstance(x, np.ndarray) and x.ndim == 3 and len(x) == crowd.n > 1


def _of_cohort(x: Any, crowd: Crowd) -> Any:
    if isinstance(x, CohortArray):
        return x.rows
    return x[crowd.clients] if _is_table(x, crowd) else x


def _of_others(x: Any, crowd: Crowd) -> Any:
    if isinstance(x, CohortArray):
        return x.others
    return None if _is_table(x, crowd) else x


def _kept_by(ufunc: np.ufunc, inputs: Any) -> Others:
    """Return the rows of the others if one operand determines the result; None otherwise.

    Adding 0 leaves kept rows as they are, a set has no client in common with the empty set, and a
    sum with an infinite or undefined term is undefined.
    """
    others = [x.others if isinstance(x, CohortArray) else x for x in inputs]
    if ufunc is np.bitwise_and:
        return next((x for x in others if isinstance(x, np.ndarray) and not x.any()), None)
    if ufunc is np.add and isinstance(others[1], VectorsOfClients):
        others.reverse()
    one, other = others[0], others[-1]
    if ufunc not in (np.add, np.subtract) or not isinstance(one, VectorsOfClients):
        return None
    if other is None or isinstance(other, VectorsOfClients):
        return None
    if not np.any(other):
        return one
    return None if np.isfinite(other).all() else np.full_like(np.asarray(other), np.nan)


def _chosen(mask: Any, yes: Any, no: Any) -> Others:
    """Return the rows of the others where a mask decides alike for all of them."""
    if not isinstance(mask, CohortArray) or not isinstance(mask.others, np.ndarray):
        return None
    for value, chosen in ((True, yes), (False, no)):
        if (mask.others == value).all():
            return chosen.others if isinstance(chosen, CohortArray) else None
    return None
