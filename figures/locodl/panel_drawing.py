"""Draws panels side by side: colour and marker say the method, line style the compressor."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, TypeVar

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from certibit.figures.costs import band, cost_curve
from certibit.figures.drawing import STYLE, Line, Plot, save
from certibit.figures.locodl.panels import COMPRESSOR_LABELS, COUNTED, Curve, Figure, Panel
from certibit.figures.looks import in_legend_order, method_label, method_look
from certibit.figures.named_curves import MEASURE_LABELS, NamedPlot, named_canvas
from certibit.figures.text.tables import accuracy_name, late_median, short_cost
from certibit.solvers.runs.trace import Trace
from certibit.solvers.runs.trace_plot import Canvas

K = TypeVar("K", bound=str | None)

LINES: dict[str | None, Any] = {
    "rand-k+natural": "-",
    "rand-k": (0, (5, 2)),
    "natural": (0, (1.2, 1.4)),
    "l1": (0, (5, 1.6, 1.2, 1.6)),
    "top-k": (0, (9, 1.6)),
    None: "-",
}
"""Line style of each kind of compressor."""
_OTHER_LINE = (0, (2.5, 1))
_SOLID = "rand-k+natural"
_THICK, _THIN = 1.3, 0.8
_STARTED = 0.7
"""An axis starts where the first curve has come down to this part of its first f - f*."""
_SMALL, _LINE = 6.5, 8.5
"""Points: letters inside and below a panel, and their lines."""
_LETTERS = 44
"""Number of letters of a small text that fit across a panel."""
_NAMED = 6
"""Number of methods that are named below a panel."""
_ROW = 0.165
"""Inches of a line of the legend."""
_DIRECT = 3.9
"""Inches across a panel whose curves are named where they end."""


def look(curve: Curve) -> dict[str, Any]:
    """Return the colour, marker and line style of a curve.

    A thin line has no compressor; the markers of what is ours are hollow.
    """
    colour, marker = method_look(curve.method)
    hollow = {"markerfacecolor": "white", "markeredgewidth": 0.8} if curve.ours else {}
    return {"color": colour, "marker": marker, **_line(curve.kind), **hollow}


def _line(kind: str | None) -> dict[str, Any]:
    width = _THIN if kind is None else _THICK
    return {"linestyle": LINES.get(kind, _OTHER_LINE), "linewidth": width}


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
    canvas = (_direct_canvas if figure.direct else _canvas)(figure, traces)
    return save(canvas, folder, figure.name)


def _direct_canvas(figure: Figure, traces: Mapping[tuple[Panel, Curve], Trace]) -> Canvas:
    """Draw what each accuracy costs, with the name of every curve at its end."""
    plots = []
    for panel in figure.panels:
        drawn = _drawn(panel, traces)
        plots.append(
            NamedPlot(
                f"{panel.title}\n{_setting(panel, drawn)}{_same_k(drawn)}",
                f"{COUNTED}, medians and 10-90 %",
                [curve.method_name for curve in drawn],
                [look(curve) | {"linestyle": "-"} for curve in drawn],
                [cost_curve(trace, panel.floor, "bits", 0.0) for trace in drawn.values()],
                math=True,
            )
        )
    most = max(len(panel.curves) for panel in figure.panels)
    return named_canvas(plots, "gap", _DIRECT, most)


def _drawn(panel: Panel, traces: Mapping[tuple[Panel, Curve], Trace]) -> dict[Curve, Trace]:
    """Return the curves of a panel that are drawn and have runs."""
    return {c: traces[panel, c] for c in panel.curves if c.drawn and (panel, c) in traces}


def _same_k(drawn: Iterable[Curve]) -> str:
    """Say which compressors there are, where names do not."""
    sent = dict.fromkeys(curve.compressor for curve in drawn if curve.compressor)
    return "".join(f"; {each}" for each in sent)


def _canvas(figure: Figure, traces: Mapping[tuple[Panel, Curve], Trace]) -> Canvas:
    """Draw f - f* against bits, with a legend of methods and compressors."""
    columns = len(figure.panels)
    curves = [c for panel in figure.panels for c in _drawn(panel, traces)]
    methods = {
        curve.method_name: curve
        for name in in_legend_order({curve.method for curve in curves})
        for curve in sorted(curves, key=lambda each: each.ours)
        if curve.method == name
    }
    kinds = _named(COMPRESSOR_LABELS, {curve.kind for curve in curves})
    height = max(3.2 + _LINE * (_NAMED + 1) / 72, _ROW * (len(methods) + len(kinds) + 3))
    with style.context(STYLE):
        canvas = Canvas(figsize=(1.8 + 2.9 * columns, height), layout="constrained")
        axes = canvas.subplots(1, columns, sharey=True, squeeze=False)[0]
        for panel, place in zip(figure.panels, axes, strict=True):
            drawn = _drawn(panel, traces)
            _plot(panel, drawn).draw(place)
            place.yaxis.set_major_locator(LogLocator(numticks=20))
            _rank(place, panel, drawn)
            _name_ks(place, list(drawn))
        axes[0].set_ylabel(MEASURE_LABELS["gap"])
        _legend(canvas, list(methods.values()), kinds)
    return canvas


def _plot(panel: Panel, drawn: Mapping[Curve, Trace]) -> Plot:
    """Return medians and bands; markers of later curves stand farther on, their lines lower."""
    lines = []
    starts = [0.1 * panel.bits]
    for position, (curve, trace) in enumerate(drawn.items()):
        runs, shift = band(trace, panel.bits, panel.floor), position / len(drawn)
        shown = {"markevery": (0.03 + 0.12 * shift, 0.12), "zorder": 3 - shift} | look(curve)
        lines.append(Line(runs.bits, runs.median, shown, (runs.low, runs.high), alpha=0.15))
        starts += runs.bits[runs.median < _STARTED * runs.median[0]][:1].tolist()
    return Plot(
        lines, f"{panel.title}\n{_setting(panel, drawn)}",
        f"{COUNTED}, medians and 10-90 %", log="xy",
        xlim=(min(starts), panel.bits), ylim=(panel.floor, 1), short="x",
    )  # fmt: skip


def _name_ks(place: Axes, drawn: Sequence[Curve]) -> None:
    """Name the k of every rand-k inside the axes."""
    chosen: dict[str, list[str]] = {}
    for curve in drawn:
        if curve.k is not None:
            ks = chosen.setdefault(method_label(curve.method), [])
            ks += [str(curve.k)] * (str(curve.k) not in ks)
    alike: dict[str, list[str]] = {}
    for method, ks in chosen.items():
        alike.setdefault("/".join(ks), []).append(method)
    if alike:
        each = ", ".join(f"{ks} ({', '.join(methods)})" for ks, methods in alike.items())
        place.annotate(
            fill(f"rand-k with k = {each if len(alike) > 1 else next(iter(alike))}", _LETTERS),
            (1, 0.99), xycoords="axes fraction", ha="right", va="top", size=_SMALL, color="0.35",
        )  # fmt: skip


def _setting(panel: Panel, drawn: Mapping[Curve, Trace]) -> str:
    """Say what the title, which has n, does not: kappa, d and the seeds."""
    made = next(iter(drawn.values())).specification
    return f"$\\kappa$ = {panel.kappa:g}, d = {made['problem']['d']}, {len(made['seeds'])} seeds"


def _rank(place: Axes, panel: Panel, drawn: Mapping[Curve, Trace]) -> None:
    """Name the best curves of the best methods that get to the floor, below the axis."""
    best: dict[str, tuple[float, str, str]] = {}
    for curve, trace in drawn.items():
        median = late_median(trace.bits_to(panel.floor))
        cost = median, curve.label, curve.method
        best[curve.method_name] = min(best.get(curve.method_name, cost), cost)
    order = sorted(best.values())
    shown = [each for each in order if np.isfinite(each[0])][:_NAMED]
    lines = [(f"fewest bits to {accuracy_name(panel.floor)}:", "0.35", "normal")] * bool(shown)
    lines += [
        (
            f"{label}: {short_cost(cost)}",
            method_look(method)[0],
            "bold" if cost == shown[0][0] else "normal",
        )
        for cost, label, method in shown
    ]
    for row, (text, colour, weight) in enumerate(lines):
        place.annotate(
            text, (0, 0), xycoords="axes fraction", xytext=(0, -34 - _LINE * row),
            textcoords="offset points", size=_SMALL, color=colour, weight=weight,
            parse_math=False,
        )  # fmt: skip


def _legend(canvas: Canvas, methods: Sequence[Curve], kinds: dict[str | None, str]) -> None:
    """Explain colours, markers and line styles by a curve of each method, and kinds."""
    colours = [
        Line2D([], [], markersize=5, label=each.method_name, **(look(each) | _line(_SOLID)))
        for each in methods
    ]
    lines = [Line2D([], [], color="0.25", label=kinds[kind], **_line(kind)) for kind in kinds]
    headings = [Line2D([], [], linestyle="", label=text) for text in ("method", "compressor")]
    legend = canvas.legend(
        handles=[headings[0], *colours, headings[1], *lines], loc="outside right upper"
    )
    for text in (legend.get_texts()[0], legend.get_texts()[len(colours) + 1]):
        text.set_fontweight("bold")


def _named(labels: Mapping[K, str], used: set[K]) -> dict[K, str]:
    """Return the labels of what is used, in their order; what has none is called by its name."""
    known = {key: label for key, label in labels.items() if key in used}
    return known | {key: str(key) for key in sorted(used - set(labels), key=str)}
