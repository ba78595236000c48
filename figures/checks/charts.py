"""Charts of the checks: the looseness of theorems, and how the measured bits grow."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator, ScalarFormatter

from certibit.figures.drawing import Line, Plot, draw_plots
from certibit.figures.looks import method_label, method_look
from certibit.figures.text.theory_tables import fit_summary
from certibit.solvers.total_bits import bits_name
from certibit.theory.checks.scaling import Fit
from certibit.theory.checks.standard import KAPPA, D, N, TheoremRow

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
    :func:`~certibit.figures.text.theory_tables.fit_summary`.
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
