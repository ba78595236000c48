"""Drawn curves as JSON values: costs, bands, and the specification of the runs."""

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from certibit.figures.costs import BAND, QUANTITIES, costs_to
from certibit.figures.text.tables import accuracy_name, json_number, json_numbers
from certibit.solvers.runs.trace import MEASURES, Trace

COARSE = 1e-3
"""The accuracy that every panel has beside that where its axis ends."""
LEVELS = 60
"""Accuracies of a line, from that of the start to the finest, each with its bits for every seed."""


def figure_record(name: str, panels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return everything that a figure shows as strict JSON values; null means "never"."""
    return {
        "figure": name,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "band": list(BAND),
        "panels": list(panels),
    }


def panel_record(
    title: str,
    problem: str,
    kappa: float | None,
    floor: float,
    curves: Sequence[tuple[dict[str, Any], Trace]],
    downlink: float = 0.0,
) -> dict[str, Any]:
    """Return what a panel shows.

    Parameters
    ----------
    title, problem : str
        What stands above it, and the name of what is solved.
    kappa : float or None
        The condition number of the problem, where it has one.
    floor : float
        Where the axis of f - f*, or of |grad f|^2, ends.
    curves : sequence of (dict, Trace)
        How each curve is called and looks, and its runs.
    downlink : float
        The weight of a bit received that the figure was drawn with; bits of the lines and costs
        stand one by one.
    """
    _, first = curves[0]
    specification = first.specification
    coarse = max(COARSE, floor)
    return {
        "title": title,
        "problem": problem,
        "n": specification["problem"]["n"],
        "d": specification["problem"]["d"],
        "kappa": kappa,
        "seeds": len(specification["seeds"]),
        "measure": MEASURES[first.measure],
        "floor": floor,
        "downlink_weight": downlink,
        "targets": [accuracy_name(accuracy) for accuracy in (coarse, floor)],
        "curves": [look | _curve(trace, (coarse, floor)) for look, trace in curves],
    }


def _curve(trace: Trace, accuracies: tuple[float, float]) -> dict[str, Any]:
    start = float(np.max(trace.columns[trace.measure][trace.columns["iteration"] == 0]))
    levels = [
        *json_numbers(np.geomspace(start, accuracies[-1], LEVELS + 1)[1:-1], 5),
        accuracies[-1],
    ]
    return {
        "specification": trace.specification,
        "ending": list(trace.ending),
        "costs": {
            accuracy_name(accuracy): {
                name: json_number(costs_to(trace, accuracy, name, 0.0).tolist())
                for name in QUANTITIES
                if name != "total bits"
            }
            for accuracy in accuracies
        },
        "line": {
            "accuracy": levels,
            **{
                name: [json_numbers(costs_to(trace, one, name, 0.0), 5) for one in levels]
                for name in ("bits", "downlink bits")
            },
        },
    }
