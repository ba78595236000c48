"""A panel as a table of text: what every curve costs."""

from collections.abc import Mapping

from certibit.data.terminal import paragraph, table
from certibit.figures.locodl.panels import Curve, Panel
from certibit.figures.text.tables import (
    ABSENT,
    accuracy_name,
    count_text,
    late_median,
)
from certibit.solvers.runs.trace import Trace


def panel_table(panel: Panel, traces: Mapping[Curve, Trace]) -> str:
    """Compare the curves of a panel: bits to two accuracies, rounds and gradients.

    Numbers are medians over the seeds; "-" stands where half of the runs or more did not get
    there. Rounds and gradients are those until the end of a run.
    """
    targets = (1e-3, panel.floor)
    rows = [
        (
            curve.method,
            curve.compressor or ABSENT,
            *(count_text(late_median(trace.bits_to(target, panel.downlink))) for target in targets),
            count_text(late_median(trace.final("rounds"))),
            count_text(late_median(trace.final("gradients"))),
        )
        for curve, trace in ((curve, traces[curve]) for curve in panel.curves if curve in traces)
    ]
    names = [accuracy_name(target) for target in targets]
    seeds = max((len(trace.seeds) for trace in traces.values()), default=0)
    caption = (
        f"{panel.title}, kappa = {panel.kappa:g}: {panel.counted} until "
        f"f - f* <= {' and '.join(names)}, rounds and gradients per client until the end; "
        f"medians of {seeds} seeds"
    )
    header = ("method", "compressor", *(f"to {name}" for name in names), "rounds", "gradients")
    return f"{paragraph(caption)}\n\n{table(header, rows, texts=2)}"
