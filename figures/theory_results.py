"""Theorems on standard problems: table, JSON values and chart."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from certibit.data.terminal import table
from certibit.figures.drawing import Line, Plot, draw_plots
from certibit.figures.text.examinations import verdict_summary
from certibit.figures.text.tables import json_number
from certibit.solvers.total_bits import bits_name, total_text
from certibit.theory.checks.standard import KAPPA, D, N, TheoremRow

_LEGEND = """
margin: how much of its limit the tightest hypothesis uses
worst: exact worst case over all states of small quadratics / tau; 1 is tight,
       - where the rule meets the theorem on none of them
step: least progress of one step of a run, exact / promised
rate: log of the factor of whole runs, measured / promised
bits: promised / measured
in part: the accuracy was not reached, so that the bits to it were not tested"""


def theorems_table(rows: Sequence[TheoremRow]) -> str:
    """Tabulate how tight every theorem is, and name the checks that fail."""
    lines = [
        (
            row.theorem,
            row.family,
            f"{row.rule}, {row.compressor}",
            row.outcome,
            f"{row.tightest.used:.2f}",
            "-" if math.isnan(row.worst) else f"{row.worst:.5f}",
            f"{row.step:.2f}",
            f"{row.rate:.2f}",
            f"{row.bits:.1f}",
        )
        for row in rows
    ]
    header = ("theorem", "problem", "parameters", "", "margin", "worst", "step", "rate", "bits")
    failing = [
        f"{row.theorem}, {row.family}, {row.rule}, {row.compressor}: {v.sentence}"
        for row in rows
        for v in row.verdicts
        if not v.holds
    ]
    counted = total_text(max((row.downlink for row in rows), default=0.0))
    count = f"{sum(not row.holds for row in rows)} of {len(rows)} rows fail"
    parts = [table(header, lines, texts=3), _LEGEND, counted and f"bits: {counted}", count]
    return "\n".join([*filter(None, parts), *failing])


def row_summary(row: TheoremRow) -> dict[str, Any]:
    """Return a row as strict JSON values."""
    return {
        "theorem": row.theorem,
        "family": row.family,
        "rule": row.rule,
        "compressor": row.compressor,
        "holds": row.holds,
        "outcome": row.outcome,
        "least room": {"condition": row.tightest.statement, "used": json_number(row.tightest.used)},
        "progress of one step, exact / promised": json_number(row.step),
        "worst case / promised factor": json_number(row.worst),
        "rate, measured / promised": json_number(row.rate),
        "bits, promised / measured": json_number(row.bits),
        "seeds": row.seeds,
        "downlink_weight": row.downlink,
        "verdicts": [verdict_summary(verdict) for verdict in row.verdicts],
    }


_FAMILIES = {
    "worst-case-like": ("#D55E00", "o"),
    "heterogeneous": ("#0072B2", "s"),
    "logistic": ("#009E73", "^"),
}


def draw_looseness(rows: Sequence[TheoremRow], folder: Path) -> list[Path]:
    """Draw promised over measured bits of every theorem, a row for each."""
    titles = list(dict.fromkeys(row.theorem for row in rows))
    lines = []
    for family, (colour, marker) in _FAMILIES.items():
        some = [row for row in rows if row.family == family and np.isfinite(row.bits)]
        look: dict[str, Any] = {"marker": marker, "color": colour, "label": family}
        look |= {"linestyle": "", "markersize": 4, "alpha": 0.8}
        heights = [titles.index(row.theorem) for row in some]
        lines.append(Line([row.bits for row in some], heights, look))

    def name_rows(place: Axes) -> None:
        place.axvline(1, color="0.3", linewidth=0.8)
        place.set_xscale("log")
        place.set_yticks(range(len(titles)), titles)
        place.invert_yaxis()

    counted = f"{bits_name(rows[0].downlink)}: promised / measured"
    xlabel = f"{counted}\n{standard_setting(rows[0].seeds)}"
    plot = Plot(lines, "", xlabel, finish=name_rows)
    legend = {"loc": "outside lower center", "ncols": len(_FAMILIES)}
    return draw_plots("looseness", [[plot]], folder, (5.6, 1.2 + 0.19 * len(titles)), legend)


def standard_setting(seeds: int) -> str:
    """Return n, d, kappa of the standard problems, and the number of seeds of whole runs."""
    return f"n = {N}, d = {D} or 30, kappa = {KAPPA:g}; {seeds} seed{'s' * (seeds > 1)}"
