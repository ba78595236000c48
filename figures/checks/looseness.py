"""The looseness of theorems: promised over measured bits."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure as Canvas

from certibit.figures.checks.captions import standard_setting
from certibit.figures.drawing import STYLE, save
from certibit.solvers.total_bits import bits_name
from certibit.theory.checks.standard import TheoremRow

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
        counted = f"{bits_name(rows[0].downlink)}: promised / measured"
        axes.set_xlabel(f"{counted}\n{standard_setting(rows[0].seeds)}")
        axes.set_yticks(range(len(titles)), titles)
        axes.invert_yaxis()
        canvas.legend(loc="outside lower center", ncols=len(_FAMILIES))
        return save(canvas, folder, "looseness")
