"""Plots: lines with bands on axes, side by side, in the style of all figures; and their files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, NullLocator
from numpy.typing import ArrayLike, NDArray

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_atomically
from certibit.figures.costs import BAND
from certibit.solvers.runs.trace_plot import Canvas

STYLE = Path(__file__).with_name("certibit.mplstyle")
FORMATS = ("svg", "png")
"""The formats of the commands' figures."""
_ALL = (*FORMATS, "pdf")
"""The formats that a figure can be written in."""
DASHED, DOTTED = (0, (4, 1.6)), (0, (1.2, 1.3))
GREY: dict[str, Any] = {"color": "0.35", "linewidth": 0.7}
"""The look of a level."""
_SPAN = 100.0
"""A logarithmic axis has small ticks if its ends are nearer."""
_LONG = 80
"""A title of more letters is small."""


@dataclass(frozen=True)
class Line:
    """Points on axes and how they look, with a band where they are medians of runs.

    Attributes
    ----------
    x, y : (K,)
        The points.
    look : dict
        Properties of a line of matplotlib.
    band : ((K,), (K,)), optional
        Its ends.
    name : str
        Written at its last point.
    """

    x: ArrayLike
    y: ArrayLike
    look: dict[str, Any] = field(default_factory=dict)
    band: tuple[ArrayLike, ArrayLike] | None = None
    name: str = ""

    @classmethod
    def of_runs(cls, x: ArrayLike, runs: NDArray[np.float64], look: dict[str, Any]) -> "Line":
        """Return the median of runs (K, seeds) and their 10-90 % band."""
        low, median, high = np.percentile(np.minimum(runs, 1e300), (BAND[0], 50, BAND[1]), axis=1)
        return cls(x, median, look, (low, high))

    def draw(self, place: Axes) -> None:
        """Draw the band and the points."""
        if self.band is not None:
            place.fill_between(self.x, *self.band, color=self.look["color"], alpha=0.12, lw=0)
        place.plot(self.x, self.y, **self.look)
        if self.name:
            end = np.asarray(self.x)[-1], np.asarray(self.y)[-1]
            place.annotate(self.name, end, textcoords="offset points", xytext=(3, 3))


@dataclass(frozen=True)
class Plot:
    """Axes with their lines and labels.

    Attributes
    ----------
    lines : sequence of Line
        What is drawn.
    title, xlabel, ylabel : str
    log : str
        Which axes are logarithmic: "", "x", "y" or "xy".
    xlim, ylim : (float, float), optional
    levels : dict
        Where lines cross the axes: "x" or "y" and the value there.
    short : str
        Which axes write thousands as k, at the large ticks only: "", "x", "y" or "xy".
    level_name : str
        Written at the right end of a level of y.
    finish : callable, optional
        Called with the axes when they are drawn.
    """

    lines: Sequence[Line]
    title: str = ""
    xlabel: str = ""
    ylabel: str = ""
    log: str = ""
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    levels: dict[str, float] = field(default_factory=dict)
    short: str = ""
    level_name: str = ""
    finish: Callable[[Axes], Any] | None = None

    def draw(self, place: Axes) -> None:
        """Draw the lines and set the axes."""
        for line in self.lines:
            line.draw(place)
        for across, value in self.levels.items():
            cross = place.axvline if across == "x" else place.axhline
            cross(value, linestyle=DOTTED, zorder=1, **GREY)
            if self.level_name:
                place.annotate(
                    self.level_name, (1, value), xycoords=("axes fraction", "data"),
                    xytext=(3, 0), textcoords="offset points", va="center",
                )  # fmt: skip
        place.set(**{f"{name}scale": "log" for name in self.log})
        names = ("title", "xlabel", "ylabel", "xlim", "ylim")
        place.set(**{name: value for name in names if (value := getattr(self, name))})
        for name, axis in (("x", place.xaxis), ("y", place.yaxis)):
            low, high = axis.get_view_interval()
            if name in self.log and (name in self.short or high > _SPAN * low):
                axis.set_minor_locator(NullLocator())
            if name in self.short:
                axis.set_major_formatter(EngFormatter(sep=""))
        if self.finish is not None:
            self.finish(place)


def draw_plots(
    name: str,
    rows: Sequence[Sequence[Plot]],
    folder: Path,
    size: tuple[float, float],
    legend: dict[str, Any] | None = None,
    title: str = "",
    **options: Any,
) -> list[Path]:
    """Draw rows of plots and write the figure; the files are returned.

    Parameters
    ----------
    name : str
        Of the files.
    rows : sequence of sequence of Plot
        From the top down, each from left to right and of the same length.
    folder : Path
        Where the files are written.
    size : (float, float)
        Inches.
    legend : dict, optional
        Arguments of the legend, and in ``looks`` what it names with its look; by default it names
        the labels of all plots.
    title : str
        What stands above all.
    **options
        Of ``Figure.subplots``, such as shared axes.
    """
    with style.context(STYLE):
        canvas = Canvas(figsize=size, layout="constrained")
        axes = canvas.subplots(len(rows), len(rows[0]), squeeze=False, **options)
        for plots, places in zip(rows, axes, strict=True):
            for plot, place in zip(plots, places, strict=True):
                plot.draw(place)
        if legend is not None:
            named: dict[str, Any] = {
                label: handle
                for place in axes.flat
                for handle, label in zip(*place.get_legend_handles_labels(), strict=True)
            }
            for label, look in legend.pop("looks", {}).items():
                named[label] = Line2D([], [], label=label, **look)
            canvas.legend(handles=named.values(), **legend)
        if title:
            canvas.suptitle(title, fontsize="medium" if len(title) < _LONG else "small")
        return save(canvas, folder, name)


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
    with style.context(STYLE):
        write_atomically(path, lambda file: canvas.savefig(file, format=suffix, metadata=metadata))
    return path
