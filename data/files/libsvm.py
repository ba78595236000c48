"""Data sets by name or path: local files, or downloads from the LibSVM page; both are verified.

The text format has one row per line, ``<label> <index>:<value> ...``, with indices from 1.
"""

import bz2
import difflib
import gzip
import hashlib
import io
import lzma
import math
import os
import warnings
import zlib
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.files.cache import cache_folder, write_text
from certibit.data.files.manifest import ADDRESS, BUNDLED, CATALOGUE, NAMES, PREFIX, LibSVMFile
from certibit.data.files.own_data import Dataset

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
    A, values = _read_rows(text, source, features)
    labels = np.unique(values)
    if len(labels) != 2:
        raise Refusal(_labels_told(text, source, labels))
    return A, np.where(values == labels[1], 1.0, -1.0), (float(labels[0]), float(labels[1]))


def _read_rows(
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
    if value is None and b"," in word:
        return (
            f"{_shown(word)} has commas; files of LibSVM have lines such as '+1 3:0.5 7:1', and "
            "the rows of CSV are given in Python: certibit.problem(X, y, clients=9)"
        )
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
        f"{source}, line {number}: {three:g} is a label value beside {one:g} and {two:g}; "
        f"{advice}, or the loss multinomial"
    )


def verify(
    dataset: Dataset, entry: LibSVMFile, path: Path, first: Path, exactly: bool = False
) -> None:
    """Refuse a file that is not what the catalogue says.

    Unknown values are None; the figure of the page for d binds only a file of that page. A file
    without a manifest is compared, byte for byte, with its pin ``first`` if that exists.
    """
    rows, features = dataset.A.shape
    manifest = entry.manifest
    checks: list[tuple[str, int | str, int | str | None]] = [("rows", rows, entry.rows)]
    if manifest is not None or exactly:
        checks.append(("features", features, entry.features))
    if manifest is not None:
        positives = int(np.count_nonzero(dataset.b > 0))
        checks += [
            ("rows", rows, manifest.rows),
            ("entries that are not zero", dataset.A.nnz, manifest.nonzeros),
            ("rows of the smaller label", rows - positives, manifest.negatives),
            ("rows of the larger label", positives, manifest.positives),
            ("as SHA-256 of its text", normalised_sha256(content(path)), manifest.sha256),
        ]
    elif first.exists():
        text = first.read_text(encoding="utf-8", errors="replace").strip()
        checks.append((f"as SHA-256, which {first} keeps,", _file_sha256(path), text))
    for what, found, expected in checks:
        if expected not in (None, found):
            raise Refusal(
                f"{path} is not the set {dataset.name}: it has {found} {what}, expected {expected};"
                " remove it, or load it by its path"
            )


def _pin(file: Path) -> Path:
    """Return where the SHA-256 that a set had when it was downloaded is kept."""
    return file.with_name(f"{file.name}.sha256")


