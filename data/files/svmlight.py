"""The LibSVM text format: one row per line, ``<label> <index>:<value> ...``, indices from 1."""

import bz2
import gzip
import io
import lzma
import math
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal

SUFFIXES: dict[str, Callable[[bytes], bytes]] = {
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
}
"""How files with these endings are decompressed."""

_LARGEST_INDEX = 2**31 - 1


def content(path: Path) -> bytes:
    """Read a file, decompressed where its name ends in .bz2, .xz or .gz.

    Raises
    ------
    Refusal
        If it cannot be read or decompressed.
    """
    try:
        return SUFFIXES.get(path.suffix, bytes)(path.read_bytes())
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise Refusal(
            f"{path} cannot be read ({error or type(error).__name__}); fetch it again"
        ) from None


def parse(
    text: bytes, source: str, features: int = 0
) -> tuple["scipy.sparse.csr_array", NDArray[np.float64], tuple[float, float]]:
    """Parse the text of a file of two classes.

    Text after a # is a comment; blank lines are skipped; explicit zeros are dropped; a row without
    entries is legal.

    Parameters
    ----------
    text : bytes
    source : str
        Name of the file, for messages.
    features : int
        The least number of features d; a larger index makes it larger.

    Returns
    -------
    A : sparse matrix of shape (N, d)
    b : array of shape (N,)
        -1.0 for the smaller label value, +1.0 for the larger.
    labels : tuple of float
        The two label values: (smaller, larger).

    Raises
    ------
    Refusal
        In one sentence with file and line, for a malformed line, an index that is not at least 1
        and increasing, a value or label that is not finite, and label values that are not two; for
        a file without a row or without an entry.
    """
    A, values = read_rows(text, source, features)
    labels = np.unique(values)
    if len(labels) != 2:
        raise Refusal(_labels_told(text, source, labels))
    return A, np.where(values == labels[1], 1.0, -1.0), (float(labels[0]), float(labels[1]))


def read_rows(
    text: bytes, source: str, features: int = 0
) -> tuple["scipy.sparse.csr_array", NDArray[np.float64]]:
    """Parse the text of a file with any finite numbers as labels: the rows and the labels.

    Raises
    ------
    Refusal
        As :func:`parse` does, but for the label values.
    """
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415  (slow to import)

    try:
        matrix, values = load_svmlight_file(io.BytesIO(text), zero_based=False)
    except (ValueError, OverflowError) as error:
        _refuse_first_fault(text, source)
        raise Refusal(f"{source} is malformed: {error}") from None
    finite = np.isfinite(matrix.data).all() and np.isfinite(values).all()
    if not finite or b"_" in text or b"qid" in text:
        _refuse_first_fault(text, source)  # scikit-learn lets these pass
    if not len(values):
        raise Refusal(f"{source} is empty; expected lines of the form <label> <index>:<value> ...")
    if not matrix.nnz:
        raise Refusal(f"{source} has no entry in any of its {len(values)} rows; expected some")
    A = scipy.sparse.csr_array(
        (matrix.data, matrix.indices, matrix.indptr),
        shape=(len(values), max(matrix.shape[1], features)),
    )
    A.eliminate_zeros()
    return A, values


def _lines(text: bytes) -> list[tuple[int, list[bytes]]]:
    """Line numbers from 1 with the words of all lines that have any, comments removed."""
    words = (line.partition(b"#")[0].split() for line in text.split(b"\n"))
    return [(number, parts) for number, parts in enumerate(words, start=1) if parts]


def _refuse_first_fault(text: bytes, source: str) -> None:
    for number, (label, *pairs) in _lines(text):
        fault = _label_fault(label) or _pairs_fault(pairs)
        if fault:
            raise Refusal(f"{source}, line {number}: {fault}")


def _number(word: bytes) -> float | None:
    try:
        return None if b"_" in word else float(word)
    except ValueError:
        return None


def _label_fault(word: bytes) -> str | None:
    value = _number(word)
    if value is None:
        return f"the label {_shown(word)} is not a number; expected one, such as -1 or +1"
    if not math.isfinite(value):
        return f"the label {_shown(word)} is not finite; expected a finite number"
    return None


def _pairs_fault(pairs: list[bytes]) -> str | None:
    previous = 0
    for pair in pairs:
        first, _, second = pair.partition(b":")
        index, value = _number(first), _number(second)
        if index is None or value is None or not first.lstrip(b"+-").isdigit():
            return f"{_shown(pair)} is malformed; expected <index>:<value>"
        if not 1 <= index <= _LARGEST_INDEX:
            return f"{_shown(pair)} has the index {index:.0f}; expected 1 to {_LARGEST_INDEX}"
        if index <= previous:
            return f"the index {index:.0f} follows {previous}; expected increasing indices"
        if not math.isfinite(value):
            return f"{_shown(pair)} has a value that is not finite; expected a finite number"
        previous = int(index)
    return None


def _shown(word: bytes) -> str:
    """Quote a word of the file for a message, at most 40 characters of it."""
    return repr(word.decode("ascii", errors="replace")[:40])


def _labels_told(text: bytes, source: str, labels: NDArray[np.float64]) -> str:
    advice = "expected two label values, any two"
    if len(labels) == 1:
        return f"{source} has the one label value {labels[0]:g}; {advice}"
    first: dict[float, int] = {}
    for number, (word, *_) in _lines(text):
        first.setdefault(float(word), number)
    (one, _), (two, _), (three, number), *_ = first.items()
    return (
        f"{source}, line {number}: {three:g} is a label value beside {one:g} and {two:g}; {advice}"
    )
