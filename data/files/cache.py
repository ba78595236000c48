"""The user's cache folder, and files that are written whole or not at all."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO


def cache_folder() -> Path:
    """Return the folder of ``BITBOUND_CACHE``, or else the user's cache folder of this system."""
    import pooch  # noqa: PLC0415  (slow to import)

    return Path(os.environ.get("BITBOUND_CACHE") or pooch.os_cache("bitbound"))


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that a reader sees all of it or none, making its folder where missing.

    Parameters
    ----------
    path : Path
        Where.
    write : callable
        Writes the content into the open binary file that it is given.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            write(file)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text and a final newline, whole or not at all."""
    write_atomically(path, lambda file: file.write(f"{text}\n".encode()))
