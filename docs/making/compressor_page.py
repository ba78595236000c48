"""A page per compressor: what it is, its constants, and its message as a picture."""

import inspect
import re
from collections.abc import Mapping
from itertools import pairwise

from certibit.data.errors import Refusal
from certibit.figures.report.chart import Chart, Series
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import NAMES, compressor
from certibit.solvers.compressors.wire import Layout
from making.method_page import toctree
from making.text import charts, code, docstring, escaped, page, prose, table

FEATURES = (16, 128, 1024)
"""The d of the table; the picture is at the first."""
_VALUES = {"COMPRESSOR": "rand-k:2", "BIASED": "top-k:2", "K": "2", "S": "3"}


def _example(form: str) -> str:
    """Return a selector of a form, such as ``rand-k:2`` for ``rand-k:K``."""
    return re.sub("|".join(_VALUES), lambda letter: _VALUES[letter[0]], form)


EXAMPLES = tuple(
    name
    for name in (_example(form) for form in NAMES if ";" not in form)
    if compressor(name).name == name
)
"""One of each form of a selector, but for second names and pairs, whose parts have pages."""
_COLOURS = {"Index": "#0072B2", "Float32": "#D55E00", "Norm": "#F0E442", "PowersOfTwo": "#009E73",
            "Sign": "#CC79A7", "Level": "#E69F00", "Shared": "#666666"}  # fmt: skip


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
        charts(wire_chart(sent.name, sent.layout(d))),
        "## Source",
        f"`{type(sent).__module__.removeprefix('certibit.').replace('.', '/')}.py`",
        code(inspect.getsource(type(sent))),
    )


def wire_chart(name: str, layout: Layout) -> Chart:
    """Return the fields of a message, each as wide as its bits; one row per kind of field."""
    start, found = 0, {}
    for field, count in layout.fields:
        kind = type(field).__name__
        ends = [start + field.width * each for each in range(count + 1)]
        start = ends[-1]
        spans = found.setdefault(f"{count} x {kind}, {field.width} bits each", (kind, []))[1]
        spans += pairwise(ends) if field.width else []
    series = tuple(
        Series(told, (), (), colour=_COLOURS.get(kind, "#444444"), spans=tuple(spans))
        for told, (kind, spans) in found.items()
    )
    return Chart(
        f"The fields of a message of {name}, d = {FEATURES[0]}",
        f"{layout.bits} bits, {layout.bytes} bytes. Fields follow each other without gaps; what is "
        "shared is known to both sides and has no bits.",
        "bit",
        "",
        series,
        rows=("",),
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
