"""Draws trainings: loss and accuracy against rounds, steps and bits, with bands over seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, NullLocator

from certibit.figures.bands import BAND
from certibit.figures.deep.measured_smoothness import MeasuredSmoothness
from certibit.figures.deep.networks import Case
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurves
from certibit.figures.drawing import STYLE, save
from certibit.figures.episode.recorded_rounds import FloatArray

AXES = {
    "rounds": "rounds",
    "steps": "local steps",
    "bits": "bits sent by a client",
}
_CLIENTS, _MEAN = "#0072B2", "#D55E00"
Panel = tuple[str, Case, tuple[str, ...]]
"""Title, case and the methods that are drawn."""


def draw_trainings(
    name: str, panels: Sequence[Panel], curves: TrainingCurves, along: Sequence[str], folder: Path
) -> list[Path]:
    """Draw a column for each panel and axis: the training loss above, the test accuracy below.

    Parameters
    ----------
    name : str
        Of the files.
    panels : sequence of (title, case, methods)
        From left to right.
    curves : dict
        By case and method.
    along : sequence of str
        The horizontal axes of every panel: ``rounds``, ``steps`` or ``bits``.
    folder : Path
        Where the files are written.
    """
    columns = [(panel, axis) for panel in panels for axis in along]
    with style.context(STYLE):
        canvas = Canvas(figsize=(1.2 + 2.15 * len(columns), 4.2), layout="constrained")
        axes = canvas.subplots(2, len(columns), sharey="row", sharex="col", squeeze=False)
        for column, ((title, case, methods), axis) in enumerate(columns):
            upper, lower = axes[:, column]
            for method in methods:
                curve = curves[case, method]
                spent: FloatArray = getattr(curve, axis)
                _draw_band(upper, method, spent, curve.loss)
                _draw_band(lower, method, spent, 100 * curve.accuracy)
            upper.set_yscale("log")
            upper.yaxis.set_minor_locator(NullLocator())
            upper.set_title(title)
            lower.set_xlabel(AXES[axis])
            if axis == "bits":
                lower.set_xscale("log")
                lower.xaxis.set_minor_locator(NullLocator())
            lower.xaxis.set_major_formatter(EngFormatter(sep=""))
            lower.set_ylim(0, 100)
        axes[0, 0].set_ylabel("training loss")
        axes[1, 0].set_ylabel("test accuracy, %")
        _limit(
            axes[0],
            [curves[case, method].loss for _, case, methods in panels for method in methods],
        )
        everyone = dict.fromkeys(method for _, _, methods in panels for method in methods)
        seeds = curves[panels[0][1], panels[0][2][0]].loss.shape[1]
        canvas.legend(
            handles=[Line2D([], [], label=RIVALS[m].label, **rival_look(m)) for m in everyone],
            loc="outside upper center", ncols=4, title_fontsize=8,
            title=f"medians and 10-90 % of {seeds} seeds, every method at the best of its grid",
        )  # fmt: skip
        return save(canvas, folder, name)


def draw_smoothness(measured: Sequence[MeasuredSmoothness], folder: Path) -> list[Path]:
    """Draw |Hess| against |grad| at the models of trainings, and the fitted lines, a panel each."""
    with style.context(STYLE):
        canvas = Canvas(figsize=(1.2 + 2.3 * len(measured), 2.9), layout="constrained")
        axes = canvas.subplots(1, len(measured), sharex=True, sharey=True, squeeze=False)[0]
        for place, one in zip(axes, measured, strict=True):
            L0, L1 = one.fit(slice(0, -1))
            seeds = {"the fit": (slice(0, -1), "o"), "another seed": (slice(-1, None), "x")}
            for label, (some, marker) in seeds.items():
                place.plot(one.slopes[:, some].ravel(), one.curvatures[:, some].ravel(), ls="",
                           marker=marker, color=_CLIENTS, alpha=0.5, markersize=3,
                           markeredgewidth=0.7, label=f"clients, {label}")  # fmt: skip
                place.plot(one.slope[:, some].ravel(), one.curvature[:, some].ravel(), ls="",
                           marker=marker, color=_MEAN, markersize=4.5, markeredgewidth=1,
                           label=f"all clients, {label}")  # fmt: skip
            t = np.geomspace(np.nanmin(one.slope), np.nanmax(one.slopes), 100)
            place.plot(t, L0 + L1 * t, color="0.35", lw=0.9, label="$L_0 + L_1 |\\nabla f_i|$")
            place.set_xscale("log")
            place.set_yscale("log")
            place.set_title(f"{one.case}: $L_0$ = {L0:.2g}, $L_1$ = {L1:.2g}")
            place.set_xlabel("$|\\nabla f_i|$")
        axes[0].set_ylabel("$|\\nabla^2 f_i|$")
        canvas.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return save(canvas, folder, "deep-smoothness")


def rival_look(name: str) -> dict[str, Any]:
    """Return the colour, marker and line of a method; methods without clipping are dashed."""
    rival = RIVALS[name]
    return {"color": rival.colour, "marker": rival.marker, "linestyle": rival.line}


def _limit(row: Sequence[Axes], losses: Sequence[FloatArray]) -> None:
    """Leave out what is far above the losses at the start."""
    least = min(float(np.median(loss, axis=1).min()) for loss in losses)
    row[0].set_ylim(0.7 * least, 2 * max(float(loss[0].max()) for loss in losses))


def _draw_band(place: Axes, method: str, spent: FloatArray, values: FloatArray) -> None:
    """Draw the median over seeds and the 10-90 % band of values (K, seeds)."""
    low, median, high = np.percentile(np.minimum(values, 1e100), (BAND[0], 50, BAND[1]), axis=1)
    shown = rival_look(method)
    place.fill_between(spent, low, high, color=shown["color"], alpha=0.12, lw=0)
    place.plot(spent, median, markevery=(0.0, 0.25), **shown)
