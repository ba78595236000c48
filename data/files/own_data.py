"""A data set; rows, targets and labels of a user: arrays, lists, sparse matrices, data frames.

Types are looked at before anything is converted: what is missing, or is no number where one is
expected, is refused and never becomes a number or a class.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with a target each: one of two classes, if nothing else is said.

    Parameters
    ----------
    name : str
        Name by which it is selected.
    A : sparse matrix of shape (N, d)
        The rows, without explicit zeros.
    b : array of shape (N,)
        The targets: -1.0 or +1.0; positions among several classes; or numbers.
    labels : tuple
        The classes of the source, sorted: those that became -1 and +1, or all of several. None if
        the targets are numbers.
    origin : str
        Where it came from: a file, or a package.
    """

    name: str
    A: "scipy.sparse.csr_array"
    b: NDArray[np.float64]
    labels: tuple[Any, ...]
    origin: str


_ORIGIN = "own"
_NUMBERS, _TRUTH = "numbers", "truth values"
_KINDS = (
    (timedelta | np.timedelta64, "durations"),  # numpy counts its own among the integers
    (bool | np.bool_, _TRUTH),
    (Real | Decimal, _NUMBERS),
    (str, "words"),
    (bytes, "bytes"),
    (date | np.datetime64, "dates"),
)
_KINDS_OF_ARRAYS = {
    "m": "durations", "b": _TRUTH, "i": _NUMBERS, "u": _NUMBERS, "f": _NUMBERS, "U": "words",
    "S": "bytes", "M": "dates",
}  # fmt: skip


def own_data(X: Any, y: Any, *, name: str, classes: bool) -> Dataset:
    """Read rows (N, d) and targets (N,), which become positions among classes, or are numbers.

    Raises
    ------
    Refusal
        If rows or targets are refused by :func:`own_rows`, :func:`own_labels` or
        :func:`own_numbers`, do not fit each other, or all rows are 0.
    """
    A = own_rows(X)
    if not (A.shape[0] and A.nnz):
        raise Refusal(f"rows X of shape {A.shape} have no entry but zeros; give some")
    if classes:
        labels, positions = own_labels(y, "targets y", A.shape[0])
        return Dataset(name, A, positions.astype(np.float64), labels, _ORIGIN)
    targets = own_numbers(y, "targets y")
    _require_one_a_row(targets, "targets y", A.shape[0])
    return Dataset(name, A, targets, (), _ORIGIN)


def own_rows(X: Any) -> "scipy.sparse.csr_array":
    """Read rows (N, d) of finite numbers; duplicate entries are added up.

    Raises
    ------
    Refusal
        If they are something else.
    """
    is_sparse: bool = scipy.sparse.issparse(X)
    if is_sparse and X.ndim == 2:
        entries = X.tocoo()
        data = own_numbers(entries.data, "rows X", entries.row)
        A = scipy.sparse.csr_array((data, (entries.row, entries.col)), shape=X.shape)
    else:
        dense = own_numbers(X, "rows X")
        if dense.ndim != 2:
            raise Refusal(f"rows X of shape {dense.shape}; give a matrix with one row an example")
        A = scipy.sparse.csr_array(dense)
    A.eliminate_zeros()
    return A


def own_numbers(
    given: Any, what: str, rows: NDArray[np.integer] | None = None
) -> NDArray[np.float64]:
    """Return a copy of finite real numbers, of any shape, as 64-bit floats.

    ``rows`` are those of the numbers, by default their places on the first axis.

    Raises
    ------
    Refusal
        If one is missing, masked, not finite, too large, or no real number: a complex number, a
        word, a date.
    """
    array = _array(given, what)
    _kinds(array, what, (_NUMBERS, _TRUTH), rows)
    try:
        numbers = array.astype(np.float64)
    except OverflowError:
        raise Refusal(f"{what} have a number beyond those of 64 bits; scale them") from None
    _require(np.isfinite(numbers), array, what, rows)
    return numbers


