"""Rows and targets of a user: arrays, sparse matrices, data frames."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.files.dataset import Dataset

_ORIGIN = "own"


def own_data(X: Any, y: Any, *, name: str, classes: bool) -> Dataset:
    """Read rows (N, d) and targets (N,), which become positions among classes, or are numbers.

    Raises
    ------
    Refusal
        If they are no finite numbers, do not fit each other, or are nothing.
    """
    A = _rows(X)
    target = np.asarray(y)
    if target.shape != (A.shape[0],):
        raise Refusal(
            f"targets y of shape {target.shape} for {A.shape[0]} rows; give one target a row"
        )
    if classes:
        if target.dtype.kind == "f" and not np.isfinite(target).all():
            raise Refusal("the targets y have a value that is not finite; leave its row out")
        found, position = np.unique(target, return_inverse=True)
        return Dataset(name, A, position.astype(np.float64), tuple(found.tolist()), _ORIGIN)
    return Dataset(name, A, _finite(target, "targets y"), (), _ORIGIN)


def _rows(X: Any) -> "scipy.sparse.csr_array":
    if scipy.sparse.issparse(X):
        given: Any = X
        A = given.tocsr()
        A = scipy.sparse.csr_array(
            (_finite(A.data, "rows X"), A.indices, A.indptr), shape=A.shape, copy=True
        )
        A.sum_duplicates()
    else:
        dense = _finite(np.asarray(X), "rows X")
        if dense.ndim != 2:
            raise Refusal(f"rows X of shape {dense.shape}; give a matrix with one row an example")
        A = scipy.sparse.csr_array(dense)
    A.eliminate_zeros()
    if not (A.shape[0] and A.nnz):
        raise Refusal(f"rows X of shape {A.shape} have no entry but zeros; give some")
    return A


def _finite(values: NDArray[Any], what: str) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise Refusal(
                f"the {what} are {values.dtype}, not numbers; encode or leave out what is no number"
            ) from None
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise Refusal(f"the {what} have a value that is not finite; fill it or leave its row out")
    return numbers


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of a user's npz file; objects are not unpacked.

    Raises
    ------
    Refusal
        If it cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except FileNotFoundError:
        raise Refusal(f"there is no file {path}; give an .npz file") from None
    except Exception as error:  # what the unpackers raise on nonsense is documented nowhere
        raise Refusal(f"{path} is no npz file of plain arrays ({type(error).__name__})") from None
