"""Arrays and JSON in files that end with their own SHA-256; a damaged file is refused."""

import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import DamagedFileError
from certibit.data.files.cache import write_atomically


def _read_sealed(path: Path, length: int, seal: Callable[[bytes], bytes]) -> bytes:
    """Return all bytes of a file whose last ones seal the others.

    Parameters
    ----------
    length : int
        The number of bytes of the seal.
    seal : callable
        Returns the seal of the bytes before.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        If there is no such file.
    DamagedFileError
        If the file cannot be read, or its seal does not fit.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise DamagedFileError(f"{path} cannot be read ({error.strerror})") from None
    if content[-length:] != seal(content[:-length]):
        raise DamagedFileError(f"{path} is damaged (it does not end with its SHA-256)")
    return content


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
    content = _read_sealed(path, _DIGITS, _digest)
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
            fate = f"set aside as {path.replace(path.with_name(f'{path.name}.damaged')).name}"
        except FileNotFoundError:  # another process was faster, and has told it
            return None
        except OSError as error:
            fate = f"left there, as it cannot be renamed ({error.strerror}),"
        warnings.warn(f"{damage}; it is {fate} and {then}", stacklevel=3)
        return None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


_TAIL = '"sha256": "{}"}}\n'
_LENGTH = len(_TAIL.format("0" * 64))


def write_record(path: Path, content: Any) -> None:
    """Write values of strict JSON, whole or not at all.

    The file is one JSON object: ``content``, and in ``sha256`` the SHA-256 of all bytes before that
    key.
    """
    write_atomically(path, lambda file: file.write(record_bytes(content)))


def record_bytes(content: Any) -> bytes:
    """Return what :func:`write_record` writes."""
    body = f'{{"content": {json.dumps(content, allow_nan=False)},\n'.encode()
    return body + _tail(body)


def read_record(path: Path) -> Any:
    """Return the content of a file of :func:`write_record`.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        If there is none.
    DamagedFileError
        If it cannot be read, or is not what was written.
    """
    written = _read_sealed(path, _LENGTH, _tail)
    try:
        return json.loads(written)["content"]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise DamagedFileError(f"{path} is damaged ({type(fault).__name__}: {fault})") from None


def _tail(body: bytes) -> bytes:
    return _TAIL.format(hashlib.sha256(body).hexdigest()).encode()
