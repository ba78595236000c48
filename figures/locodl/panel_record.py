"""A drawn figure of the paper as JSON values."""

from collections.abc import Mapping
from typing import Any

from certibit.figures.curve_records import figure_record, panel_record
from certibit.figures.locodl.panels import Curve, Figure, Panel
from certibit.figures.looks import method_look
from certibit.solvers.runs.trace import Trace


def drawn_record(figure: Figure, traces: Mapping[tuple[Panel, Curve], Trace]) -> dict[str, Any]:
    """Return everything that a figure shows as strict JSON values; null means "never"."""
    panels = [
        panel_record(
            panel.title,
            panel.problem,
            panel.kappa,
            panel.floor,
            [(_look(curve), traces[panel, curve]) for curve in panel.curves
             if (panel, curve) in traces],
            panel.downlink,
        )
        for panel in figure.panels
    ]  # fmt: skip
    return figure_record(figure.name, panels)


def _look(curve: Curve) -> dict[str, Any]:
    return {
        "label": curve.label,
        "method": curve.method,
        "compressor": curve.compressor,
        "rule": curve.rule,
        "colour": method_look(curve.method)[0],
    }
