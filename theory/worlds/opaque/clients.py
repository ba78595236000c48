"""Arrays that hold one row for all clients that are treated alike, for any number of clients.

The unchanged method uses them like arrays (n, d, R), and sees nothing of them but these letters.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from numbers import Real
from operator import or_
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.theory.worlds.opaque.letters import (
    FEATURES,
    NORM,
    NOT_ALIKE,
    NOT_LINEAR,
    RUNS,
    Letter,
    Opaque,
    refuse,
)

_NUMBERS = Real | np.bool_
_OPERATIONS = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.true_divide: "truediv",
    np.negative: "neg",
    np.positive: "pos",
    np.bitwise_and: "and_",
    np.logical_and: "and_",
    np.bitwise_or: "or_",
    np.logical_or: "or_",
    np.bitwise_xor: "xor",
    np.logical_xor: "xor",
    np.invert: "invert",
    np.logical_not: "invert",
}
_PER_CLASS = "give clients of one class the same number"
_PRODUCTS = {"norm", "dot", "vdot", "vecdot", "inner", "outer", "einsum", "tensordot"}


@dataclass(frozen=True, eq=False)
class ClientRows:
    """The clients that each row represents.

    Attributes
    ----------
    cells : sequence of range
        Clients that are treated alike.
    kinds : sequence of range
        Clients of one kind, of which the cells are parts.
    representatives : (m,) int
        A client of each row.
    counts : (m,) int
        How many clients a row stands for.
    n : int
        Number of clients.
    numbers : callable
        Makes factors of vectors numbers of the kind that rows are made of.
    sums : list of one int
        How many sums over the clients were taken.
    """

    cells: Sequence[range]
    kinds: Sequence[range]
    representatives: NDArray[np.intp]
    counts: NDArray[np.intp]
    n: int
    numbers: Callable[[Any], Any] = np.asarray
    sums: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(
        cls,
        cells: Sequence[range],
        kinds: Sequence[range],
        numbers: Callable[[Any], Any] = np.asarray,
    ) -> "ClientRows":
        """Return rows for the first, the second and the other clients of every cell."""
        parts = _parts(cells)
        first, counts = [part[0] for part in parts], [len(part) for part in parts]
        return cls(cells, kinds, np.array(first), np.array(counts), sum(counts), numbers)

    @cached_property
    def row_of(self) -> NDArray[np.intp]:
        """The row of every client, (n,)."""
        rows = np.zeros(self.n, dtype=np.intp)
        for row, part in enumerate(_parts(self.cells)):
            rows[part.start : part.stop] = row
        return rows

    def array(self, rows: NDArray[Any]) -> Any:
        """Return the array that has these rows, or one row that all share; a mask if of bool."""
        if rows.dtype != bool:
            return ClientArray(rows, self)
        return ClientMask(rows[self.row_of] if len(rows) > 1 else rows, self.kinds)


def _parts(cells: Sequence[range]) -> list[range]:
    return [part for cell in cells for part in (cell[:1], cell[1:2], cell[2:]) if part]


class _Array(Opaque):
    """The common operations of vectors and masks."""

    device: ClassVar[str] = "cpu"

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = _OPERATIONS.get(ufunc)
        if name is None or method != "__call__" or options:
            self._refuse(f"calls {ufunc.__name__} of {self.WORD}")
        if isinstance(inputs[0], Opaque):
            return getattr(operator, name)(*inputs)
        return getattr(inputs[1], f"__r{name.rstrip('_')}__")(inputs[0])

    def __array_function__(
        self, function: Any, types: Iterable[type], inputs: Any, options: Any
    ) -> Any:
        if function is np.where and len(inputs) == 3:
            return chosen(*inputs)
        if function in {np.sum, np.mean}:
            return getattr(inputs[0], function.__name__)(*inputs[1:], **options)
        self._refuse_function(function.__name__)

    def _refuse_function(self, name: str) -> Any:
        if name in _PRODUCTS:
            refuse(NOT_LINEAR, *NORM)
        self._refuse(f"calls {name} of {self.WORD}")

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return _Namespace(self)


class ClientMask(_Array):
    """A mask of clients, (n, 1, R) or (1, 1, R) of all alike, or numbers made of masks.

    It comes from the channel or the problem; one of the method's own is the same for all clients
    of a class.
    """

    WORD = "a mask"
    IS_WHAT = "looks at who takes part"
    INSTEAD = "choose by it with where(mask, x, y) or masked(mask, x)"

    __slots__ = ("_kinds", "_mixed", "_tossed", "_values")

    def __init__(
        self,
        values: NDArray[Any],
        kinds: Sequence[range],
        *,
        tossed: bool = False,
        mixed: bool = False,
    ) -> None:
        self._values, self._kinds, self._tossed, self._mixed = values, kinds, tossed, mixed

    @property
    def shape(self) -> tuple[int, int, Letter]:
        """Clients, 1, runs."""
        return len(self._values), 1, RUNS

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return self._values.dtype

    def _calculated(self, operation: str, *others: Any, reflected: bool = False) -> Any:
        """Return the result of an operation on a mask and other masks or numbers, as in numpy."""
        values = [self._values, *(numbers_of(x, self._kinds) for x in others)]
        if any(x is None for x in values):
            return NotImplemented
        logical = operation in {"and_", "or_", "xor", "invert"}
        of_bool = [np.asarray(x).dtype == bool for x in values]
        if logical and not all(of_bool):
            self._refuse("takes for a mask what is none")
        if not logical and all(of_bool):
            refuse(
                "calculates with masks as if they were numbers",
                f"takes {operation} of masks, which arrays refuse or take for another mask",
                "make numbers of them, 1 * mask, or combine them by &, | and ~",
            )
        made = getattr(operator, operation)(*(values[::-1] if reflected else values))
        return _made_of(made, self._kinds, self, *others)


def _of_mask(operation: str, *, reflected: bool = False) -> Any:
    def calculate(mask: ClientMask, *others: Any) -> Any:
        return mask._calculated(operation, *others, reflected=reflected)

    return calculate


for _operation in ("and_", "or_", "xor", "add", "sub", "mul"):
    _name = _operation.rstrip("_")
    setattr(ClientMask, f"__{_name}__", _of_mask(_operation))
    setattr(ClientMask, f"__r{_name}__", _of_mask(_operation, reflected=True))
for _operation in ("invert", "neg", "pos", "truediv"):
    setattr(ClientMask, f"__{_operation}__", _of_mask(_operation))


class ClientArray(_Array):
    """A vector of every client, (n, d, R), or one that all share, (1, d, R), by its rows.

    As the clients toss coins, it is a polynomial of the numbers of heads. Its ``degrees`` are those
    of what depends on the coin of a client itself, -1 if nothing does, and of what does not. Rows
    that are ``void`` are of clients that were not asked for their gradients. A ``mixed`` vector
    depends on the owners of features, which are not the same for all features.
    """

    WORD = "a vector"
    IS_WHAT = NOT_LINEAR
    INSTEAD = (
        "add vectors, scale them by parameters, n or coins, average them over the clients, and use "
        "copies, masked and where"
    )

    __slots__ = ("_degrees", "_layout", "_mixed", "_rows", "_void")

    def __init__(
        self,
        rows: NDArray[Any],
        layout: ClientRows,
        degrees: tuple[int, int] = (-1, 0),
        void: Any = False,
        mixed: bool = False,
    ) -> None:
        self._rows, self._layout, self._degrees = rows, layout, degrees
        self._void, self._mixed = void, mixed

    @property
    def shape(self) -> tuple[int, Letter, Letter]:
        """Clients, features, runs."""
        return (self._layout.n if self._of_all else 1), FEATURES, RUNS

    @property
    def dtype(self) -> Any:
        """Type of the entries, the same in every world."""
        return np.dtype(float)

    @property
    def _of_all(self) -> bool:
        return len(self._rows) == len(self._layout.counts)

    def sum(self, axis: int | None = None, keepdims: bool = False) -> "ClientArray":
        """Sum over the clients: (1, d, R)."""
        if axis != 0 or not keepdims:
            self._refuse("sums over other than the clients, or leaves their axis out")
        if self.shape[0] == 1:
            return self
        require_asked(self)
        self._layout.sums[0] += 1
        number = object if self._rows.dtype == object else float
        weighted = self._rows * self._layout.counts.astype(number)[:, None, None]
        degrees = -1, mean_degree(self)
        summed = weighted.sum(axis=0, keepdims=True)
        return ClientArray(summed, self._layout, degrees, mixed=self._mixed)

    def mean(self, axis: int | None = None, keepdims: bool = False) -> "ClientArray":
        """Average over the clients: (1, d, R)."""
        return self.sum(axis, keepdims) / self.shape[0]

    def __add__(self, other: Any) -> "ClientArray":
        return self._made(self._rows + self._term(other), other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "ClientArray":
        return self._made(self._rows - self._term(other), other)

    def __rsub__(self, other: Any) -> "ClientArray":
        return self._made(self._term(other) - self._rows, other)

    def __mul__(self, other: Any) -> "ClientArray":
        return self._times(other)

    def __rmul__(self, other: Any) -> "ClientArray":
        return self._times(other)

    def __truediv__(self, other: Any) -> "ClientArray":
        return self._made(self._rows / self._factor(other, "divides two vectors"), other)

    def __rtruediv__(self, other: Any) -> "ClientArray":
        self._refuse("divides by a vector")

    def __neg__(self) -> "ClientArray":
        return self._made(-self._rows)

    def __pos__(self) -> "ClientArray":
        return self

    def _times(self, other: Any) -> "ClientArray":
        factor = self._factor(other, "multiplies two vectors")
        product = self._made(self._rows * factor, other)
        if np.any(self._void):
            product._void = self._void & (factor != 0)
        return product

    def _made(self, rows: NDArray[Any], *others: Any) -> "ClientArray":
        """Return rows that are made of these, of other vectors and of masks."""
        vectors = (self, *(x for x in others if isinstance(x, ClientArray)))
        own, shared = (max(parts) for parts in zip(*(x._degrees for x in vectors), strict=True))
        degrees = (max(own, shared), 0) if tossed(*others) else (own, shared)
        void = reduce(or_, (x._void for x in vectors))
        return ClientArray(rows, self._layout, degrees, void, mixed(self, *others))

    def _term(self, other: Any) -> Any:
        """Return what may be added: the rows of a vector, or 0."""
        if isinstance(other, ClientArray):
            return other._rows
        zero = None if isinstance(other, ClientMask) else numbers_of(other, self._layout.kinds)
        if zero is None or np.any(zero != 0):
            self._refuse("adds numbers to a vector")
        return self._layout.numbers(_rows_of_mask(zero, self._layout))

    def _factor(self, other: Any, product: str) -> Any:
        """Return what may be multiplied with: a number, or one for each row."""
        if isinstance(other, ClientArray):
            self._refuse(product)
        factor = numbers_of(other, self._layout.kinds)
        if factor is None:
            self._refuse(f"calculates with a vector and {type(other).__name__}")
        return self._layout.numbers(_rows_of_mask(factor, self._layout))


@dataclass(frozen=True)
class _Namespace:
    """Functions of opaque arrays, by their names in the array API standard."""

    like: Any
    __name__: ClassVar[str] = "opaque"
    bool: ClassVar[type] = bool

    def where(self, mask: Any, yes: Any, no: Any) -> Any:
        return chosen(mask, yes, no)

    def sum(self, x: Any, **options: Any) -> Any:
        return x.sum(**options)

    def zeros(self, shape: Any, **_: Any) -> Any:
        return np.zeros(shape)

    def ones(self, shape: Any, **_: Any) -> ClientMask:
        """Return the mask of everyone, (n, 1, R)."""
        return self.asarray(np.ones((shape[0], 1, 1), dtype=bool))

    def asarray(self, values: Any, **_: Any) -> Any:
        """Return a vector or a mask as it is, and a mask of the method's own."""
        if isinstance(values, Opaque):
            return values
        kinds = self.like._layout.kinds
        return ClientMask(np.asarray(numbers_of(values, kinds)), kinds)

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self.like._refuse_function(name)


