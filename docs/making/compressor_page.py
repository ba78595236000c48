"""A page per compressor: what it is, its constants, and its message as a picture."""

import inspect
from collections.abc import Mapping
from html import escape

from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.wire import Layout
from making.method_page import toctree
from making.text import code, docstring, escaped, page, prose, raw, table

FEATURES = (16, 128, 1024)
"""The d of the table; the picture is at the first."""
EXAMPLES = (
    "identity", "natural", "l1", "ternary", "sign", "rand-k:2", "rand-k:2@shared",
    "rand-k:2+natural", "top-k:2", "dithering:3", "scaled(rand-k:2)",
)  # fmt: skip
"""One of each form of a selector."""
_COLOURS = {"Index": "#0072B2", "Float32": "#D55E00", "Norm": "#F0E442", "PowersOfTwo": "#009E73",
            "Sign": "#CC79A7", "Level": "#E69F00", "Shared": "#666666"}  # fmt: skip
_WIDTH, _HEIGHT, _BAR = 720.0, 92.0, 34.0


def file_name(selector: str) -> str:
    """Return how the page of a compressor is called."""
    return "".join(c if c.isalnum() else "-" for c in selector).strip("-")


def compressor_page(sent: Compressor) -> str:
    """Return the page of a compressor."""
    told = docstring(type(sent))
    d = FEATURES[0]
    return page(
        f"# {escaped(sent.name)}",
        escaped(told.summary),
        prose(told.body),
        "## Variance and bits",
        table(
            ("d", "omega", "omega of the mean of 10", "alpha", "bits of a message", "of 32 d"),
            [_row(sent, features) for features in FEATURES],
        ),
        f"## On the wire, d = {d}",
        raw(f"<figure>{wire_picture(sent.layout(d))}</figure>"),
        "Fields follow each other without gaps; shared numbers are drawn on both sides and have no "
        "bits.",
        "## Source",
        f"`{type(sent).__module__.removeprefix('certibit.').replace('.', '/')}.py`",
        code(inspect.getsource(type(sent))),
    )


def wire_picture(layout: Layout) -> str:
    """Draw the fields of a message, each as wide as its bits."""
    whole = max(layout.bits, 1)
    x, parts = 0.0, []
    legend: dict[str, str] = {}
    for field, count in layout.fields:
        kind = type(field).__name__
        each = _WIDTH * field.width / whole
        legend[kind] = f"{count} x {kind}, {field.width} bits each"
        for _ in range(count if field.width else 0):
            parts.append(
                f'<rect class="band" style="opacity:.75" x="{x:.2f}" y="0" '
                f'width="{max(each - 0.6, 0.3):.2f}" height="{_BAR:g}"><title>{kind}: '
                f"{field.width} bits</title></rect>"
            )
            parts[-1] = f'<g style="--c:{_COLOURS.get(kind, "#444444")}">{parts[-1]}</g>'
            x += each
    for row, (kind, words) in enumerate(legend.items()):
        y = _BAR + 18 + 17 * row
        parts.append(
            f'<g style="--c:{_COLOURS.get(kind, "#444444")}">'
            f'<circle class="bead" cx="6" cy="{y - 4:g}" r="5"/></g>'
            f'<text x="18" y="{y:g}">{escape(words)}</text>'
        )
    total = f"{layout.bits} bits, {layout.bytes} bytes"
    parts.append(f'<text x="{_WIDTH:g}" y="{_BAR + 18:g}" class="end">{total}</text>')
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'aria-label="the fields of a message">{"".join(parts)}</svg>'
    )


def index_page(compressors: Mapping[str, Compressor]) -> str:
    """Return the list of all compressors."""
    rows = [
        (f"[{escaped(name)}]({file_name(name)}.md)", escaped(docstring(type(sent)).summary))
        for name, sent in compressors.items()
    ]
    return page(
        "# Compressors",
        table(("compressor", "map"), rows),
        toctree(map(file_name, compressors)),
    )


def _row(sent: Compressor, d: int) -> tuple[str, ...]:
    bits = sent.bits(d)
    values = (_number(lambda: sent.omega(d)), _number(lambda: sent.omega_av(d, 10)),
              _number(lambda: sent.alpha(d)))  # fmt: skip
    return (f"{d}", *values, f"{bits:,}", f"{bits / (32 * d):.1%}")


def _number(value: object) -> str:
    try:
        return f"{value():.4g}"  # type: ignore[operator]
    except Refusal:
        return "none"
