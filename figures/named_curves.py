"""Draws what accuracies cost on axes: a curve each, named where it ends, the best on top."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

from certibit.data.errors import Refusal
from certibit.figures.costs import CostCurve
from certibit.figures.drawing import STYLE
from certibit.figures.text.tables import short_cost
from certibit.solvers.runs.trace_plot import Canvas

_CURVES, _MARGINS, _ROW = 2.4, 0.9, 0.17
"""Inches: the height of the curves, what is above and below, a line of names."""
_DECADE = 10.0
MEASURE_LABELS = {"gap": r"$f(x) - f^\star$", "squared_gradient": r"$|\nabla f(x)|^2$"}
"""Labels of the axis of accuracies."""


@dataclass(frozen=True)
class NamedPlot:
    """What accuracies cost: a curve each, named where it ends, on axes with a title.

    Attributes
    ----------
    title, xlabel : str
    labels : sequence of str
    looks : sequence of dict
        Colour, marker and line style of every curve.
    curves : sequence of CostCurve
    math : bool
        Whether the title has formulas.
    """

    title: str
    xlabel: str
    labels: Sequence[str]
    looks: Sequence[dict[str, Any]]
    curves: Sequence[CostCurve]
    math: bool = False


def named_height(curves: int) -> float:
    """Return the inches of a canvas with so many curves."""
    return _CURVES + _ROW * (curves + 0.8) + _MARGINS


def named_canvas(plots: Sequence[NamedPlot], measure: str, width: float, rows: int) -> Canvas:
    """Draw medians, bands and names side by side, each so many inches wide, with room for rows.

    Below the target stands a name per curve with its median cost, at the end of a line from the
    end of the curve; a curve that does not arrive says so. The axes of a cost have room for the
    curves of all plots with the same cost.

    Raises
    ------
    Refusal
        If the canvas is too narrow.
    """
    size = (width * len(plots), named_height(rows))
    with style.context(STYLE):
        canvas = Canvas(figsize=size, layout="constrained")
        axes = canvas.subplots(1, len(plots), squeeze=False)[0]
        axes[0].set_ylabel(MEASURE_LABELS[measure])
        for plot, place in zip(plots, axes, strict=True):
            curves = plot.curves
            place.set_title(plot.title, parse_math=plot.math)
            place.set_xlabel(plot.xlabel)
            alike = [one for other in plots if other.xlabel == plot.xlabel for one in other.curves]
            _frame(place, curves, _ROW * (len(curves) + 0.8) / _CURVES, alike)
            for look, curve in zip(plot.looks, curves, strict=True):
                _draw(place, curve, look)
            with warnings.catch_warnings():
                warnings.filterwarnings("error", "constrained_layout not applied")
                try:
                    _name(canvas, place, plot)
                except UserWarning:
                    raise Refusal(
                        f"a figure {size[0]:g} inches wide has no room for {len(plots)} axes and "
                        "the names of their curves; give a larger width or fewer axes"
                    ) from None
    return canvas


def _frame(
    place: Axes, curves: Sequence[CostCurve], names: float, among: Sequence[CostCurve]
) -> None:
    """Set the axes; below the target is room for the names, so many times the height above."""
    start, target = curves[0].levels[0], curves[0].levels[-1]
    top = start**1.04 / target**0.04
    place.set_yscale("log")
    place.set_ylim(target / (top / target) ** names, top)
    place.spines["left"].set_bounds(target, top)
    digits = math.ceil(math.log10(target)), math.floor(math.log10(start))
    step = max(1, math.ceil((digits[1] - digits[0]) / 6))
    ticks = [_DECADE**digit for digit in range(digits[0], digits[1] + 1, step)]
    place.set_yticks(ticks or [target, start])
    place.yaxis.set_minor_locator(NullLocator())
    place.axhline(target, color="0.4", linewidth=0.6)
    ends = [_end(curve)[0] for curve in among]
    highs = [curve.high[-1] for curve in among if np.isfinite(curve.high[-1])]
    right = 1.04 * max([*ends, *highs])
    costs = np.concatenate([curve.median for curve in among])
    least = min(costs[(costs > 0) & np.isfinite(costs)], default=1.0)
    if max(ends) > _DECADE * max(min(ends), least):
        place.set_xscale("log")
        place.set_xlim(least, 1.1 * right)
        place.xaxis.set_major_locator(LogLocator(numticks=8))
    else:
        place.set_xlim(0, right)
        place.xaxis.set_major_locator(MaxNLocator(6))
        place.xaxis.set_major_formatter(EngFormatter(sep=""))


def _end(curve: CostCurve) -> tuple[float, float]:
    """Return where a curve ends: at the target, or at its last accuracy when its runs end."""
    if curve.arrives:
        return float(curve.median[-1]), float(curve.levels[-1])
    return curve.last, float(curve.levels[np.isfinite(curve.median)][-1])


def _draw(place: Axes, curve: CostCurve, look: dict[str, Any]) -> None:
    """Draw a band and a median; one that does not arrive goes on, dotted, to where it ends."""
    left, right = place.get_xlim()
    known = np.isfinite(curve.median)
    levels = curve.levels[known]
    high = np.where(np.isfinite(curve.high), curve.high, max(curve.last, curve.median[known][-1]))
    low, median, high = (
        np.clip(costs[known], left, right) for costs in (curve.low, curve.median, high)
    )
    place.fill_betweenx(levels, low, high, color=look["color"], alpha=0.18, lw=0)
    place.plot(median, levels, markevery=(0.06, 0.14), zorder=3, **look)
    if not curve.arrives:
        place.plot(
            [median[-1], _end(curve)[0]], [levels[-1]] * 2,
            color=look["color"], linestyle=":", linewidth=1,
        )  # fmt: skip


def _name(canvas: Canvas, place: Axes, plot: NamedPlot) -> None:
    """Name the curves from the cheapest down, to the left of their lines.

    If there is no room, names stand to the right and the cheapest is the lowest. Either way no line
    goes through a name.
    """
    curves = plot.curves
    order = sorted(range(len(curves)), key=lambda i: (not curves[i].arrives, _end(curves[i])[0]))
    for side in ("right", "left"):
        for artist in (*place.texts, *place.lines):
            if artist.get_gid() == "name":
                artist.remove()
        rows = sorted(order, key=lambda i: _end(curves[i])[0], reverse=side == "left")
        texts = [
            _name_curve(place, plot.labels[i], curves[i], plot.looks[i], row, side)
            for row, i in enumerate(rows)
        ]
        if curves[order[0]].arrives:
            texts[rows.index(order[0])].set_fontweight("bold")
        canvas.draw_without_rendering()
        if min(text.get_window_extent().x0 for text in texts) > place.get_window_extent().x0:
            return


def _name_curve(
    place: Axes, label: str, curve: CostCurve, look: dict[str, Any], row: int, side: str
) -> Text:
    """Write a name in a row below the target, with a line from the end of the curve."""
    x, y = _end(curve)
    top = place.get_ylim()[1]
    target = float(curve.levels[-1])
    height = target / (top / target) ** (_ROW * (row + 0.8) / _CURVES)
    place.plot(
        [x, x], [y, height], gid="name", color=look["color"], linewidth=0.7, zorder=2,
        linestyle="-" if curve.arrives else ":",
    )  # fmt: skip
    place.plot(
        [x], [height], gid="name", color=look["color"], marker=look["marker"] or "_", zorder=4,
    )  # fmt: skip
    if curve.arrives:
        told = short_cost(x)
    else:
        told = "diverges" if curve.diverged else f"gets to {y:.1g}".replace("e-0", "e-")
    return place.annotate(
        f"{label}: {told}", (x, height), (-5 if side == "right" else 5, 0), gid="name",
        textcoords="offset points", ha=side, va="center", fontsize=7.5, color="0.15",
        parse_math=False,
    )  # fmt: skip
