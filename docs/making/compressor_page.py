"""A page per compressor: what it is, its constants, and the fields of its message."""

import inspect
import re
from collections.abc import Mapping

from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import NAMES, compressor
from certibit.solvers.compressors.wire import Layout
from making.method_page import toctree
from making.text import code, docstring, escaped, page, prose, table

FEATURES = (16, 128, 1024)
"""The d of the table; the message is at the first."""
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
        wire_table(sent.layout(d)),
        "## Source",
        f"`{type(sent).__module__.removeprefix('certibit.').replace('.', '/')}.py`",
        code(inspect.getsource(type(sent))),
    )


def wire_table(layout: Layout) -> str:
    """Return the fields of a message, in their order."""
    rows = [
        (f"{count}", type(field).__name__, f"{field.width}", f"{count * field.width}")
        for field, count in layout.fields
    ]
    told = f"{layout.bits} bits, {layout.bytes} bytes, without gaps."
    return page(table(("fields", "kind", "bits each", "bits"), rows), told).strip()


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
