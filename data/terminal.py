"""Paragraphs and tables of text, fitted to the terminal where they are printed on one.

What goes into files is the same whatever the terminal is: paragraphs of 80 columns, and tables as
wide as they are.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from itertools import zip_longest
from types import MappingProxyType

_USUAL, _NARROWEST, _WIDEST = 80, 40, 100
"""Columns of a paragraph in a file; the least that are reckoned with; the most that it takes."""
_WORDS = 12
"""Columns that a column of words keeps where a table is fitted."""

_terminal: ContextVar[int | None] = ContextVar("terminal", default=None)


def for_terminal(write: Callable[[], str]) -> str:
    """Return a text whose paragraphs and tables are fitted to the terminal while it is written.

    The terminal has the columns that ``COLUMNS`` says, or those that it tells. Other lines that are
    too long are wrapped behind their indentation. Where ``COLUMNS`` is not set and the output is no
    terminal, the text is that of a file.
    """
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS")):
        return write()
    columns = max(shutil.get_terminal_size().columns, _NARROWEST)
    token = _terminal.set(columns)
    try:
        text = write()
    finally:
        _terminal.reset(token)
    return "\n".join(_cut(line, columns) for line in text.split("\n"))


def _cut(line: str, columns: int) -> str:
    hanging = " " * (len(line) - len(line.lstrip()) + 2)
    long = len(line) > columns
    return textwrap.fill(line, columns, subsequent_indent=hanging) if long else line


def text_columns() -> int:
    """Return the columns of a text: those of the terminal, or 80 for a file."""
    return _terminal.get() or _USUAL


def paragraph(
    text: str, indent: str = "", hanging: str = "", *, break_on_hyphens: bool = True
) -> str:
    """Wrap a text, its first line behind ``indent`` and the others behind ``hanging``.

    It takes at most 100 columns, since longer lines are hard to read.
    """
    return textwrap.fill(
        text,
        min(text_columns(), _WIDEST),
        initial_indent=indent,
        subsequent_indent=hanging,
        break_on_hyphens=break_on_hyphens,
    )


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    texts: int,
    wrapped_at: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Align a table: the first ``texts`` columns to the left, the others to the right.

    On a terminal that is too narrow the columns to the left are wrapped; where that does not do,
    every row is a block, with a line for each of its cells.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    rows : sequence of sequence of str
        A cell for every column; a single cell is a line of its own, across the columns.
    texts : int
        How many columns are aligned to the left.
    wrapped_at : mapping
        Columns, by their names, whose cells are wrapped where they are longer than that.
    """
    full = [row for row in rows if len(row) > 1]
    longest = [max(map(len, column)) for column in zip(header, *full, strict=True)]
    widths = [
        min(width, wrapped_at.get(name, width)) for name, width in zip(header, longest, strict=True)
    ]
    room = _terminal.get()
    if room is not None:
        widths = _narrowed(widths, texts, room)
        if _total(widths) > room:
            return "\n".join(line for row in rows for line in _block(header, row, room))
    lines = []
    for row in (header, ["-" * width for width in widths], *rows):
        lines += _lines(row, widths, texts) if len(row) > 1 else [row[0]]
    return "\n".join(lines)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _narrowed(widths: list[int], texts: int, room: int) -> list[int]:
    """Take from the widest columns of words what is too much, as far as it goes."""
    narrowed = list(widths)
    while _total(narrowed) > room and max(narrowed[:texts], default=0) > _WORDS:
        narrowed[narrowed.index(max(narrowed[:texts]))] -= 1
    return narrowed


def _lines(row: Sequence[str], widths: Sequence[int], texts: int) -> list[str]:
    """Return the lines of a row; what is too long for its column goes on below."""
    columns = [
        [cell] if len(cell) <= width else textwrap.wrap(cell, width)
        for cell, width in zip(row, widths, strict=True)
    ]
    return [
        "  ".join(
            cell.ljust(width) if position < texts else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in zip_longest(*columns, fillvalue="")
    ]


def _block(header: Sequence[str], row: Sequence[str], room: int) -> list[str]:
    """Return the first cell of a row as a heading, and below it the others with their names."""
    first, *others = row
    title, *names = header
    width = max(map(len, names))
    heading = f"{title} {first}".strip() if others and first else first
    lines = textwrap.wrap(heading, room, subsequent_indent="  ")
    for name, cell in zip(names, others, strict=False):
        if cell:
            after = " " * (width + 4)
            lines += textwrap.wrap(f"  {name:{width}}  {cell}", room, subsequent_indent=after)
    return lines