def own_labels(given: Any, what: str, N: int) -> tuple[tuple[Any, ...], NDArray[np.intp]]:
    """Return the sorted values of N labels, and the position of each label among them, (N,).

    Raises
    ------
    Refusal
        If there are not N of them, one is missing, or they are not all numbers, all truth values,
        all words, all dates or all durations.
    """
    array = _array(given, what, listed=object)
    _require_one_a_row(array, what, N)
    kinds = _kinds(array, what, _KINDS_OF_ARRAYS.values())
    try:
        if len(set(kinds.values())) > 1:
            raise TypeError
        values, positions = np.unique(array, return_inverse=True)
    except TypeError:
        raise Refusal(
            f"{what} are of several types ({', '.join(sorted(kind.__name__ for kind in kinds))}); "
            "give one type, such as numbers or words"
        ) from None
    return tuple(values.tolist()), positions


def _require_one_a_row(array: NDArray[Any], what: str, N: int) -> None:
    if array.shape != (N,):
        raise Refusal(f"{what} of shape {array.shape} for {N} rows; give one a row")


def _array(given: Any, what: str, listed: type | None = None) -> NDArray[Any]:
    """Return what is given as an array that has the types of its entries."""
    plain = hasattr(given, "__len__") or hasattr(given, "__array__") or isinstance(given, Number)
    if not plain or isinstance(given, str | bytes | Mapping | Set) or scipy.sparse.issparse(given):
        raise Refusal(
            f"{what} are of the type {type(given).__name__}; give an array, a list or a data frame"
        )
    if _is_masked(given):
        raise Refusal(f"{what} have masked values; fill them or leave their rows out")
    is_list = isinstance(given, list | tuple)
    try:
        array = np.asarray(given, listed if is_list else None)
        if array.dtype.kind == "T" or (is_list and array.dtype.kind not in "biuf"):
            array = np.asarray(given, object)  # words and numbers would all become words
    except Exception as error:  # of whatever library the array is
        raise Refusal(
            f"{what} cannot be read as an array ({str(error).partition('.')[0]}); give equally "
            "many numbers a row"
        ) from None
    return array


def _is_masked(given: Any) -> bool:
    if isinstance(given, list | tuple):
        return any(map(_is_masked, given))
    return isinstance(given, np.ma.MaskedArray) and bool(np.ma.getmaskarray(given).any())


def _kinds(
    array: NDArray[Any], what: str, expected: Any, rows: NDArray[np.integer] | None = None
) -> dict[type, str]:
    """Return the types of the entries and their kinds; none is missing, and all are expected."""
    if array.dtype.kind != "O":
        if array.dtype.kind in "fmM":
            _require(np.isfinite(array), array, what, rows)
        kinds = {array.dtype.type: _KINDS_OF_ARRAYS.get(array.dtype.kind, "")}
    else:
        _require(np.array([not _is_missing(each) for each in array.flat]), array, what, rows)
        kinds = {
            kind: next((name for base, name in _KINDS if issubclass(kind, base)), "")
            for kind in set(map(type, array.flat))
        }
    for kind, name in kinds.items():
        if name not in expected:
            other = np.array([not isinstance(each, kind) for each in array.flat])
            _require(other, array, what, rows, f", of the type {kind.__name__}; give numbers")
    return kinds


def _is_missing(value: Any) -> bool:
    try:
        infinite = isinstance(value, float | np.floating) and bool(np.isinf(value))
        return value is None or infinite or bool(value != value)  # NaN, NaT  # noqa: PLR0124
    except TypeError:  # that of pandas, of which nothing is known
        return True
    except ValueError:  # an array
        return False


def _require(
    sound: NDArray[np.bool_],
    array: NDArray[Any],
    what: str,
    rows: NDArray[np.integer] | None = None,
    wrong: str = "; fill it or leave the row out",
) -> None:
    """Refuse the first entry that is not sound, with its row."""
    if sound.all():
        return
    place = int(np.argmin(sound))
    value = array.flat[place]
    row = place // (array.size // len(np.atleast_1d(array))) if rows is None else rows[place]
    shown = repr(str(value)) if isinstance(value, str) else str(value)
    raise Refusal(f"{what} have the value {shown[:40]} in row {row + 1}{wrong}")
