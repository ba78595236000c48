"""Drawn curves as JSON values: costs, bands, and the specification of the runs."""

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.figures.bands import BAND, band
from certibit.figures.text.tables import accuracy_name, json_number
from certibit.solvers.runs.trace import Trace

COARSE = 1e-3
"""The accuracy that every panel has beside that where its axis ends."""
COUNTED = {
    "bits": "uplink_bits",
    "downlink bits": "downlink_bits",
    "rounds": "rounds",
    "gradients": "gradients",
}
"""What a curve costs, and the columns of a trace that say it."""


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
    bits: float = np.inf,
    downlink: float = 0.0,
) -> dict[str, Any]:
    """Return what a panel shows.

    Parameters
    ----------
    title, problem : str
        What stands above it, and the name of what is solved.
    kappa : float or None
        The condition number of the problem, where it has one.
    floor, bits : float
        Where the axes of f - f* and of bits per client end.
    curves : sequence of (dict, Trace)
        How each curve is called and looks, and its runs.
    downlink : float
        The weight of a bit received in the bits of the lines; the costs stand one by one.
    """
    specification = curves[0][1].specification
    coarse = max(COARSE, floor)
    return {
        "title": title,
        "problem": problem,
        "n": specification["problem"]["n"],
        "d": specification["problem"]["d"],
        "kappa": kappa,
        "seeds": len(specification["seeds"]),
        "floor": floor,
        "downlink_weight": downlink,
        "targets": [accuracy_name(accuracy) for accuracy in (coarse, floor)],
        "curves": [look | _curve(trace, (coarse, floor), bits, downlink) for look, trace in curves],
    }


def _curve(
    trace: Trace, accuracies: tuple[float, float], bits: float, downlink: float
) -> dict[str, Any]:
    runs = band(trace, bits, accuracies[-1], downlink)
    lines = {"bits": runs.bits, "median": runs.median, "low": runs.low, "high": runs.high}
    return {
        "specification": trace.specification,
        "ending": list(trace.ending),
        "costs": {
            accuracy_name(accuracy): {
                name: json_number(trace.cost_to(accuracy, column).tolist())
                for name, column in COUNTED.items()
            }
            for accuracy in accuracies
        },
        "line": {name: _short(values) for name, values in lines.items()},
    }


def _short(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers with the digits that a picture shows."""
    return [json_number(float(f"{value:.4g}")) for value in values]
