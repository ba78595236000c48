"""The style of all figures, and their files."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Canvas

from bitbound.data.errors import Refusal
from bitbound.data.files.cache import write_atomically

STYLE = Path(__file__).with_name("bitbound.mplstyle")
FORMATS = ("svg", "png")


def save(canvas: Canvas, folder: Path, name: str) -> list[Path]:
    """Write a canvas in every format; give the files."""
    return [write_canvas(canvas, folder / f"{name}.{suffix}") for suffix in FORMATS]


def require_format(path: Path) -> None:
    """Refuse a file whose ending is no format of figures."""
    if path.suffix[1:] not in FORMATS:
        endings = " or ".join(f".{suffix}" for suffix in FORMATS)
        raise Refusal(f"{path} is no figure that can be written; end it in {endings}")


def write_canvas(canvas: Canvas, path: Path) -> Path:
    """Write a canvas in the format of its file, atomically and without a date; give the file."""
    suffix = path.suffix[1:]
    metadata: dict[str, Any] = {"Date": None} if suffix == "svg" else {}
    write_atomically(path, lambda file: canvas.savefig(file, format=suffix, metadata=metadata))
    return path
