"""The style of all figures, and their files."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Canvas

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_atomically

STYLE = Path(__file__).with_name("certibit.mplstyle")
FORMATS = ("svg", "png")
"""The formats of the commands' figures."""
_ALL = (*FORMATS, "pdf")
"""The formats that a figure can be written in."""


def save(canvas: Canvas, folder: Path, name: str) -> list[Path]:
    """Write a canvas in every format, and return the files."""
    return [write_canvas(canvas, folder / f"{name}.{suffix}") for suffix in FORMATS]


def require_format(path: Path) -> None:
    """Refuse a file whose ending is no format of figures."""
    if path.suffix[1:] not in _ALL:
        endings = " or ".join(f".{suffix}" for suffix in _ALL)
        raise Refusal(f"{path} is no figure that can be written; end it in {endings}")


def write_canvas(canvas: Canvas, path: Path) -> Path:
    """Write a canvas to a file, atomically and without a date; return the file."""
    suffix = path.suffix[1:]
    dates = {"svg": "Date", "pdf": "CreationDate"}
    metadata: dict[str, Any] = {dates[suffix]: None} if suffix in dates else {}
    write_atomically(path, lambda file: canvas.savefig(file, format=suffix, metadata=metadata))
    return path
