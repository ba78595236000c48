"""Methods sorted by their cost to a target, as text, HTML and LaTeX."""

import re
from collections.abc import Sequence
from html import escape

import numpy as np

from certibit.data.terminal import paragraph, table, text_columns
from certibit.figures.comparison.contestants import Contestant
from certibit.figures.costs import (
    Spread,
    band_text,
    cost_text,
    costs_to,
    spread,
)
from certibit.figures.text.tables import accuracy_name, short_cost
from certibit.solvers.network import Network
from certibit.solvers.runs.trace import MEASURES, SECONDS, Trace
from certibit.solvers.total_bits import total_text

Ranked = tuple[Contestant, Trace]
"""A contestant and its runs."""

_BAND = "10-90 %"
_LEAST = 12
"""Columns that a name is broken for; where there are fewer, a row is a block."""


def ranked(
    pairs: Sequence[Ranked], target: float, by: str = "bits", downlink: float = 0.0
) -> list[Ranked]:
    """Return the contestants with their traces, the one with the smallest median cost first."""
    return sorted(pairs, key=lambda pair: spread(costs_to(pair[1], target, by, downlink)).median)


def ranking_cells(
    pairs: Sequence[Ranked], target: float, downlink: float, network: Network | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table: medians, and the band of what is ranked by."""
    by = "total bits" if downlink else SECONDS if network else "bits"
    columns = {"bits up": "bits", "down": "downlink bits"}
    columns |= {by.removesuffix(" bits"): by} if by != "bits" else {}
    columns |= {_BAND: by, "rounds": "rounds", "gradients": "gradients"}
    rows = []
    for contestant, trace in ranked(pairs, target, by, downlink):
        spreads = {
            head: spread(costs_to(trace, target, counted, downlink))
            for head, counted in columns.items()
        }
        cells = [_cell(head, each) for head, each in spreads.items()]
        rows.append([contestant.name, *cells])
    return ["method", *columns], rows


def _cell(head: str, costs: Spread) -> str:
    """Write a band, seconds with three digits, or a number that was counted."""
    if head == _BAND:
        return band_text(costs)
    return short_cost(costs.median) if head == SECONDS else cost_text(costs.median)


def ranking_text(
    pairs: Sequence[Ranked], target: float, downlink: float, network: Network | None = None
) -> str:
    """Tabulate what a target costs; a name that is too long has its compressor on a second line."""
    header, rows = ranking_cells(pairs, target, downlink, network)
    others = [max(map(len, column)) for column in list(zip(header, *rows, strict=True))[1:]]
    room = text_columns() - sum(others) - 2 * len(others)
    lines = []
    for name, *cells in rows:
        first, *more = _broken(name, room)
        lines.append([first, *cells])
        lines += [[f"  {part}", *[""] * len(cells)] for part in more]
    notes = [paragraph(line, hanging="  ") for line in _failures(pairs, target)]
    return "\n".join([_heading(pairs, target, downlink), table(header, lines, texts=1), *notes])


def ranking_html(pairs: Sequence[Ranked], target: float, network: Network | None = None) -> str:
    """Return the same table for a notebook, with every text escaped."""
    header, rows = ranking_cells(pairs, target, 0.0, network)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    notes = "".join(f"<p>{escape(line)}</p>" for line in _failures(pairs, target))
    caption = f"<caption>{escape(_heading(pairs, target, 0.0))}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def ranking_latex(
    pairs: Sequence[Ranked], target: float, downlink: float, network: Network | None = None
) -> str:
    """Return the same table for LaTeX, with the rules of its package booktabs."""
    header, rows = ranking_cells(pairs, target, downlink, network)
    head, *body = (" & ".join(map(_escaped, row)) + r" \\" for row in (header, *rows))
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}",
        ]
    )


def _escaped(text: str) -> str:
    return re.sub(r"([#$%&_{}])", r"\\\1", text).replace("~", r"\textasciitilde{}")


def _heading(pairs: Sequence[Ranked], target: float, downlink: float) -> str:
    reached = f"{MEASURES[pairs[0][1].measure]} <= {accuracy_name(target)}"
    return "; ".join(filter(None, [reached, total_text(downlink)]))


def _failures(pairs: Sequence[Ranked], target: float) -> list[str]:
    """Return a line for every contestant with runs that do not reach the target."""
    lines = []
    for contestant, trace in pairs:
        reached = np.count_nonzero(~np.isnan(trace.bits_to(target)))
        if reached < len(trace.seeds):
            told = [f"{reached} of {len(trace.seeds)} runs arrive"]
            for ending, verb in (("stagnated", "stagnate"), ("diverged", "diverge")):
                told += [f"{trace.ending.count(ending)} {verb}"] * (ending in trace.ending)
            lines.append(f"{contestant.name}: {', '.join(told)}")
    return lines


def _broken(name: str, room: int) -> list[str]:
    """Return a name in lines that fit: the method, then the compressor, then what must be."""
    if len(name) <= room or room < _LEAST:
        return [name]
    method, plus, sent = name.partition("+")
    parts = [method, plus + sent] if plus else [method]
    width = room - 2
    return [part[i : i + width] for part in parts for i in range(0, len(part), width)]