def _file_sha256(file: Path) -> str:
    """SHA-256 of the bytes of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def normalised_sha256(text: bytes) -> str:
    """SHA-256 of a text with LF line ends, no trailing white space, no blank lines."""
    lines = [line.rstrip() for line in text.splitlines()]
    return hashlib.sha256(b"".join(line + b"\n" for line in lines if line)).hexdigest()


def load(name_or_path: str | Path, download: bool = True) -> Dataset:
    """Load a data set of two classes.

    The file is looked for in every folder of the environment variable ``CERTIBIT_DATA`` (separated
    as in ``PATH``), then in the user's cache, then on the LibSVM page. Files may be plain or end in
    .bz2, .xz or .gz. For the named data sets the SHA-256 of the file is known and checked. The
    SHA-256 of the other files of the page, ``libsvm:NAME``, is not known: N and d are checked if
    the page states them, and later loads must match the SHA-256 of the first download. In a folder
    of ``CERTIBIT_DATA`` such a file is found without the prefix, too. A path is loaded unchecked.

    Parameters
    ----------
    name_or_path : str or Path
        A name, ``libsvm:NAME``, the name of a file in a folder of ``CERTIBIT_DATA``, or a path.
    download : bool
        Whether a file of the LibSVM page that is not here may be downloaded into the cache.

    Raises
    ------
    Refusal
        If the name is unknown (with the nearest names) or lacks its prefix, the file cannot be had
        (with the address and the folder to put it in), is malformed (with the line), or is not what
        the catalogue says.

    Warns
    -----
    UserWarning
        If a file with an unknown SHA-256 is downloaded; the warning says what was checked.

    Examples
    --------
    >>> from certibit import load
    >>> dataset = load("breast-cancer")  # comes with scikit-learn
    >>> dataset.A.shape, dataset.b[:3]
    ((569, 30), array([-1., -1., -1.]))
    """
    name = str(name_or_path)
    if name == BUNDLED:
        return _bundled()
    own_name = name.removeprefix(PREFIX)
    name = own_name if own_name in CATALOGUE else name
    entry = CATALOGUE.get(name)
    if entry is not None:
        folders = [*_own_folders(), _downloads()]
        path = _find(entry.file, folders) or _download(entry, download)
        if entry.manifest is None and path.parent == _downloads() and not _pin(path).exists():
            raise Refusal(
                f"{_pin(path)}, the SHA-256 of the first download of {entry.name}, is not there; "
                f"remove {path} to download it again, or load it by its path"
            )
    elif (entry := CATALOGUE.get(PREFIX + name)) is not None:
        path = _found_by_user(name, entry)
    else:
        return read(_path(name))
    dataset = read(path, name=name, features=entry.features)
    verify(dataset, entry, path, _pin(path))
    return dataset


def read(path: Path, *, name: str | None = None, features: int = 0) -> Dataset:
    """Read a file of two classes, whatever its two label values are.

    Parameters
    ----------
    path : Path
        A file, plain or ending in .bz2, .xz or .gz.
    name : str, optional
        By default the name of the file.
    features : int
        The least number of features d; a larger index in the file makes it larger.

    Raises
    ------
    Refusal
        If the file cannot be read, is malformed, or does not have two label values.
    """
    A, b, labels = parse(content(path), str(path), features)
    return Dataset(name or _plain_name(path), A, b, labels, str(path))


def _plain_name(path: Path) -> str:
    return path.stem if path.suffix in SUFFIXES else path.name


def load_numbers(name_or_path: str | Path, download: bool = True) -> Dataset:
    """Load a data set whose labels may be any numbers; see :func:`load`."""
    name = str(name_or_path)
    plain = name.removeprefix(PREFIX)
    if name == BUNDLED or plain in CATALOGUE or PREFIX + plain in CATALOGUE:
        return replace(load(name, download), labels=())
    path = _path(name)
    A, values = _read_rows(content(path), str(path))
    return Dataset(_plain_name(path), A, values, (), str(path))


def _bundled() -> Dataset:
    """Return the breast-cancer set of scikit-learn with every feature standardised.

    Its file is read without scikit-learn, which is slow to import.
    """
    package = find_spec("sklearn")
    assert package is not None  # certibit requires it
    (folder,) = package.submodule_search_locations or ("",)
    file = Path(folder) / "datasets" / "data" / "breast_cancer.csv"
    rows = np.loadtxt(file, delimiter=",", skiprows=1)
    data = np.ascontiguousarray(rows[:, :-1])
    standardised = (data - data.mean(axis=0)) / data.std(axis=0)
    return Dataset(
        BUNDLED,
        scipy.sparse.csr_array(standardised),
        2.0 * rows[:, -1] - 1.0,
        (0.0, 1.0),
        "scikit-learn",
    )


def _own_folders() -> list[Path]:
    listed = os.environ.get("CERTIBIT_DATA", "").split(os.pathsep)
    return [Path(folder) for folder in listed if folder]


def _downloads() -> Path:
    return cache_folder() / "libsvm"


def _find(file: str, folders: list[Path]) -> Path | None:
    plain = file.removesuffix(".bz2").removesuffix(".xz")
    for folder in folders:
        for suffix in ("", *SUFFIXES):
            path = folder / (plain + suffix)
            if os.path.isfile(path):
                return path
    return None


def _found_by_user(name: str, entry: LibSVMFile) -> Path:
    """Return the path of a user's file with an unknown SHA-256, by its name."""
    path = _find(entry.file, _own_folders())
    if path is None:
        raise Refusal(
            f"{name} is in no folder of CERTIBIT_DATA and its SHA-256 is not known here; "
            f"{entry.name} downloads the file of the LibSVM page, whose content is not verified"
        )
    return path


def _path(name: str) -> Path:
    path = Path(name)
    if os.path.isfile(path):  # also where the name is too long for one
        return path
    if path.name != name:
        raise Refusal(f"there is no file {name}; give the path of a LibSVM file or a name")
    found = _find(name, _own_folders())
    if found is None:
        names = {each.removeprefix(PREFIX): each for each in (*CATALOGUE, *NAMES)}
        close = difflib.get_close_matches(name.removeprefix(PREFIX), names, n=3, cutoff=0.0)
        near = ", ".join(names[each] for each in close)
        raise Refusal(f"the data set {name!r} is unknown; the nearest names are {near}")
    return found


def _download(entry: LibSVMFile, allowed: bool) -> Path:
    address, folder = f"{ADDRESS}/{entry.file}", _downloads()
    reason = "downloading is switched off"
    if allowed:
        import pooch  # noqa: PLC0415  (slow to import)

        pooch.get_logger().setLevel("WARNING")  # the bar and the refusal say what happens
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=folder, suffix=".part") as aside:
                file = Path(
                    pooch.retrieve(
                        address, known_hash=None, fname=entry.file, path=aside, progressbar=True
                    )
                )
                dataset = read(file, name=entry.name, features=entry.features)
                kept = folder / entry.file
                verify(dataset, entry, file, _pin(kept), exactly=True)
                if entry.manifest is None:  # a pin without its file binds the next download
                    write_text(_pin(kept), _file_sha256(file))
                file.replace(kept)
        except OSError as error:
            reason = f"the download failed with {type(error).__name__}"
        except Refusal as refusal:
            reason = f"what was downloaded is not kept, as {refusal}"
        else:
            if entry.manifest is None:
                rows = f"N = {entry.rows} and " if entry.rows else ""
                warnings.warn(
                    f"the content of {entry.name} is not verified, as its SHA-256 is unknown: only "
                    f"{rows}that no index is above {entry.features} was checked; it is kept as "
                    f"{kept} with its SHA-256 beside it, and later loads must match that",
                    stacklevel=3,
                )
            return kept
    raise Refusal(
        f"{entry.name} is in no folder of CERTIBIT_DATA and {reason};"
        f" fetch {address} by other means into a folder that CERTIBIT_DATA names"
    )