def chosen(mask: Any, yes: Any, no: Any) -> Any:
    """Return ``yes`` where a mask holds and ``no`` elsewhere, both of vectors or of numbers."""
    vector = next((x for x in (yes, no) if isinstance(x, ClientArray)), None)
    opaque = next(x for x in (vector, mask, yes, no) if isinstance(x, ClientArray | ClientMask))
    kinds = opaque._kinds if vector is None else opaque._layout.kinds
    own = numbers_of(mask, kinds)
    if own is None or np.asarray(own).dtype != bool:
        opaque._refuse("chooses by what is no mask")
    if vector is None:
        numbers = [numbers_of(x, kinds) for x in (yes, no)]
        return _made_of(np.where(own, *numbers), kinds, mask, yes, no)
    rows = _rows_of_mask(own, vector._layout), vector._term(yes), vector._term(no)
    made = vector._made(np.where(*rows), mask, yes, no)
    if np.any(made._void):
        made._void = np.where(rows[0], *(getattr(x, "_void", False) for x in (yes, no)))
    return made


def require_asked(x: Any, rows: Any = True) -> None:
    """Refuse a vector that holds, in some rows, gradients for which clients were not asked."""
    if isinstance(x, ClientArray) and np.any(x._void & np.reshape(rows, (-1, 1, 1)).astype(bool)):
        refuse(
            "uses what it did not ask for",
            "takes gradients of clients that are not active",
            "choose those of the active ones with where or masked",
        )


