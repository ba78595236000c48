"""Draws panels side by side: what each accuracy costs, with the name of every curve at its end."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from certibit.figures.costs import cost_curve
from certibit.figures.drawing import save
from certibit.figures.locodl.panels import COUNTED, Curve, Figure, Panel
from certibit.figures.looks import method_look
from certibit.figures.named_curves import NamedPlot, named_canvas
from certibit.solvers.runs.trace import Trace
from certibit.solvers.runs.trace_plot import Canvas

LINES: dict[str | None, Any] = {
    "rand-k+natural": "-",
    "rand-k": (0, (5, 2)),
    "natural": (0, (1.2, 1.4)),
    "l1": (0, (5, 1.6, 1.2, 1.6)),
    None: "-",
}
"""Line style of each kind of compressor, where a panel has methods with several kinds."""
_OTHER_LINE = (0, (2.5, 1))
_THICK, _THIN = 1.3, 0.8
_WIDTH, _WIDE = 3.9, 5.4
"""Inches across a panel, and across one whose names have compressors."""


def look(curve: Curve) -> dict[str, Any]:
    """Return the colour, marker and line style of a curve.

    A thin line has no compressor; the markers of what is ours are hollow.
    """
    colour, marker = method_look(curve.method)
    hollow = {"markerfacecolor": "white", "markeredgewidth": 0.8} if curve.ours else {}
    width = _THIN if curve.kind is None else _THICK
    line = LINES.get(curve.kind, _OTHER_LINE)
    return {"color": colour, "marker": marker, "linestyle": line, "linewidth": width, **hollow}


def draw_figure(
    figure: Figure, traces: Mapping[tuple[Panel, Curve], Trace], folder: Path
) -> list[Path]:
    """Draw the curves that there are traces of, and write the figure as SVG and PNG.

    Parameters
    ----------
    figure : Figure
        What to draw.
    traces : mapping
        A trace per panel and curve; curves without one are not drawn.
    folder : Path
        Where the files go; each appears whole or not at all.

    Returns
    -------
    list of Path
        The files written.
    """
    return save(_canvas(figure, traces), folder, figure.name)


def _canvas(figure: Figure, traces: Mapping[tuple[Panel, Curve], Trace]) -> Canvas:
    """Draw what each accuracy costs; a method that is there once is named without a compressor."""
    plots, width = [], _WIDTH
    for panel in figure.panels:
        drawn = {c: traces[panel, c] for c in panel.curves if c.drawn and (panel, c) in traces}
        methods, solid = [curve.method_name for curve in drawn], {"linestyle": "-"}
        once = len(set(methods)) == len(methods)
        width = width if once else _WIDE
        plots.append(
            NamedPlot(
                f"{panel.title}\n{_setting(panel, drawn)}{_sent(drawn) if once else ''}",
                f"{COUNTED}, medians and 10-90 %",
                methods if once else [curve.label for curve in drawn],
                [look(curve) | (solid if once else {}) for curve in drawn],
                [cost_curve(trace, panel.floor, "bits", 0.0) for trace in drawn.values()],
                math=True,
            )
        )
    return named_canvas(plots, "gap", width, max(len(plot.curves) for plot in plots))


def _sent(drawn: Iterable[Curve]) -> str:
    """Say which compressors there are, where names do not."""
    sent = dict.fromkeys(curve.compressor for curve in drawn if curve.compressor)
    return "".join(f"; {each}" for each in sent)


def _setting(panel: Panel, drawn: Mapping[Curve, Trace]) -> str:
    """Say what the title, which has n, does not: kappa, d and the seeds."""
    made = next(iter(drawn.values())).specification
    return f"$\\kappa$ = {panel.kappa:g}, d = {made['problem']['d']}, {len(made['seeds'])} seeds"
