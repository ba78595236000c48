"""Results as JSON in a file that carries its own digest, as :mod:`~certibit.data.files.archive`."""

import hashlib
import json
from pathlib import Path
from typing import Any

from certibit.data.errors import DamagedFileError
from certibit.data.files.cache import write_atomically
from certibit.data.files.sealed import read_sealed

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
    written = read_sealed(path, _LENGTH, _tail)
    try:
        return json.loads(written)["content"]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise DamagedFileError(f"{path} is damaged ({type(fault).__name__}: {fault})") from None


def _tail(body: bytes) -> bytes:
    return _TAIL.format(hashlib.sha256(body).hexdigest()).encode()
