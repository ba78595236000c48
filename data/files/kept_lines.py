"""Files of JSON values, one per line, each line with its own digest."""

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any


def add_line(path: Path, value: Any) -> None:
    """Append a value of JSON, making the folder where it is missing."""
    text = json.dumps(value)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{_digest(text)} {text}\n")  # after whatever was cut before


def read_lines(path: Path) -> list[Any]:
    """Return the values of a file, none where there is none.

    Lines that are damaged or incomplete are left out, with a warning.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except (FileNotFoundError, NotADirectoryError):
        return []
    pairs = [line.partition(" ") for line in lines if line]
    good = [text for digest, _, text in pairs if digest == _digest(text)]
    if len(good) < len(pairs):
        warnings.warn(
            f"{len(pairs) - len(good)} of {len(pairs)} lines of {path} are damaged; what they "
            "held is computed again",
            stacklevel=2,
        )
    return [json.loads(text) for text in good]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
