"""A chart as plain SVG: lines with bands, or dots, on linear or logarithmic axes.

Colours are given as the property ``--c`` and what is drawn with them as classes, so that the style
of the page can change them for dark screens and for print.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 400
"""Of a chart, in units of its own; the page scales it."""
_LEFT, _RIGHT, _MARGIN, _AXIS, _ROW = 64.0, 16.0, 8.0, 44.0, 17.0
_TICKS, _LETTER = 6, 6.2
_DASHES = {None: "", "rand-k+natural": "", "rand-k": "7 3", "natural": "2 3", "l1": "7 3 2 3"}
"""Dashes of the kinds of compressors."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Numbers = Sequence[float | None]


@dataclass(frozen=True)
class Series:
    """What has one colour: a line with its band, or dots.

    Attributes
    ----------
    name : str
        What a reader is told who points at it.
    x, y : (B,)
        None where there is no number.
    low, high : (B,) or ()
        Ends of the band in y.
    colour : str
    kind : str, optional
        Which dashes the line has.
    mark : str, optional
        A letter or sign for dots in place of a line.
    key : str
        The id of the line in the page.
    label : str
        Written at its end, if anything is.
    faint : bool
        Whether it stands behind the others.
    """

    name: str
    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    colour: str = "#444444"
    kind: str | None = None
    mark: str = ""
    key: str = ""
    label: str = ""
    faint: bool = False

    @property
    def points(self) -> list[tuple[float, float]]:
        """The points that have numbers."""
        pairs = zip(self.x, self.y, strict=True)
        return [(x, y) for x, y in pairs if x is not None and y is not None]


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``; ``names`` stand at whole numbers in place of ticks."""

    title: str
    low: float
    high: float
    logarithmic: bool = True
    names: tuple[str, ...] = ()

    def place(self, value: float) -> float:
        """Return where a value is, from 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the places and the texts of the ticks."""
        if self.names:
            return [(self.place(at), name) for at, name in enumerate(self.names)]
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            every = max(1, math.ceil((last - first + 1) / _TICKS))
            found = [10.0**digit for digit in range(first, last + 1, every)]
            if len(found) < 2:
                found = [f * 10.0**d for d in range(first - 1, last + 1) for f in (1, 2, 5)]
        else:
            span = self.high - self.low
            unit = 10.0 ** math.floor(math.log10(span))
            step = next(s * unit for s in (0.2, 0.5, 1.0, 2.0) if span <= _TICKS * s * unit)
            found = [step * i for i in range(math.ceil(self.low / step), int(self.high / step) + 1)]
        return [(self.place(v), _tick(v)) for v in found if self.low <= v <= self.high]


@dataclass(frozen=True)
class Chart:
    """Some series on two axes."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    lines: tuple[float, ...] = ()
    """Vertical lines at these x."""
    key: str = ""
    """The id of its axes in the page."""

    @property
    def named(self) -> list[Series]:
        """The series that are named at their ends, from the left to the right."""
        return sorted((s for s in self.series if s.label), key=lambda s: s.points[-1])

    @property
    def height(self) -> float:
        """From the top to where the lines end; names stand below."""
        return 60 + 15 * len(self.y.names) if self.y.names else HEIGHT


def svg(chart: Chart) -> str:
    """Write a chart as one SVG element; its axis is above where names stand below."""
    named = chart.named
    frame = _Frame(chart, above=bool(named))
    total = chart.height + _ROW * (len(named) + 0.5) * bool(named)
    key = f' id="{escape(chart.key)}-axes"' if chart.key else ""
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {total:g}" role="img" '
        f'aria-label="{escape(chart.title)}" {frame.data}>',
        f"<g{key}>",
        *frame.axes(),
        "</g>",
        *(frame.vertical(x) for x in chart.lines),
        *(frame.series(each) for each in chart.series),
        *frame.names(named),
        "</svg>",
    ]
    return "".join(parts)


def swatch(colour: str, kind: str | None) -> str:
    """Return a short piece of the line of a series."""
    shown = f"--c:{escape(colour)}"
    return (
        f'<svg class="swatch" viewBox="0 0 26 8" aria-hidden="true"><g style="{shown}">'
        f'<path class="line" d="M0,4H26" stroke-dasharray="{_DASHES.get(kind, "4 2")}"/></g></svg>'
    )


