"""From recipes to files: the traces of all curves, then every figure with its table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from certibit.data.files.archive import write_record
from certibit.data.files.cache import write_text
from certibit.data.terminal import paragraph, table
from certibit.figures.curve_records import figure_record, panel_record
from certibit.figures.locodl.claims import Traces, judge, judgement_summary, judgement_text
from certibit.figures.locodl.panel_drawing import draw_figure
from certibit.figures.locodl.panels import (
    COUNTED,
    Curve,
    Figure,
    Job,
    Panel,
    experiment_of,
    strongest_promise,
)
from certibit.figures.locodl.recipes import FIGURES, VERSIONS, all_rules, data_figures
from certibit.figures.looks import method_label, method_look
from certibit.figures.pool import Work, traces
from certibit.figures.text.tables import ABSENT, accuracy_name, count_text, late_median
from certibit.solvers.compressors.composition import downward
from certibit.solvers.runs.trace import Trace
from certibit.theory.card import LOWER_BOUND, Order
from certibit.theory.catalogue.catalogue import METHODS


def panel_table(panel: Panel, traces: Mapping[Curve, Trace]) -> str:
    """Compare the curves of a panel: bits to two accuracies, rounds and gradients.

    Numbers are medians over the seeds; "-" stands where half of the runs or more did not get
    there. Rounds and gradients are those until the end of a run.
    """
    targets = (1e-3, panel.floor)
    several = len({(c.method, c.rule) for c in panel.curves}) > len(
        {c.method for c in panel.curves}
    )
    rows = [
        (
            curve.method_name if several else curve.method,
            curve.compressor or ABSENT,
            *(count_text(late_median(trace.bits_to(target))) for target in targets),
            count_text(late_median(trace.final("rounds"))),
            count_text(late_median(trace.final("gradients"))),
        )
        for curve, trace in ((curve, traces[curve]) for curve in panel.curves if curve in traces)
    ]
    names = [accuracy_name(target) for target in targets]
    seeds = max((len(trace.seeds) for trace in traces.values()), default=0)
    caption = (
        f"{panel.title}, kappa = {panel.kappa:g}: {COUNTED} until "
        f"f - f* <= {' and '.join(names)}, rounds and gradients per client until the end; "
        f"medians of {seeds} seeds"
    )
    header = ("method", "compressor", *(f"to {name}" for name in names), "rounds", "gradients")
    return f"{paragraph(caption)}\n\n{table(header, rows, texts=2)}"


_REAL = 32
_RULE = 10
"""Letters of a rule's name in one line of Table 2."""


def table_2(panel: Panel, traces: Mapping[Curve, Trace]) -> str:
    """Tabulate reals to the floor of a panel: leading order, promise and measurement.

    A leading order is multiplied by ln(1/epsilon). The promise is that of the strongest theorem,
    with all constants. Measured is the median over seeds of bits/32, indices included, "-" where
    the runs were given up before, and "diverges" where they did. The last columns are measured
    over promised and the gradients per client. The first row is the lower bound.
    """
    problem = experiment_of(panel, next(iter(traces))).problem
    factor = math.log(1 / panel.floor)
    orders = {curve: METHODS[curve.method].orders for curve in traces}
    formulas = {curve: each.reals for curve, each in orders.items() if each is not None}
    letters = dict(
        zip(
            dict.fromkeys(order.formula for order in (*formulas.values(), LOWER_BOUND.reals)),
            ascii_uppercase,
            strict=False,
        )
    )
    least = count_text(factor * LOWER_BOUND.reals(problem.n, problem.d, panel.kappa))
    rows = [("lower bound", "", letters[LOWER_BOUND.reals.formula], least, *[ABSENT] * 4)]
    for curve, trace in traces.items():
        order = formulas.get(curve)
        best = strongest_promise(panel, curve)
        limit = best.reals_to(panel.floor) if best else math.inf
        bits = trace.bits_to(panel.floor)
        measured = late_median(bits) / _REAL
        gradients = trace.cost_to(panel.floor, "gradients")
        rows.append(
            (
                method_label(curve.method),
                curve.rule or "",
                letters[order.formula] if order else ABSENT,
                count_text(factor * _reals(order, panel, curve)) if order else ABSENT,
                count_text(limit),
                "diverges" if set(trace.ending) == {"diverged"} else count_text(measured),
                f"{measured / limit:.3f}" if math.isfinite(measured / limit) else ABSENT,
                count_text(late_median(gradients)),
            )
        )
    seeds = len(next(iter(traces.values())).seeds)
    caption = (
        f"Reals of 32 {COUNTED} until f - f* <= {accuracy_name(panel.floor)} on "
        f"{panel.problem}, d = {problem.d}, kappa = {panel.kappa:g}: the leading order times "
        "ln(1/epsilon), what theory promises with all "
        f"constants, and the median of {seeds} seeds; gradients per client, measured. "
        "The lower bound (arXiv:2305.16297) is an order, for independent unbiased compressors"
    )
    header = ("method", "rule", "", "order", "promised", "measured", "ratio", "grads")
    legend = "\n".join(
        paragraph(f"{letter} = {formula}", hanging=" " * 4) for formula, letter in letters.items()
    )
    rows_text = table(header, rows, texts=3, wrapped_at={"rule": _RULE})
    return f"{paragraph(caption)}\n\n{rows_text}\n\n{legend}"


