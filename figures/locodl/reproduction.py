"""From recipes to files: the traces of all curves, then every figure with its table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from certibit.data.files.cache import write_text
from certibit.data.files.records import write_record
from certibit.figures.curve_records import figure_record, panel_record
from certibit.figures.locodl.claims import Traces, judge, judgement_summary, judgement_text
from certibit.figures.locodl.cost_tables import panel_table, table_2
from certibit.figures.locodl.panel_drawing import draw_figure
from certibit.figures.locodl.panels import Curve, Figure, Job, Panel
from certibit.figures.locodl.recipes import FIGURES, VERSIONS, all_rules, paper_figure
from certibit.figures.looks import method_look
from certibit.figures.pool import Work, traces
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
    scaled: bool = False,
) -> list[Path]:
    """Reproduce figures of the LoCoDL paper with verdicts, and with all of them Table 2.

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
    scaled : bool
        Take the data whose features were scaled.
    """
    pairs = [[paper_figure(number, v, scaled=scaled) for v in versions] for number in numbers]
    figures = [figure for pair in pairs for figure in pair]
    tables = [all_rules()] if set(numbers) == set(FIGURES) else []
    paths, done = _compute(figures, tables, work)
    if work.limits is not None:
        return paths
    folder, downlink, tell = work.folder, work.downlink, work.tell
    shown = [[weighed(figure, done, downlink) for figure in pair] for pair in pairs]
    counted = {key: trace for pair in shown for _, own in pair for key, trace in own.items()}
    judgement = judge([[figure for figure, _ in pair] for pair in shown], counted)
    paths.append(folder / "verdicts.json")
    write_record(paths[-1], judgement)
    written = {"verdicts.txt": partial(judgement_text, judgement)}
    for table in tables:
        alone, own = weighed(Figure("table2", (table,)), done, downlink)
        curves = {curve: own[_, curve] for _, curve in own}
        written["table2.txt"] = partial(table_2, alone.panels[0], curves)
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
        for figure in [figure for figure in figures if _wanted(figure) <= done.keys()]:
            figures.remove(figure)
            paths += _finish(figure, done, work)
    return paths, done


def _wanted(figure: Figure) -> set[tuple[Panel, object]]:
    return {(panel, curve) for panel in figure.panels for curve in panel.curves}


def _finish(figure: Figure, done: Traces, work: Work) -> list[Path]:
    shown, drawn = weighed(figure, done, work.downlink)
    paths = draw_figure(shown, drawn, work.folder)
    paths.append(work.folder / f"{figure.name}.json")
    write_record(paths[-1], drawn_record(shown, drawn))
    for panel in shown.panels:
        shown_curves = {curve: drawn[panel, curve] for curve in panel.curves}
        work.tell(partial(_after_a_line, panel, shown_curves))
    work.tell(lambda: f"\n{figure.name}: {', '.join(map(str, paths))}")
    return paths


def _after_a_line(panel: Panel, traces: Mapping[Curve, Trace]) -> str:
    return f"\n{panel_table(panel, traces)}"


def weighed(figure: Figure, traces: Traces, downlink: float) -> tuple[Figure, Traces]:
    """Return a figure in total bits, up + downlink down, with the traces of its panels.

    The axes of bits end with the longest run. Without a weight the figure is unchanged.
    """
    panels: list[Panel] = []
    found: Traces = {}
    for panel in figure.panels:
        own = {curve: traces[panel, curve] for curve in panel.curves}
        shown = panel
        if downlink:
            end = max(float(np.max(trace.final_bits(downlink))) for trace in own.values())
            shown = replace(panel, bits=end, most_bits=panel.most_bits or panel.bits)
            shown = replace(shown, downlink=downlink)
        panels.append(shown)
        found |= {(shown, curve): trace for curve, trace in own.items()}
    return replace(figure, panels=tuple(panels)), found
