"""Files that end with the SHA-256 of the bytes before it."""

from collections.abc import Callable
from pathlib import Path

from certibit.data.errors import DamagedFileError


def read_sealed(path: Path, length: int, seal: Callable[[bytes], bytes]) -> bytes:
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
