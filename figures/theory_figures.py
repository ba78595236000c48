"""Figures of the theory: how loose the theorems are, and scaling laws."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter

from bitbound.figures.drawing import METHODS, STYLE, save
from bitbound.figures.locodl.panels import METHOD_LABELS
from bitbound.theory.checks.scaling import Fit
from bitbound.theory.checks.standard import TheoremRow

_ROW = 0.19
_FAMILIES = {
    "worst-case-like": ("#D55E00", "o"),
    "heterogeneous": ("#0072B2", "s"),
    "logistic": ("#009E73", "^"),
}


def draw_looseness(rows: Sequence[TheoremRow], folder: Path) -> list[Path]:
    """Draw promised over measured bits of every theorem, a row for each."""
    titles = list(dict.fromkeys(row.theorem for row in rows))
    with style.context(STYLE):
        canvas = Canvas(figsize=(5.6, 1.2 + _ROW * len(titles)), layout="constrained")
        axes = canvas.subplots()
        for family, (colour, marker) in _FAMILIES.items():
            some = [row for row in rows if row.family == family and np.isfinite(row.bits)]
            axes.plot(
                [row.bits for row in some],
                [titles.index(row.theorem) for row in some],
                linestyle="", marker=marker, markersize=4, color=colour, alpha=0.8, label=family,
            )  # fmt: skip
        axes.axvline(1, color="0.3", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xlabel("bits to the accuracy, promised / measured")
        axes.set_yticks(range(len(titles)), titles)
        axes.invert_yaxis()
        canvas.legend(loc="outside lower center", ncols=len(_FAMILIES))
        return save(canvas, folder, "looseness")


def draw_scaling(fits: Sequence[Fit], folder: Path) -> list[Path]:
    """Draw measured bits, relative to the first, and the table's line, a panel per quantity."""
    quantities = list(dict.fromkeys(fit.law.quantity for fit in fits))
    with style.context(STYLE):
        canvas = Canvas(figsize=(3.3 * len(quantities), 4.6), layout="constrained")
        panels = canvas.subplots(1, len(quantities), squeeze=False)[0]
        for quantity, axes in zip(quantities, panels, strict=True):
            for fit in (fit for fit in fits if fit.law.quantity == quantity):
                colour, marker = METHODS[fit.law.method]
                label = METHOD_LABELS.get(fit.law.method, fit.law.method)
                values = np.array(fit.law.values)
                middle = np.median(fit.bits, axis=1)
                order = np.array([fit.law.order(value) for value in fit.law.values])
                text = f"{label}: {fit.exponent:.2f} ({fit.table:.2f})"
                axes.plot(values, middle, marker=marker, markersize=4, color=colour, label=text)
                axes.plot(values, order * middle[0] / order[0], "--", lw=0.8, color=colour)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(quantity)
            shown = [fit.law.values for fit in fits if fit.law.quantity == quantity]
            axes.set_xticks(sorted(set().union(*shown)))
            axes.xaxis.set_major_formatter(ScalarFormatter())
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.legend(
                title="measured (table)", fontsize=6, title_fontsize=6,
                loc="upper center", bbox_to_anchor=(0.5, -0.16),
            )  # fmt: skip
        panels[0].set_ylabel("bits per client")
        return save(canvas, folder, "scaling")