class _Frame:
    """Where things are in a chart."""

    def __init__(self, chart: Chart, above: bool) -> None:
        names = chart.y.names
        self.chart, self.above = chart, above
        self.left, self.right = (
            max([_LEFT, *(16 + _LETTER * len(n) for n in names)]),
            WIDTH - _RIGHT,
        )
        self.top = _AXIS if above else _MARGIN
        self.bottom = chart.height - (_MARGIN if above else _AXIS)

    @property
    def data(self) -> str:
        """What the script needs to say which values a place has."""
        x, y = self.chart.x, self.chart.y
        values = (self.left, self.right, self.top, self.bottom, x.low, x.high, y.low, y.high)
        kinds = f"{int(x.logarithmic)}{int(y.logarithmic)}"
        return f'data-frame="{" ".join(f"{v:.6g}" for v in values)}" data-log="{kinds}"'

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point, kept inside the frame."""
        across = min(max(self.chart.x.place(x), 0.0), 1.0)
        up = min(max(self.chart.y.place(y), 0.0), 1.0)
        return (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )

    def axes(self) -> list[str]:
        """Return grid, ticks and titles."""
        across, up = self.chart.x, self.chart.y
        ticks, title = (self.top - 7, 16) if self.above else (self.bottom + 16, self.bottom + 36)
        parts = []
        for place, text in across.ticks():
            x = self.left + place * (self.right - self.left)
            parts.append(f'<path class="grid" d="M{x:.1f},{self.top:g}V{self.bottom:g}"/>')
            parts.append(_text(x, ticks, text, "tick mid"))
        for place, text in up.ticks():
            y = self.bottom - place * (self.bottom - self.top)
            parts.append(f'<path class="grid" d="M{self.left:g},{y:.1f}H{self.right:g}"/>')
            parts.append(_text(self.left - 6, y + 4, text, "tick end"))
        parts.append(_text((self.left + self.right) / 2, title, across.title, "axis mid"))
        turned = f"translate(13 {(self.top + self.bottom) / 2:g}) rotate(-90)"
        parts.append(f'<g transform="{turned}">{_text(0, 0, up.title, "axis mid")}</g>')
        return parts

    def vertical(self, x: float) -> str:
        """Return a line at an x."""
        across, _ = self.at(x, self.chart.y.low)
        return f'<path class="rule" d="M{across:.1f},{self.top}V{self.bottom:g}"/>'

    def series(self, series: Series) -> str:
        """Return a band and a line, or dots."""
        key = f' id="{escape(series.key)}"' if series.key else ""
        name = escape(series.name)
        points = series.points
        if series.mark:
            drawn = [
                _text(*self.at(x, y), series.mark, "dot", f"{series.name}: {x:.4g}")
                for x, y in points
            ]
        else:
            dashes = _DASHES.get(series.kind, "4 2")
            line = f'<path class="line" d="{self._path(points)}" stroke-dasharray="{dashes}"/>'
            drawn = [self._band(series), line]
        kind = "series faint" if series.faint else "series"
        head = f'<g class="{kind}"{key} style="--c:{escape(series.colour)}" data-name="{name}">'
        return f"{head}{''.join(drawn)}</g>"

    def names(self, named: Sequence[Series]) -> list[str]:
        """Return the names of lines in rows below the frame, to the left of lines from their ends.

        Where one has no room there, all stand to the right, in the opposite order. Either way no
        line goes through a name.
        """
        places = [self.at(*series.points[-1]) for series in named]
        fits = all(x > _LETTER * len(s.label) + 8 for (x, _), s in zip(places, named, strict=True))
        side, shift = ("end", -6) if fits else ("start", 6)
        parts = []
        for row, (series, (x, y)) in enumerate(zip(named, places, strict=True)):
            foot = self.bottom + _ROW * (row + 1 if fits else len(named) - row)
            leader = f'<path class="leader" d="M{x:.1f},{y:.1f}V{foot:g}"/>'
            bead = f'<circle class="bead" cx="{x:.1f}" cy="{foot:g}" r="3"/>'
            name = _text(x + shift, foot + 4, series.label, f"name {side}")
            of = f' data-of="{escape(series.key)}"' if series.key else ""
            parts.append(f'<g{of} style="--c:{escape(series.colour)}">{leader}{bead}{name}</g>')
        return parts

    def _band(self, series: Series) -> str:
        ends = zip(series.x, series.low, series.high, strict=True) if series.low else ()
        points = [
            (x, low, high)
            for x, low, high in ends
            if x is not None and low is not None and high is not None
        ]
        if not points:
            return ""
        edge = [(x, low) for x, low, _ in points] + [(x, high) for x, _, high in points[::-1]]
        return f'<path class="band" d="{self._path(edge)}Z"/>'

    def _path(self, points: Sequence[tuple[float, float]]) -> str:
        places = (self.at(x, y) for x, y in points)
        return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places) if points else ""


def _text(x: float, y: float, words: str, kind: str, told: str = "") -> str:
    """Return a text at a place, of a class of the style, with what is told to who points at it."""
    title = f"<title>{escape(told)}</title>" if told else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(words)}{title}</text>'


def _tick(value: float) -> str:
    """Write a number of an axis: 0.01 to 1000 as it is, others with a power of ten."""
    if value == 0 or 0.01 <= abs(value) < 10_000:
        return f"{value:g}"
    mantissa, digits = f"{value:.0e}".split("e")
    power = f"10{str(int(digits)).translate(_RAISED)}"
    return power if mantissa == "1" else f"{mantissa}·{power}"
