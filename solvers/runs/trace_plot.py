"""Draws the runs of one trace."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas
from numpy.typing import NDArray


def draw_runs(
    runs: Sequence[Mapping[str, NDArray[np.float64]]], x: str, meaning: str, title: str
) -> Canvas:
    """Draw f - f* of every run against a column; its axis is logarithmic if it spans decades."""
    canvas = Canvas(figsize=(6, 4), layout="constrained")
    axes = canvas.add_subplot()
    for columns in runs:
        positive = columns["gap"] > 0
        axes.plot(columns[x][positive], columns["gap"][positive], color="#D55E00", alpha=0.7)
    ends = [columns[x][-1] for columns in runs]
    axes.set(yscale="log", xlabel=meaning, ylabel="f - f*")
    axes.set_title(title.split("\n", maxsplit=1)[0], fontsize=9)
    if min(ends) > 0 and max(ends) > 10 * min(ends):
        axes.set(xscale="log")
    return canvas
