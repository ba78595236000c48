"""Scaling laws: how the measured bits grow, beside the table's orders."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter

from certibit.figures.checks.captions import scaling_setting
from certibit.figures.drawing import STYLE, save
from certibit.figures.looks import method_label, method_look
from certibit.figures.text.theory_tables import fit_summary
from certibit.solvers.total_bits import bits_name
from certibit.theory.checks.scaling import Fit


def draw_scaling(fits: Sequence[Fit], folder: Path) -> list[Path]:
    """Draw measured bits, relative to the first, and the table's line, a panel per quantity.

    Laws without an exponent, because runs did not reach the accuracy, are not drawn.
    """
    fits = [fit for fit in fits if np.isfinite(fit.exponent)]
    if not fits:
        return []
    quantities = list(dict.fromkeys(fit.law.quantity for fit in fits))
    with style.context(STYLE):
        canvas = Canvas(figsize=(3.3 * len(quantities), 4.6), layout="constrained")
        panels = canvas.subplots(1, len(quantities), squeeze=False)[0]
        for quantity, axes in zip(quantities, panels, strict=True):
            some = [fit for fit in fits if fit.law.quantity == quantity]
            for fit in some:
                colour, marker = method_look(fit.law.method)
                label = method_label(fit.law.method)
                values = np.array(fit.law.values)
                middle = np.median(fit.bits, axis=1)
                order = np.array([fit.law.order(value, fit.downlink) for value in fit.law.values])
                text = f"{label}: {fit.exponent:.2f} ({fit.table:.2f})"
                axes.plot(values, middle, marker=marker, markersize=4, color=colour, label=text)
                axes.plot(values, order * middle[0] / order[0], "--", lw=0.8, color=colour)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(quantity)
            axes.set_xticks(sorted(set().union(*(fit.law.values for fit in some))))
            axes.xaxis.set_major_formatter(ScalarFormatter())
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.legend(
                title="\n".join(["measured (table)", *scaling_setting([*map(fit_summary, some)])]),
                fontsize=6, title_fontsize=6,
                loc="upper center", bbox_to_anchor=(0.5, -0.16),
            )  # fmt: skip
        panels[0].set_ylabel(bits_name(fits[0].downlink))
        return save(canvas, folder, "scaling")
