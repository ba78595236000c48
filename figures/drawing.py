"""The style of all figures, and their files."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Canvas

from bitbound.data.files.cache import write_atomically

STYLE = Path(__file__).with_name("bitbound.mplstyle")
FORMATS = ("svg", "png")


def save(canvas: Canvas, folder: Path, name: str) -> list[Path]:
    """Write a canvas in every format, atomically and without a date; give the files."""
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    for path in paths:
        metadata: dict[str, Any] = {"Date": None} if path.suffix == ".svg" else {}
        write_atomically(
            path,
            lambda file, path=path, metadata=metadata: canvas.savefig(  # type: ignore[misc]
                file, format=path.suffix[1:], metadata=metadata
            ),
        )
    return paths
