"""Draws the runs of one trace."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas
from numpy.typing import NDArray


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
