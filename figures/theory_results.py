"""Theorems on standard problems, and scaling laws: tables, JSON values and charts."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator, ScalarFormatter

from certibit.data.terminal import table
from certibit.figures.drawing import Line, Plot, draw_plots
from certibit.figures.looks import method_label, method_look
from certibit.figures.text.examinations import verdict_summary
from certibit.figures.text.tables import ABSENT, json_number
from certibit.solvers.total_bits import bits_name, total_text
from certibit.theory.checks.scaling import Fit
from certibit.theory.checks.standard import KAPPA, D, N, TheoremRow
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


def draw_scaling(fits: Sequence[Fit], folder: Path) -> list[Path]:
    """Draw measured bits, relative to the first, and the table's line, a panel per quantity.

    Laws without an exponent, because runs did not reach the accuracy, are not drawn.
    """
    fits = [fit for fit in fits if np.isfinite(fit.exponent)]
    plots: list[Plot] = []
    for quantity in dict.fromkeys(fit.law.quantity for fit in fits):
        some = [fit for fit in fits if fit.law.quantity == quantity]
        lines = [line for fit in some for line in _growth(fit)]
        ylabel = "" if plots else bits_name(fits[0].downlink)
        plots.append(Plot(lines, "", quantity, ylabel, "xy", finish=_named(some)))
    if not plots:
        return []
    return draw_plots("scaling", [plots], folder, (3.3 * len(plots), 4.6))


def _growth(fit: Fit) -> tuple[Line, Line]:
    """Return what was measured, and the order of the table from the same first point."""
    colour, marker = method_look(fit.law.method)
    middle = np.median(fit.bits, axis=1)
    order = np.array([fit.law.order(value, fit.downlink) for value in fit.law.values])
    text = f"{method_label(fit.law.method)}: {fit.exponent:.2f} ({fit.table:.2f})"
    look = {"marker": marker, "markersize": 4, "color": colour, "label": text}
    dashed = {"ls": "--", "lw": 0.8, "color": colour}
    expected = Line(fit.law.values, order * middle[0] / order[0], dashed)
    return Line(fit.law.values, middle, look), expected


def _named(fits: Sequence[Fit]) -> Any:
    """Return what names the values and the curves on the axes of some fits."""
    title = "\n".join(["measured (table)", *scaling_setting([*map(fit_summary, fits)])])

    def name(place: Axes) -> None:
        place.set_xticks(sorted(set().union(*(fit.law.values for fit in fits))))
        place.xaxis.set_major_formatter(ScalarFormatter())
        place.xaxis.set_minor_locator(NullLocator())
        place.yaxis.set_minor_locator(NullLocator())
        place.legend(
            title=title, fontsize=6, title_fontsize=6,
            loc="upper center", bbox_to_anchor=(0.5, -0.16),
        )  # fmt: skip

    return name


def _number_of_seeds(seeds: int) -> str:
    """Return the number of seeds in words."""
    return "one seed" if seeds == 1 else f"{seeds} seeds"


def scaling_setting(fits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the fixed n, d and kappa of fits in one quantity, and the number of seeds.

    Methods are named where their values differ. The fits are those of
    :func:`fit_summary`.
    """
    fixed = {
        method_label(fit["method"]): ", ".join(
            f"{name} = {fit[name]:g}" for name in ("n", "d", "kappa") if fit[name] is not None
        )
        for fit in fits
    }
    alike = len(set(fixed.values())) == 1
    values = [*fixed.values()][:1] if alike else [f"{k}: {text}" for k, text in fixed.items()]
    return [*values, _number_of_seeds(fits[0]["seeds"])]


def standard_setting(seeds: int) -> str:
    """Return n, d, kappa of the standard problems, and the number of seeds of whole runs."""
    return f"n = {N}, d = {D} or 30, kappa = {KAPPA:g}; {_number_of_seeds(seeds)}"
