"""Draws trainings: loss and accuracy against rounds, steps and bits, with bands over seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certibit.figures.deep.measured_smoothness import MeasuredSmoothness
from certibit.figures.deep.networks import Case
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurves
from certibit.figures.drawing import Line, Plot, draw_plots

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
    shown = [curves[case, method] for _, case, methods in panels for method in methods]
    least = min(float(np.median(curve.loss, axis=1).min()) for curve in shown)
    losses = 0.7 * least, 2 * max(float(curve.loss[0].max()) for curve in shown)
    upper: list[Plot] = []
    lower: list[Plot] = []
    for title, case, methods in panels:
        for axis in along:
            upper_lines, lower_lines = [], []
            for method in methods:
                curve, look = curves[case, method], _rival_look(method) | {"markevery": (0.0, 0.25)}
                spent = getattr(curve, axis)
                upper_lines.append(Line.of_runs(spent, curve.loss, look))
                lower_lines.append(Line.of_runs(spent, 100 * curve.accuracy, look))
            label, log = not upper, "x" * (axis == "bits")
            upper.append(
                Plot(upper_lines, title, "", "training loss" * label, f"y{log}", ylim=losses)
            )
            lower.append(
                Plot(lower_lines, "", AXES[axis], "test accuracy, %" * label, log,
                     ylim=(0, 100), short="x")
            )  # fmt: skip
    everyone = dict.fromkeys(method for _, _, methods in panels for method in methods)
    legend = {
        "looks": {RIVALS[method].label: _rival_look(method) for method in everyone},
        "loc": "outside upper center", "ncols": 4, "title_fontsize": 8,
        "title": f"medians and 10-90 % of {shown[0].loss.shape[1]} seeds, every method at the best "
        "of its grid",
    }  # fmt: skip
    size = (1.2 + 2.15 * len(upper), 4.2)
    return draw_plots(name, [upper, lower], folder, size, legend, sharey="row", sharex="col")


def draw_smoothness(measured: Sequence[MeasuredSmoothness], folder: Path) -> list[Path]:
    """Draw |Hess| against |grad| at the models of trainings, and the fitted lines, a panel each."""
    plots: list[Plot] = []
    for one in measured:
        L0, L1 = one.fit(slice(0, -1))
        lines = []
        for label, some, marker in (
            ("the fit", slice(0, -1), "o"),
            ("another seed", slice(-1, None), "x"),
        ):
            for who, x, y, look in (
                ("clients", one.slopes, one.curvatures,
                 {"color": _CLIENTS, "alpha": 0.5, "markersize": 3, "markeredgewidth": 0.7}),
                ("all clients", one.slope, one.curvature,
                 {"color": _MEAN, "markersize": 4.5, "markeredgewidth": 1}),
            ):  # fmt: skip
                look |= {"ls": "", "marker": marker, "label": f"{who}, {label}"}
                lines.append(Line(x[:, some].ravel(), y[:, some].ravel(), look))
        t = np.geomspace(np.nanmin(one.slope), np.nanmax(one.slopes), 100)
        fitted = {"color": "0.35", "lw": 0.9, "label": "$L_0 + L_1 |\\nabla f_i|$"}
        lines.append(Line(t, L0 + L1 * t, fitted))
        title = f"{one.case}: $L_0$ = {L0:.2g}, $L_1$ = {L1:.2g}"
        ylabel = "" if plots else "$|\\nabla^2 f_i|$"
        plots.append(Plot(lines, title, "$|\\nabla f_i|$", ylabel, "xy"))
    size, legend = (1.2 + 2.3 * len(measured), 2.9), {"loc": "outside upper center", "ncols": 3}
    return draw_plots("deep-smoothness", [plots], folder, size, legend, sharex=True, sharey=True)


def _rival_look(name: str) -> dict[str, Any]:
    """Return the colour, marker and line of a method; methods without clipping are dashed."""
    rival = RIVALS[name]
    return {"color": rival.colour, "marker": rival.marker, "linestyle": rival.line}