def _made_of(values: NDArray[Any], kinds: Sequence[range], *arrays: Any) -> ClientMask:
    """Return a mask, or numbers of clients, that was made of arrays."""
    return ClientMask(values, kinds, tossed=tossed(*arrays), mixed=mixed(*arrays))


def tossed(*arrays: Any) -> bool:
    """Return whether masks depend on coins of clients, whose numbers of heads are not all tried."""
    return any(isinstance(x, ClientMask) and x._tossed for x in arrays)


def mixed(*arrays: Any) -> bool:
    """Return whether arrays depend on the owners of features."""
    return any(isinstance(x, ClientArray | ClientMask) and x._mixed for x in arrays)


def require_whole(x: Any) -> None:
    """Refuse a vector, or a mask, each of whose features depends on owners of its own."""
    if mixed(x):
        refuse(
            "mixes vectors feature by feature",
            "takes a gradient at, compresses or draws among what depends on owners of features",
            "only send it, or begin the step with it",
        )


def anew(x: Any, layout: ClientRows | None = None) -> Any:
    """Return a vector with the same rows, which depends on no coins; anything else as it is."""
    return ClientArray(x._rows, layout or x._layout) if isinstance(x, ClientArray) else x


def mean_degree(x: Any) -> int:
    """Return the degree of the mean of a vector over the clients in the numbers of heads."""
    return max(x._degrees[0] + 1, x._degrees[1]) if isinstance(x, ClientArray) else 0


