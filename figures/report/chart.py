"""Charts for HTML pages, drawn by Bokeh in the browser: hover, switches in the legend, zoom.

A chart is one JSON object in a ``script`` element, in which every text is escaped; the script of
Bokeh, which :func:`library` returns, stands once in a page or beside its pages.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import count
from typing import Any

from bokeh.embed import json_item
from bokeh.models import (
    ColumnDataSource,
    DataRange1d,
    FixedTicker,
    HoverTool,
    Legend,
    LegendItem,
    Range1d,
    Span,
)
from bokeh.plotting import figure

Numbers = Sequence[float | None]

_TOOLS = "pan,box_zoom,reset,save"
_DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
"""Of lines of one colour, in their order."""


@dataclass(frozen=True)
class Series:
    """A group with one colour and one entry of the legend: a line with its band, or marks.

    Attributes
    ----------
    name : str
        The name in the legend and on hover.
    x, y : (B,)
        None where there is no number.
    low, high : (B,) or ()
        Ends of the band: in y, or in x where the chart has costs to an accuracy.
    colour : str
    mark : str
        The marker of Bokeh that stands at every point, in place of a line; "" for a line.
    spans : sequence of (number, number)
        From where to where boxes go in x, in place of a line.
    runs : dict of str to (B, R)
        What the script of the page makes another line of, such as bits of every seed.
    faint : bool
        Whether it stands behind the others, and all such series are one switch.
    """

    name: str
    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    colour: str = "#444444"
    mark: str = ""
    spans: Sequence[tuple[float, float]] = ()
    runs: dict[str, Any] = field(default_factory=dict)
    faint: bool = False


@dataclass(frozen=True)
class Chart:
    """Some series on two axes.

    Attributes
    ----------
    title : str
        What it shows.
    caption : str
        What was run: data, n, kappa, seeds, and what lines and bands are.
    x, y : str
        Titles of the axes.
    series : tuple of Series
    rows : tuple of str
        Names of whole numbers of y, from 0 on; else y is logarithmic, as x is.
    bottom : float, optional
        Where y ends.
    lines : tuple of float
        Vertical lines at these x.
    across : bool
        Whether bands are in x.
    others : str
        What the legend calls the faint series.
    """

    title: str
    caption: str
    x: str
    y: str
    series: tuple[Series, ...]
    rows: tuple[str, ...] = ()
    bottom: float | None = None
    lines: tuple[float, ...] = ()
    across: bool = False
    others: str = ""


def html(chart: Chart) -> str:
    """Return a chart with its caption, as an element of a page; ``charts.js`` draws it."""
    told = json.dumps(json_item(_figure(chart)), allow_nan=False, separators=(",", ":"))
    return (
        f'<figure><div class="chart" role="img" aria-label="{escape(chart.title)}">'
        f'<script type="application/json">{told.replace("<", chr(92) + "u003c")}</script></div>'
        f"<figcaption><b>{escape(chart.title)}.</b> {escape(chart.caption)}</figcaption></figure>"
    )


def library() -> str:
    """Return the script of Bokeh, without the parts that no chart here needs."""
    return (files("bokeh") / "server/static/js/bokeh.min.js").read_text(encoding="utf-8")


def scripts() -> str:
    """Return the script that draws the charts of a page when they come into view."""
    return _template("charts.js")


def style() -> str:
    """Return the style of the charts of a page."""
    return _template("charts.css")


def _template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _figure(chart: Chart) -> Any:
    """Return the chart as a figure of Bokeh."""
    boxes = any(each.spans for each in chart.series)
    plot = figure(
        frame_height=20 + 20 * len(chart.rows) if chart.rows else 320,
        sizing_mode="stretch_width",
        x_axis_type="linear" if boxes else "log",
        y_axis_type="linear" if chart.rows else "log",
        x_range=DataRange1d(only_visible=True),
        tools=_TOOLS,
        toolbar_location="above",
    )
    plot.toolbar.logo = None
    plot.grid.grid_line_color = "#e4e7eb"
    plot.xaxis.axis_label, plot.yaxis.axis_label = _literal(chart.x), _literal(chart.y)
    if chart.rows:
        plot.y_range = Range1d(-0.7, len(chart.rows) - 0.3)
        plot.yaxis.ticker = FixedTicker(ticks=list(range(len(chart.rows))))
        plot.yaxis.major_label_overrides = dict(enumerate(map(_literal, chart.rows)))
    elif chart.bottom:
        plot.y_range = DataRange1d(start=chart.bottom, only_visible=True)
    items: dict[str, list[Any]] = {}
    dashes: dict[str, Any] = {}
    for each in chart.series:
        dash = _DASHES[next(dashes.setdefault(each.colour, count())) % len(_DASHES)]
        renderers = _draw(plot, chart, each, "solid" if each.faint else dash)
        items.setdefault(chart.others if each.faint else each.name, []).extend(renderers)
        _tell(plot, chart, each, renderers[-1:])
    for x in chart.lines:
        plot.add_layout(Span(location=x, dimension="height", line_color="#5a6472"))
    _legend(plot, items)
    return plot


def _draw(plot: Any, chart: Chart, series: Series, dash: str) -> list[Any]:
    """Draw the band and the line of a series, its boxes or marks; the last is pointed at."""
    columns = {"x": _positive(series.x), "y": _positive(series.y) if not chart.rows else series.y}
    if series.low:
        columns |= {"low": _positive(series.low), "high": _positive(series.high)}
    source = ColumnDataSource({**columns, **series.runs})
    if series.spans:
        left, right = zip(*series.spans, strict=True)
        source = ColumnDataSource({"left": left, "right": right})
        return [plot.quad("left", "right", 0.35, -0.35, color=series.colour, line_color="white",
                          alpha=0.8, source=source)]  # fmt: skip
    if series.mark:
        return [plot.scatter("x", "y", marker=series.mark, size=9, color=series.colour,
                             alpha=0.8, source=source)]  # fmt: skip
    shown = {"color": series.colour, "source": source, "alpha": 0.3 if series.faint else 1.0}
    bands = []
    if series.low and chart.across:
        bands = [plot.harea(x1="low", x2="high", y="y", **shown | {"alpha": 0.15})]
    elif series.low:
        bands = [plot.varea(x="x", y1="low", y2="high", **shown | {"alpha": 0.15})]
    return [*bands, plot.line("x", "y", line_dash=dash, line_width=2, **shown)]


def _tell(plot: Any, chart: Chart, series: Series, renderers: list[Any]) -> None:
    """Say what a point is to whoever points at it."""
    across = "@left to @right" if series.spans else "@x{%.4g}"
    up = [] if chart.rows else [(chart.y, "@y{%.3g}")]
    plot.add_tools(
        HoverTool(
            renderers=renderers,
            tooltips=[("", _literal(series.name)), (_literal(chart.x), across), *up],
            formatters={"@x": "printf", "@y": "printf"},
            line_policy="nearest",
            visible=False,
        )
    )


def _legend(plot: Any, items: dict[str, list[Any]]) -> None:
    """Put a legend below, in which every series can be switched off and on."""
    legend = Legend(
        items=[
            LegendItem(label={"value": _literal(name)}, renderers=drawn)
            for name, drawn in items.items()
        ],
        click_policy="hide",
        location="left",
        ncols=3,
        label_text_font_size="8.5pt",
        label_width=190,
        border_line_color=None,
        spacing=4,
        padding=0,
    )
    plot.add_layout(legend, "below")


def _literal(text: str) -> str:
    """Return a text in which Bokeh finds neither names of columns nor formulas.

    It would ask a host for what draws formulas.
    """
    return re.sub(r"([@$\\])", "\\1\u200b", text)


def _positive(values: Numbers) -> list[float]:
    """Return numbers of a logarithmic axis; what has no place there is no number."""
    return [value if value and 1e-30 < value < 1e30 else float("nan") for value in values]
