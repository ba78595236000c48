"""Data sets by name or path: found here, or downloaded from the LibSVM page; checked either way."""

import difflib
import hashlib
import importlib.util
import os
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.data.files.cache import cache_folder
from bitbound.data.files.dataset import Dataset
from bitbound.data.files.manifest import ADDRESS, BUNDLED, CATALOGUE, NAMES, LibSVMFile
from bitbound.data.files.svmlight import SUFFIXES, content, parse, read_rows


def load(name_or_path: str | Path, download: bool = True) -> Dataset:
    """Load a data set of two classes.

    Searched are every folder of the environment variable ``BITBOUND_DATA`` (separated as in
    ``PATH``), the user's cache, and then the LibSVM page. Files may be plain or end in .bz2, .xz
    or .gz. What the catalogue knows of a set is checked: the SHA-256 of some, N and d of most. Of
    the others the SHA-256 of the first download is kept and checked; a file by path is taken as it
    is.

    Parameters
    ----------
    name_or_path : str or Path
        A name of the catalogue, the name of a file in a folder of ``BITBOUND_DATA``, or a path.
    download : bool
        Whether a set of the catalogue that is not here may be downloaded into the cache.

    Raises
    ------
    Refusal
        If the name is unknown (with the nearest names), the file cannot be had (with the address
        and the folder to put it in), is malformed (with the line), or is not what the catalogue
        says.

    Warns
    -----
    UserWarning
        If a set is downloaded whose SHA-256 is not known; it says what was checked.

    Examples
    --------
    >>> from bitbound import load
    >>> dataset = load("breast-cancer")  # comes with scikit-learn
    >>> dataset.A.shape, dataset.b[:3]
    ((569, 30), array([-1., -1., -1.]))
    """
    name = str(name_or_path)
    if name == BUNDLED:
        return _bundled()
    entry = CATALOGUE.get(name)
    if entry is None:
        return read(_path(name))
    path = _find(entry.file) or _download(entry, download)
    dataset = read(path, name=name, features=entry.features)
    _verify(dataset, entry, path)
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
    if name == BUNDLED or name in CATALOGUE:
        return replace(load(name, download), labels=())
    path = _path(name)
    A, values = read_rows(content(path), str(path))
    return Dataset(_plain_name(path), A, values, (), str(path))


def _bundled() -> Dataset:
    """Return scikit-learn's breast-cancer set with every feature standardised."""
    data, target = _breast_cancer()
    standardised = (data - data.mean(axis=0)) / data.std(axis=0)
    return Dataset(
        BUNDLED,
        scipy.sparse.csr_array(standardised),
        2.0 * target - 1.0,
        (0.0, 1.0),
        "scikit-learn",
    )


def _breast_cancer() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return features (N, d) and targets (N,), from scikit-learn's file: importing it is slow."""
    spec = importlib.util.find_spec("sklearn")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / "datasets" / "data" / "breast_cancer.csv"
        if path.is_file():
            rows = np.loadtxt(path, delimiter=",", skiprows=1)
            return np.ascontiguousarray(rows[:, :-1]), rows[:, -1]
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415  (slow to import)

    data, target = load_breast_cancer(return_X_y=True)
    return data, target


def _folders() -> list[Path]:
    listed = os.environ.get("BITBOUND_DATA", "").split(os.pathsep)
    return [Path(folder) for folder in listed if folder] + [cache_folder() / "libsvm"]


def _find(file: str) -> Path | None:
    plain = file.removesuffix(".bz2").removesuffix(".xz")
    for folder in _folders():
        for suffix in ("", *SUFFIXES):
            path = folder / (plain + suffix)
            if os.path.isfile(path):
                return path
    return None


def _path(name: str) -> Path:
    path = Path(name)
    if os.path.isfile(path):  # also where the name is too long for one
        return path
    if path.name != name:
        raise Refusal(f"there is no file {name}; give the path of a LibSVM file or a name")
    found = _find(name)
    if found is None:
        near = ", ".join(difflib.get_close_matches(name, NAMES, n=3, cutoff=0.0))
        raise Refusal(f"the data set {name!r} is unknown; the nearest names are {near}")
    return found


def _download(entry: LibSVMFile, allowed: bool) -> Path:
    address, folder = f"{ADDRESS}/{entry.file}", cache_folder() / "libsvm"
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
                _verify(dataset, entry, file, exactly=True)
                kept = file.replace(folder / entry.file)
                if entry.manifest is None:
                    _pin(kept).write_text(normalised_sha256(content(kept)) + "\n", "utf-8")
        except OSError as error:
            reason = f"the download failed with {type(error).__name__}"
        except Refusal as refusal:
            reason = f"what was downloaded is not kept, as {refusal}"
        else:
            if entry.manifest is None:
                rows = f"N = {entry.rows} and " if entry.rows else ""
                warnings.warn(
                    f"{entry.name} was downloaded, and its SHA-256 is not known here: only {rows}"
                    f"that no index is above {entry.features} was checked; it is kept as {kept}, "
                    "with its SHA-256 beside it, and must stay the same from now on",
                    stacklevel=3,
                )
            return kept
    raise Refusal(
        f"{entry.name} is in no folder of BITBOUND_DATA and {reason};"
        f" fetch {address} by other means and put it into {folder}"
    )


def _verify(dataset: Dataset, entry: LibSVMFile, path: Path, exactly: bool = False) -> None:
    """Refuse a file that is not what the catalogue says.

    What it does not know is None; the figure of the page for d binds only a file of that page.
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
    elif (pin := _pin(path)).exists():
        first = pin.read_text(encoding="utf-8", errors="replace").strip()
        checks.append(("as SHA-256 of its text", normalised_sha256(content(path)), first))
    for what, found, expected in checks:
        if expected not in (None, found):
            raise Refusal(
                f"{path} is not the set {entry.name}: it has {found} {what}, expected {expected};"
                " remove it, or load it by its path"
            )


def _pin(file: Path) -> Path:
    """Return where the SHA-256 that a set had when it was downloaded is kept."""
    return file.with_name(f"{file.name}.sha256")


def normalised_sha256(text: bytes) -> str:
    """SHA-256 of a text with LF line ends, no trailing white space, no blank lines."""
    lines = [line.rstrip() for line in text.splitlines()]
    return hashlib.sha256(b"".join(line + b"\n" for line in lines if line)).hexdigest()