def _reals(order: Order, panel: Panel, curve: Curve) -> float:
    """Return a leading order of reals at the constants of a panel."""
    experiment = experiment_of(panel, curve)
    d = experiment.problem.d
    return order(experiment.n, d, panel.kappa, 0.0, downward(experiment.compressor).alpha(d))


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


def reproduce(figures: Iterable[Figure], work: Work) -> list[Path]:
    """Compute what is missing, draw the figures, and tell the table of every panel.

    A figure is drawn as soon as its last curve is finished. The files drawn are returned.
    """
    return _compute(list(figures), [], work)[0]


def reproduce_paper(
    numbers: Sequence[int],
    work: Work,
    *,
    versions: Sequence[str] = VERSIONS,
) -> list[Path]:
    """Reproduce figures of the LoCoDL paper with verdicts, and with all of them Table 2.

    Figures 2 and 3 are drawn twice, with the data as they are and scaled.

    Beside the figures, ``verdicts.json`` and ``verdicts.txt`` say which claims of the paper hold
    in these figures, and ``table2.txt`` has Table 2 with measured values. With limits no claim is
    judged. The files drawn are returned.

    Parameters
    ----------
    numbers : sequence of int
        Some of 1 to 4.
    work : Work
    versions : sequence of str
        "paper", "best" or both: whose parameters the methods have.
    """
    by_data = [data_figures(number, version) for number in numbers for version in versions]
    figures = [figure for each in by_data for figure in each.values()]
    tables = [all_rules()] if set(numbers) == set(FIGURES) else []
    paths, done = _compute(figures, tables, work)
    if work.limits is not None:
        return paths
    folder, tell = work.folder, work.tell
    judgement = judge(by_data, done)
    paths.append(folder / "verdicts.json")
    write_record(paths[-1], judgement)
    written = {"verdicts.txt": partial(judgement_text, judgement)}
    for panel in tables:
        curves = {curve: done[panel, curve] for curve in panel.curves}
        written["table2.txt"] = partial(table_2, panel, curves)
    for name, write in written.items():
        paths.append(folder / name)
        write_text(paths[-1], write())
    if "table2.txt" in written:
        tell(lambda: f"\n{written['table2.txt']()}")
    tell(lambda: f"\n{judgement_summary(judgement)}")
    tell(lambda: f"all claims with their numbers: {folder / 'verdicts.txt'}")
    return paths


def _compute(figures: list[Figure], others: list[Panel], work: Work) -> tuple[list[Path], Traces]:
    """Compute the curves of figures and of other panels; draw every figure that is complete."""
    panels = [panel for figure in figures for panel in figure.panels] + others
    jobs = [Job(panel, curve, work.seeds, work.store) for panel in panels for curve in panel.curves]
    same: dict[object, list[Job]] = {}
    for job in jobs:
        same.setdefault(job.key, []).append(job)
    done: Traces = {}
    paths: list[Path] = []
    longest_first = sorted((each[0] for each in same.values()), key=lambda job: -job.panel.size)
    for place, trace in traces(longest_first, work.processes):
        done |= {(job.panel, job.curve): trace for job in same[longest_first[place].key]}
        for figure in figures.copy():
            if any((panel, curve) not in done for panel in figure.panels for curve in panel.curves):
                continue
            figures.remove(figure)
            paths += _finish(figure, done, work)
    return paths, done


def _finish(figure: Figure, done: Traces, work: Work) -> list[Path]:
    paths = draw_figure(figure, done, work.folder)
    paths.append(work.folder / f"{figure.name}.json")
    write_record(paths[-1], drawn_record(figure, done))
    for panel in figure.panels:
        curves = {curve: done[panel, curve] for curve in panel.curves}
        work.tell(partial(lambda *drawn: f"\n{panel_table(*drawn)}", panel, curves))
    work.tell(lambda: f"\n{figure.name}: {', '.join(map(str, paths))}")
    return paths
