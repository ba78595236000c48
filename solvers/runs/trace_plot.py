"""Figures that papers and notebooks take, and the runs of one trace on one."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray

_TRUE_TYPE: Any = {"pdf.fonttype": 42, "ps.fonttype": 42}
_DOTS = 110
"""Of an inch, in a notebook."""


class Canvas(Figure):
    """A figure whose files have TrueType fonts, as publishers ask, and that a notebook shows."""

    def savefig(self, fname: Any, *, transparent: bool | None = None, **options: Any) -> None:
        """Write the figure to a file, as that of matplotlib does."""
        with rc_context(_TRUE_TYPE):
            super().savefig(fname, transparent=transparent, **options)

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=_DOTS)
        return picture.getvalue()


def draw_runs(
    runs: Sequence[Mapping[str, NDArray[np.float64]]],
    x: str,
    y: str,
    meanings: tuple[str, str],
    title: str,
) -> Canvas:
    """Draw y of every run against the column x, which is logarithmic if it spans decades.

    ``meanings`` are the labels of x and y.
    """
    canvas = Canvas(figsize=(6, 4), layout="constrained")
    axes = canvas.add_subplot()
    for columns in runs:
        positive = columns[y] > 0
        axes.plot(columns[x][positive], columns[y][positive], color="#D55E00", alpha=0.7)
    ends = [columns[x][-1] for columns in runs]
    axes.set(yscale="log", xlabel=meanings[0], ylabel=meanings[1])
    axes.set_title(title.split("\n", maxsplit=1)[0], fontsize=9)
    if min(ends) > 0 and max(ends) > 10 * min(ends):
        axes.set(xscale="log")
    return canvas
