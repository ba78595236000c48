"""The user's cache folder, and files that are written whole or not at all."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

from platformdirs import user_cache_dir


def cache_folder() -> Path:
    """Return the folder of ``CERTIBIT_CACHE``, or else the user's cache folder of this system."""
    return Path(os.environ.get("CERTIBIT_CACHE") or user_cache_dir("certibit")).absolute()


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that a reader sees all of it or none, making its folder where missing.

    It is written under another name, ``<name>.<random>.part``, and renamed. A device or a pipe,
    such as ``/dev/stdout``, is written to and not replaced.

    Parameters
    ----------
    path : Path
        Where.
    write : callable
        Writes the content into the open binary file that it is given.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        with path.open("wb") as device:
            write(device)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            write(file)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # such as a full disk
            error.filename = str(path)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text and a final newline, whole or not at all."""
    write_atomically(path, lambda file: file.write(f"{text}\n".encode()))
