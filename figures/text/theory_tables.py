"""Tables of the theory: all theorems on standard problems, and scaling laws."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from certibit.data.terminal import table
from certibit.figures.text.examinations import verdict_summary
from certibit.figures.text.tables import ABSENT, json_number
from certibit.solvers.total_bits import total_text
from certibit.theory.checks.scaling import Fit
from certibit.theory.checks.standard import TheoremRow
from certibit.theory.verdict import FAILS, Known

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


def scaling_table(fits: Sequence[Fit]) -> str:
    """Tabulate measured exponents beside those of the tables."""
    lines = [
        (
            fit.law.quantity,
            fit.law.method,
            f"{fit.law.values[0]:g} to {fit.law.values[-1]:g}",
            f"{fit.exponent:.2f} +- {fit.error:.2f}" if math.isfinite(fit.exponent) else ABSENT,
            f"{fit.table:.2f}",
            _fitted(fit),
        )
        for fit in fits
    ]
    header = ("in", "method", "values", "bits grow like", "table", "")
    counted = total_text(max((fit.downlink for fit in fits), default=0.0))
    return "\n".join(filter(None, [counted and f"bits: {counted}", table(header, lines, texts=2)]))


def _fitted(fit: Fit) -> str:
    """Say whether an exponent is at most that of the table, or why it is not known."""
    if not fit.tested:
        return f"not tested: {np.isnan(fit.bits).sum()} of {fit.bits.size} runs were cut"
    return Known.MEASURED.words() if fit.holds else FAILS


def fit_summary(fit: Fit) -> dict[str, Any]:
    """Return a fitted exponent as strict JSON values; n, d or kappa is null where it grows."""
    law = fit.law
    fixed = {name: getattr(law, name) for name in ("n", "d", "kappa") if name != law.quantity}
    return {
        "quantity": law.quantity,
        "method": law.method,
        "rule": law.rule,
        "values": list(law.values),
        "n": fixed.get("n"),
        "d": fixed.get("d"),
        "kappa": fixed.get("kappa"),
        "seeds": fit.bits.shape[1],
        "bits": [json_number(bits) for bits in np.median(fit.bits, axis=1)],
        "downlink_weight": fit.downlink,
        "exponent": json_number(fit.exponent),
        "error": json_number(fit.error),
        "table": json_number(fit.table),
        "holds": fit.holds,
    }
