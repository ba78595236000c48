"""Theorems on standard problems: table and JSON values."""

import math
from collections.abc import Sequence
from typing import Any

from certibit.data.terminal import table
from certibit.figures.text.examinations import verdict_summary
from certibit.figures.text.tables import json_number
from certibit.solvers.total_bits import total_text
from certibit.theory.checks.standard import TheoremRow

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
