"""A drawn figure as values of JSON: what its curves cost, their bands, and what made them."""

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from bitbound.figures.bands import BAND, band
from bitbound.figures.locodl.panels import Curve, Figure, Panel
from bitbound.figures.looks import method_look
from bitbound.figures.text.tables import accuracy_name, json_number
from bitbound.solvers.runs.trace import Trace

COARSE = 1e-3
"""The accuracy that every panel has beside that where its axis ends."""
COUNTED = {
    "bits": "uplink_bits",
    "downlink bits": "downlink_bits",
    "rounds": "rounds",
    "gradients": "gradients",
}
"""What a curve costs, and the columns of a trace that say it."""


def figure_record(figure: Figure, traces: Mapping[tuple[Panel, Curve], Trace]) -> dict[str, Any]:
    """Return everything that a figure shows as values of strict JSON; null stands for "never"."""
    return {
        "figure": figure.name,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "band": list(BAND),
        "panels": [
            _panel(panel, {c: traces[panel, c] for c in panel.curves if (panel, c) in traces})
            for panel in figure.panels
        ],
    }


def _panel(panel: Panel, traces: Mapping[Curve, Trace]) -> dict[str, Any]:
    specifications = [trace.specification for trace in traces.values()]
    problem = specifications[0]["problem"]
    return {
        "title": panel.title,
        "problem": panel.problem,
        "n": problem["n"],
        "d": problem["d"],
        "kappa": panel.kappa,
        "seeds": len(specifications[0]["seeds"]),
        "floor": panel.floor,
        "targets": [accuracy_name(accuracy) for accuracy in (COARSE, panel.floor)],
        "curves": [_curve(panel, curve, trace) for curve, trace in traces.items()],
    }


def _curve(panel: Panel, curve: Curve, trace: Trace) -> dict[str, Any]:
    runs = band(trace, panel.bits, panel.floor)
    lines = {"bits": runs.bits, "median": runs.median, "low": runs.low, "high": runs.high}
    return {
        "label": curve.label,
        "method": curve.method,
        "compressor": curve.compressor,
        "rule": curve.rule,
        "colour": method_look(curve.method)[0],
        "kind": curve.kind,
        "specification": trace.specification,
        "ending": list(trace.ending),
        "costs": {
            accuracy_name(accuracy): {
                name: json_number(trace.cost_to(accuracy, column).tolist())
                for name, column in COUNTED.items()
            }
            for accuracy in (COARSE, panel.floor)
        },
        "line": {name: _short(values) for name, values in lines.items()},
    }


def _short(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers with the digits that a picture shows."""
    return [json_number(float(f"{value:.4g}")) for value in values]
