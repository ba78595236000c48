"""The neural experiments of papers, on data that is at hand: figures and verdicts.

The EPISODE papers train recurrent networks on SNLI and Sentiment140; here a GRU reads
scikit-learn's digits row by row, and a network of rectified states the docstrings of Python's
standard library. The claims of the papers about their own networks and data are not tested here.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from certibit.data.deep.module_gradients import torch_library
from certibit.data.files.archive import write_record
from certibit.data.terminal import paragraph, table
from certibit.figures.deep.deep_verdicts import (
    NOT_TESTED_HERE,
    clipping_verdicts,
    compression_verdicts,
)
from certibit.figures.deep.networks import NETWORKS, Case, TrainingPlan
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurve, TrainingCurves, jobs_of, train
from certibit.figures.drawing import Line, Plot, draw_plots
from certibit.figures.pool import Work
from certibit.figures.text.tables import json_number, json_numbers
from certibit.figures.text.verdicts import ClaimVerdict, verdicts_text

SIMILAR = tuple(Case(similarity) for similarity in (0.0, 30.0, 50.0))
INTERVALS = tuple(Case(30.0, interval) for interval in (2, 4, 8, 16))
PARTIAL_ROUNDS = (Case(30.0, 4, 4), Case(30.0, 4, 2))
LOCAL = ("episode", "celgc", "scaffold", "fedavg")
EVERYONE = ("naive-parallel-clip", *LOCAL, "episode-plus-plus")
STORED = ("episode-plus-plus", "episode", "celgc", "scaffold")
COMPRESSED = ("sgd", "ef21-sgdm 10 %", "ef21-sgdm 1 %")
READERS = tuple(Case(0.0, interval, None, "reader") for interval in (2, 4, 8, 16))
CLIPPED = ("episode", "celgc")
CASES = (
    *((case, EVERYONE) for case in SIMILAR),
    *((case, LOCAL) for case in INTERVALS if case not in SIMILAR),
    *((case, STORED) for case in PARTIAL_ROUNDS),
    (Case(30.0), COMPRESSED),
    *((case, EVERYONE if case.I == 4 else CLIPPED) for case in READERS),
)
"""The cases and the methods there."""

AXES = {
    "rounds": "rounds",
    "steps": "local steps",
    "bits": "bits sent by a client",
}
Panel = tuple[str, Case, tuple[str, ...]]
"""Title, case and the methods that are drawn."""


def deep_experiments(
    work: Work,
    plan: TrainingPlan = TrainingPlan(),  # noqa: B008  (frozen)
) -> list[Path]:
    """Train where it has not been done, draw all figures, and write tables and verdicts.

    The plan says steps and grid, with the seeds of the work. The files are returned.
    """
    torch_library()
    plan, folder, tell = replace(plan, seeds=work.seeds), work.folder, work.tell
    both = Case(30.0)
    curves = train(jobs_of(plan, work.store, CASES), work.processes)

    alone, every = ("rounds",), ("rounds", "steps", "bits")
    chosen = ("naive-parallel-clip", "episode", "celgc", *COMPRESSED)
    readers = {case: EVERYONE if case.I == 4 else CLIPPED for case in READERS}
    figures: dict[str, tuple[Sequence[str], list[Panel]]] = {
        "similarity": (
            alone, [(f"{c.similarity:g} % similar, I = {c.I}", c, EVERYONE) for c in SIMILAR]
        ),
        "interval": (
            alone, [(f"I = {c.I}, {c.similarity:g} % similar", c, LOCAL) for c in INTERVALS]
        ),
        "participation": (
            alone, [(f"{c.S} of 8 clients, I = {c.I}", c, STORED) for c in PARTIAL_ROUNDS]
        ),
        "bits": (every, [("30 % similar, I = 4", both, chosen)]),
        "reader": (alone, [(f"characters, I = {c.I}", c, names) for c, names in readers.items()]),
    }  # fmt: skip
    paths = []
    for name, (along, panels) in figures.items():
        paths += draw_trainings(f"deep-{name}", panels, curves, along, folder)

    tell(lambda: _table(curves))
    said = [
        *clipping_verdicts(curves, (*SIMILAR, READERS[1])),
        *compression_verdicts(curves, both),
    ]
    said = [each.firm(plan.seeds) for each in said]
    tell(lambda: f"{paragraph(NOT_TESTED_HERE)}\n{verdicts_text(each.record() for each in said)}")
    paths.append(folder / "report.json")
    write_record(paths[-1], _record(plan, curves, said))
    tell(lambda: "\n" + "\n".join(map(str, paths)))
    return paths


def _table(curves: TrainingCurves) -> str:
    header = ("case", "method", "eta", "tau", "loss", "test", "rounds", "steps", "bits", "diverged")
    rows = [
        (str(case), RIVALS[name].label, *_costs(curve, NETWORKS[case.network].loss))
        for (case, name), curve in sorted(curves.items(), key=lambda pair: str(pair[0][0]))
    ]
    losses = ", ".join(f"{network.loss:g} ({name})" for name, network in NETWORKS.items())
    explained = paragraph(
        "Median training loss and test accuracy at the end, at the pair of the grid with the "
        f"lowest loss; rounds, local steps and bits of a client to a loss of {losses}; and the "
        "share of the runs of the grid that diverged"
    )
    return f"{explained}\n{table(header, rows, texts=2)}"


def _costs(curve: TrainingCurve, loss: float) -> tuple[str, ...]:
    """Return the cells of a table: eta, tau, loss, accuracy, and what a loss costs."""
    tau = "" if np.isinf(curve.tau) else f"{curve.tau:g}"
    costs = [curve.cost(of, loss) for of in ("rounds", "steps", "bits")]
    told = ["never" if np.isinf(c) else f"{c:.0f}" if c < 1e5 else f"{c:.2e}" for c in costs]
    return (f"{curve.eta:g}", tau, f"{curve.end:.3g}", f"{curve.right:.1%}", *told,
            f"{curve.diverged:.0%}")  # fmt: skip


def draw_trainings(
    name: str, panels: Sequence[Panel], curves: TrainingCurves, along: Sequence[str], folder: Path
) -> list[Path]:
    """Draw a column for each panel and axis: the training loss above, the test accuracy below.

    Parameters
    ----------
    name : str
        Of the files.
    panels : sequence of (title, case, methods)
        From left to right.
    curves : dict
        By case and method.
    along : sequence of str
        The horizontal axes of every panel: ``rounds``, ``steps`` or ``bits``.
    folder : Path
        Where the files are written.
    """
    shown = [curves[case, method] for _, case, methods in panels for method in methods]
    least = min(float(np.median(curve.loss, axis=1).min()) for curve in shown)
    losses = 0.7 * least, 2 * max(float(curve.loss[0].max()) for curve in shown)
    upper: list[Plot] = []
    lower: list[Plot] = []
    for title, case, methods in panels:
        for axis in along:
            upper_lines, lower_lines = [], []
            for method in methods:
                curve, look = curves[case, method], _rival_look(method) | {"markevery": (0.0, 0.25)}
                spent = getattr(curve, axis)
                upper_lines.append(Line.of_runs(spent, curve.loss, look))
                lower_lines.append(Line.of_runs(spent, 100 * curve.accuracy, look))
            label, log = not upper, "x" * (axis == "bits")
            upper.append(
                Plot(upper_lines, title, "", "training loss" * label, f"y{log}", ylim=losses)
            )
            lower.append(
                Plot(lower_lines, "", AXES[axis], "test accuracy, %" * label, log,
                     ylim=(0, 100), short="x")
            )  # fmt: skip
    everyone = dict.fromkeys(method for _, _, methods in panels for method in methods)
    legend = {
        "looks": {RIVALS[method].label: _rival_look(method) for method in everyone},
        "loc": "outside upper center", "ncols": 4, "title_fontsize": 8,
        "title": f"medians and 10-90 % of {shown[0].loss.shape[1]} seeds, every method at the best "
        "of its grid",
    }  # fmt: skip
    size = (1.2 + 2.15 * len(upper), 4.2)
    return draw_plots(name, [upper, lower], folder, size, legend, sharey="row", sharex="col")


def _rival_look(name: str) -> dict[str, Any]:
    """Return the colour, marker and line of a method; methods without clipping are dashed."""
    rival = RIVALS[name]
    line = "-" if rival.clips else "--"
    return {"color": rival.card.colour, "marker": rival.card.marker, "linestyle": line}


def _record(
    plan: TrainingPlan, curves: TrainingCurves, verdicts: Sequence[ClaimVerdict]
) -> dict[str, Any]:
    """Return plan, curves and verdicts as strict JSON values."""
    return {
        "plan": asdict(plan),
        "panels": [
            _panel(plan, case, curves) for case in dict.fromkeys(case for case, _ in curves)
        ],
        "verdicts": [each.record() for each in verdicts],
    }


def _panel(plan: TrainingPlan, case: Case, curves: TrainingCurves) -> dict[str, Any]:
    network = NETWORKS[case.network]
    problem = network.problem(case, (0,), plan)
    return asdict(case) | {
        "title": str(case),
        "label": network.label,
        "problem": problem.name,
        "n": problem.n,
        "m": problem.m,
        "d": problem.d,
        "steps": plan.steps // network.shorter,
        "seeds": plan.seeds,
        "curves": [_curve(name, curve) for (at, name), curve in curves.items() if at == case],
    }


def _curve(name: str, curve: TrainingCurve) -> dict[str, Any]:
    return {
        "method": name,
        "label": RIVALS[name].label,
        "colour": RIVALS[name].card.colour,
        **{key: json_number(getattr(curve, key)) for key in ("eta", "tau", "diverged")},
        **{key: getattr(curve, key).tolist() for key in ("rounds", "steps", "bits")},
        **{key: json_numbers(getattr(curve, key), 4) for key in ("loss", "accuracy")},
    }
