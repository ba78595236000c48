"""Arrays in an npz file with its own SHA-256; a damaged file is refused."""

import hashlib
import io
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import DamagedFileError
from certibit.data.files.cache import write_atomically
from certibit.data.files.sealed import read_sealed

Arrays = Mapping[str, NDArray[Any]]

_DIGITS = 2 * hashlib.sha256().digest_size

Content = TypeVar("Content")


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write an npz file, whole or not at all; its last bytes are the SHA-256 of all others.

    They are the comment of the zip archive, so that ``numpy.load`` reads the file as well.
    """
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    with zipfile.ZipFile(packed, "a") as archive:
        archive.comment = bytes(_DIGITS)
    body = packed.getvalue()[:-_DIGITS]
    write_atomically(path, lambda file: file.write(body + _digest(body)))


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read a file written by :func:`save_arrays`.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        If there is none.
    DamagedFileError
        If it cannot be read, or is not what was written.
    """
    content = read_sealed(path, _DIGITS, _digest)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except Exception as error:  # what the unpackers raise on nonsense is documented nowhere
        raise DamagedFileError(
            f"{path} is damaged (it holds no arrays: {type(error).__name__})"
        ) from None


def load_or_set_aside(
    path: Path, load: Callable[[Path], Content], then: str = "computed again"
) -> Content | None:
    """Load a file; None if there is none, or if it is damaged.

    A damaged file is named in a warning and set aside: renamed, so that it can be looked at. The
    warning ends with what happens then.
    """
    try:
        return load(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except DamagedFileError as damage:
        try:
            fate = f"set aside as {_set_aside(path).name}"
        except FileNotFoundError:  # another process was faster, and has told it
            return None
        except OSError as error:
            fate = f"left there, as it cannot be renamed ({error.strerror}),"
        warnings.warn(f"{damage}; it is {fate} and {then}", stacklevel=3)
        return None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _set_aside(path: Path) -> Path:
    """Rename a file to ``<name>.damaged``, with a number behind it where that is taken."""
    number = 1
    while True:
        aside = path.with_name(f"{path.name}.damaged" + (f"-{number}" if number > 1 else ""))
        try:
            aside.touch(exist_ok=False)  # the name is ours, then
        except FileExistsError:
            number += 1
            continue
        try:
            return path.replace(aside)
        except OSError:
            aside.unlink()
            raise
