"""Rows of very many clients in memory-mapped files, which are written from a LibSVM file."""

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.files.cache import cache_folder
from certibit.data.files.svmlight import SUFFIXES, read_rows

_PIECE = 1 << 25
"""Bytes of text that are read at once."""
_ARRAYS = {"indptr": "<i8", "indices": "<i4", "data": "<f8", "targets": "<f8", "starts": "<i8"}
_ABOUT = "about.json"

Piece = tuple["scipy.sparse.csr_array", NDArray[np.float64]]
"""Some rows (k, d) and their labels (k,)."""


@dataclass(frozen=True)
class MappedRows:
    """The rows of n clients, one client after the other, in the files of a folder.

    Files are the arrays of compressed sparse rows: ``indptr`` (N + 1,), ``indices`` and ``data``;
    ``targets`` (N,); and ``starts`` (n + 1,), the first row of every client. They are mapped into
    memory, so that only what is used is read.

    Parameters
    ----------
    folder : Path
    """

    folder: Path

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder}

    @cached_property
    def about(self) -> dict[str, Any]:
        """Features ``d`` and the name of the source, its SHA-256."""
        told: dict[str, Any] = json.loads((self.folder / _ABOUT).read_text())
        return told

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """Where the entries of every row begin, (N + 1,)."""
        return self._array("indptr")

    @cached_property
    def targets(self) -> NDArray[np.float64]:
        """The labels, (N,)."""
        return self._array("targets")

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first row of every client, (n + 1,)."""
        return self._array("starts")

    @cached_property
    def _entries(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return self._array("indices"), self._array("data")

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.starts) - 1

    @property
    def N(self) -> int:  # noqa: N802
        """Number of rows of all clients."""
        return int(self.starts[-1])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.about["d"])

    def of(self, rows: NDArray[np.int64]) -> "scipy.sparse.csr_array":
        """Return some rows, (len(rows), d)."""
        first, count = self.indptr[rows], self.indptr[rows + 1] - self.indptr[rows]
        indptr = np.concatenate([[0], np.cumsum(count)])
        places = np.repeat(first - indptr[:-1], count) + np.arange(indptr[-1])
        indices, data = self._entries
        return scipy.sparse.csr_array(
            (data[places], indices[places], indptr.astype(np.int32)), shape=(len(rows), self.d)
        )

    def between(self, first: int, last: int) -> "scipy.sparse.csr_array":
        """Return the rows from one to before another, (last - first, d), without a copy."""
        indptr = self.indptr[first : last + 1]
        some = slice(int(indptr[0]), int(indptr[-1]))
        indices, data = self._entries
        own = (indptr - indptr[0]).astype(np.int32)
        return scipy.sparse.csr_array(
            (data[some], indices[some], own), shape=(last - first, self.d)
        )

    def _array(self, name: str) -> Any:
        path = self.folder / name
        if not path.stat().st_size:
            return np.empty(0, _ARRAYS[name])
        return np.memmap(path, dtype=_ARRAYS[name], mode="r")


def mapped_file(path: Path, n: int, column: int | None = None) -> MappedRows:
    """Return the rows of a LibSVM file over n clients, from the user's cache or put there.

    The file is read a piece at a time, so that it may be larger than the memory. Clients have
    consecutive rows, m = floor(N/n) each, and the remainder is discarded; or each row names its
    client by the value of a column.

    Parameters
    ----------
    path : Path
        Plain, or ending in .bz2, .xz or .gz.
    n : int
        Number of clients.
    column : int, optional
        The index of the feature, counted from 1, whose value is the number of the client. It is
        taken out of the rows.

    Raises
    ------
    Refusal
        If the file cannot be read or is malformed, or has other clients.
    """
    return mapped_pieces(_pieces(path), _file_digest(path), n, column)


def mapped_pieces(
    pieces: Iterable[Piece], digest: str, n: int, column: int | None = None
) -> MappedRows:
    """Return rows that come a piece at a time, as :func:`mapped_file` does.

    Parameters
    ----------
    pieces : iterable of pairs
        Rows (k, d) as a sparse matrix, and their labels (k,).
    digest : str
        The name of the rows, such as the SHA-256 of their file; with it they are found again.
    n, column
        As for :func:`mapped_file`.
    """
    made_of = f"{digest}-{n}" if column is None else f"{digest}-{n}-column-{column}"
    folder = cache_folder() / "mapped" / made_of
    if not (folder / _ABOUT).is_file():
        aside = folder.with_name(f"{folder.name}.{uuid.uuid4().hex}.part")
        aside.mkdir(parents=True)
        try:
            about = _written(pieces, aside, n, column)
            (aside / _ABOUT).write_text(json.dumps({**about, "source": digest}))
            aside.rename(folder)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            if not (folder / _ABOUT).is_file():  # else another process was faster
                raise
    return MappedRows(folder)


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Refusal(f"{path} cannot be read ({error.strerror}); fetch it again") from None


def _written(pieces: Iterable[Piece], folder: Path, n: int, column: int | None) -> dict[str, Any]:
    """Write the files of a folder; return what is to be told about them."""
    N = entries = d = 0
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((folder / name).open("wb"))
            for name in ("indices", "data", "targets", "indptr", "clients")
        }
        files["indptr"].write(np.zeros(1, _ARRAYS["indptr"]).tobytes())
        for piece, targets in pieces:
            matrix, clients = (piece, targets) if column is None else _without(piece, column)
            files["clients"].write(clients.astype("<i8").tobytes())
            N, d = N + len(targets), max(d, matrix.shape[1])
            files["indices"].write(matrix.indices.astype("<i4").tobytes())
            files["data"].write(matrix.data.astype("<f8").tobytes())
            files["targets"].write(targets.astype("<f8").tobytes())
            files["indptr"].write((matrix.indptr[1:].astype("<i8") + entries).tobytes())
            entries += matrix.nnz
    if not 1 <= n <= N:
        raise Refusal(f"{n} clients for {N} rows; choose from 1 to {N} clients")
    if column is None:
        starts = np.arange(n + 1) * (N // n)
    else:
        starts = _sorted_by_client(folder, n, d, column)
    (folder / "clients").unlink()
    starts.astype("<i8").tofile(folder / "starts")
    return {"d": d, "rows": N}


def _pieces(path: Path) -> Iterator[Piece]:
    """Yield the rows and labels of a file, a piece at a time."""
    lines, rest = 0, b""
    try:
        with SUFFIXES.get(path.suffix, open)(path, "rb") as file:
            while True:
                text = file.read(_PIECE)
                whole, newline, rest = (rest + text).rpartition(b"\n")
                if not text:
                    whole, newline, rest = rest, b"", b""
                piece = whole + newline
                if piece.strip():
                    yield read_rows(
                        piece, f"{path} from line {lines + 1} on" if lines else str(path)
                    )
                lines += piece.count(b"\n")
                if not text:
                    return
    except (OSError, EOFError) as error:
        raise Refusal(f"{path} cannot be read ({error}); fetch it again") from None


def _without(
    matrix: "scipy.sparse.csr_array", column: int
) -> tuple["scipy.sparse.csr_array", NDArray[np.int64]]:
    """Return the rows without a column, and its values, which are whole numbers."""
    if column > matrix.shape[1]:
        raise Refusal(f"the data have no column {column}, which is to name the client of every row")
    values = matrix[:, [column - 1]].toarray().ravel()
    clients = values.astype(np.int64)
    if (clients != values).any():
        wrong = values[clients != values][0]
        raise Refusal(
            f"the data have the value {wrong:g} in column {column}, which is to name the client of "
            "a row; expected whole numbers"
        )
    kept = matrix.indices != column - 1
    before = np.concatenate([[0], np.cumsum(kept)])
    rest = (matrix.data[kept], matrix.indices[kept], before[matrix.indptr])
    return scipy.sparse.csr_array(rest, shape=matrix.shape), clients


def _sorted_by_client(folder: Path, n: int, d: int, column: int) -> NDArray[np.int64]:
    """Sort the rows in the files by their clients, and return where each client begins.

    What is held in memory are a few numbers a row, and the entries of a piece of the rows.
    """
    clients = np.fromfile(folder / "clients", "<i8")
    names, sizes = np.unique(clients, return_counts=True)
    if len(names) != n:
        raise Refusal(
            f"column {column} names {len(names)} clients and {n} are asked for; give @{len(names)}"
        )
    order = np.argsort(clients, kind="stable")
    (folder / "starts").write_bytes(np.array([0, len(order)], "<i8").tobytes())
    unsorted = folder / "unsorted"
    unsorted.mkdir()
    for name in _ARRAYS:
        (folder / name).rename(unsorted / name)
    (unsorted / _ABOUT).write_text(json.dumps({"d": d}))
    source = MappedRows(unsorted)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((folder / name).open("wb"))
            for name in ("indices", "data", "targets")
        }
        width = max(1, int(len(order) * _PIECE // (8 * max(int(source.indptr[-1]), 1))))
        for first in range(0, len(order), width):
            rows = order[first : first + width]
            matrix = source.of(rows)
            files["indices"].write(matrix.indices.astype("<i4").tobytes())
            files["data"].write(matrix.data.astype("<f8").tobytes())
            files["targets"].write(source.targets[rows].astype("<f8").tobytes())
    count = np.diff(source.indptr)[order]
    np.concatenate([[0], np.cumsum(count)]).astype("<i8").tofile(folder / "indptr")
    shutil.rmtree(unsorted)
    return np.concatenate([[0], np.cumsum(sizes)])