def depends_on_heads(x: Any) -> bool:
    """Return whether a vector of a client depends on the coins of others."""
    return isinstance(x, ClientArray) and max(x._degrees) > 0


def numbers_of(x: Any, kinds: Sequence[range]) -> Any:
    """Return a number, what a mask holds, or an array that is one number for each class; or None.

    Raises
    ------
    Refusal
        If an array tells clients of one class, features or runs apart, or a length is not known.
    """
    if isinstance(x, Letter):
        x._refuse(f"calculates with {x.WORD}")
    if isinstance(x, ClientMask):
        return x._values
    if isinstance(x, _NUMBERS):
        return x
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "biufO":
        return None
    if x.dtype == object and not all(isinstance(entry, _NUMBERS) for entry in x.flat):
        return None
    n = kinds[-1].stop
    if x.ndim and (x.shape[1:] != (1, 1) or len(x) not in {1, n}):
        refuse(NOT_ALIKE, f"uses an array of shape {x.shape}", "take one number, or " + _PER_CLASS)
    apart = len(x) > 1 if x.ndim else False
    if apart and any(np.any(x[one.start : one.stop] != x[one.start]) for one in kinds):
        it = "uses an array in which clients of one class have different values"
        refuse(NOT_ALIKE, it, _PER_CLASS + " and each value a class of clients")
    return x


def contents(x: Any, layout: ClientRows) -> NDArray[Any]:
    """Return what a mask holds of every client: (n, 1, 1)."""
    return np.broadcast_to(np.asarray(numbers_of(x, layout.kinds)), (layout.n, 1, 1))


def share(mask: Any, layout: ClientRows) -> float:
    """Return the part of the clients that a mask has; None is everyone."""
    return 1.0 if mask is None else float(np.mean(contents(mask, layout)))


def rows_of(x: Array, layout: ClientRows) -> Any:
    """Return the rows of an array of clients, or of a mask; an array of rows is what it is."""
    if isinstance(x, ClientArray):
        return x._rows
    return _rows_of_mask(x._values, layout) if isinstance(x, ClientMask) else x


def _rows_of_mask(values: Any, layout: ClientRows) -> Any:
    if isinstance(values, np.ndarray) and values.ndim and len(values) > 1:
        return values[layout.representatives]
    return values
