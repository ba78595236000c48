"""The neural experiments of papers, on data that is at hand: figures and verdicts.

The EPISODE papers train recurrent networks on SNLI and Sentiment140; here a GRU reads
scikit-learn's digits row by row, and a network of rectified states the docstrings of Python's
standard library. A transformer that reads these is trained with little communication. Sources of
the claims: Crawshaw, Bao, Liu, ICLR 2023 (EPISODE), section 5; the talk on EPISODE++ (NeurIPS
2023); and the papers on DiLoCo, SparseLoCo and DeMo.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from certibit.data.deep.torch_library import torch_library
from certibit.data.files.records import write_record
from certibit.data.terminal import paragraph, table
from certibit.figures.deep.deep_drawing import Panel, draw_smoothness, draw_trainings
from certibit.figures.deep.deep_verdicts import (
    clipping_verdicts,
    compression_verdicts,
    divergence_verdict,
    interval_compression_verdicts,
    interval_verdicts,
    little_communication_verdicts,
    participation_verdicts_of_networks,
    similarity_verdicts,
)
from certibit.figures.deep.measured_smoothness import (
    MeasuredSmoothness,
    measurements,
    smoothness_verdicts,
)
from certibit.figures.deep.networks import NETWORKS, Case, TrainingPlan
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurve, TrainingCurves, jobs_of, train
from certibit.figures.places.delivery import Place
from certibit.figures.pool import traces
from certibit.figures.text.tables import json_number, json_numbers
from certibit.figures.text.verdicts import ClaimVerdict, verdicts_text
from certibit.solvers.store.store import Store

SIMILAR = tuple(Case(similarity) for similarity in (0.0, 30.0, 50.0))
INTERVALS = tuple(Case(30.0, interval) for interval in (2, 4, 8, 16))
PARTIAL_ROUNDS = (Case(30.0, 4, 4), Case(30.0, 4, 2))
LOCAL = ("episode", "celgc", "scaffold", "fedavg")
EVERYONE = ("naive-parallel-clip", *LOCAL, "episode-plus-plus")
STORED = ("episode-plus-plus", "episode", "celgc", "scaffold")
COMPRESSED = ("sgd", "ef21-sgdm 10 %", "ef21-sgdm 1 %")
OF_ADAMW = ("diloco", "sparseloco")
READERS = tuple(Case(0.0, interval, None, "reader") for interval in (2, 4, 8, 16))
CLIPPED = ("episode", "celgc")
TRANSFORMER = Case(0.0, 10, None, "transformer")
LITTLE = ("adamw", "diloco", "sparseloco", "demo", "ef21-sgdm", "locodl", "sgd")
CASES = (
    *((case, EVERYONE) for case in SIMILAR),
    *((case, LOCAL) for case in INTERVALS if case not in SIMILAR),
    *((case, STORED) for case in PARTIAL_ROUNDS),
    (Case(30.0), COMPRESSED),
    *((case, OF_ADAMW) for case in INTERVALS),
    *((case, EVERYONE if case.I == 4 else CLIPPED) for case in READERS),
    (TRANSFORMER, LITTLE),
)
"""The cases and the methods there."""

Write = Callable[[], str]
"""What writes a text: for a file, or fitted to the terminal."""


def deep_experiments(
    folder: Path,
    plan: TrainingPlan = TrainingPlan(),  # noqa: B008  (frozen)
    *,
    fresh: bool = False,
    processes: int | Place | None = None,
    tell: Callable[[Write], None] = lambda write: print(write()),
) -> list[Path]:
    """Train where it has not been done, draw all figures, and write tables and verdicts.

    The plan says steps, grid and seeds; the other parameters are those of
    :func:`~certibit.figures.episode.experiments.clipping_experiments`. The files are returned.
    """
    torch_library()
    store = Store(folder / "traces", fresh)
    both = Case(30.0)
    curves = train(jobs_of(plan, store, CASES), processes)

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
        "interval-bits": (
            ("bits",), [(f"I = {c.I}", c, (*CLIPPED, *OF_ADAMW)) for c in INTERVALS]
        ),
        "reader": (alone, [(f"characters, I = {c.I}", c, names) for c, names in readers.items()]),
        "transformer": (
            every, [(f"transformer, I = {TRANSFORMER.I}", TRANSFORMER, LITTLE)]
        ),
    }  # fmt: skip
    paths = []
    for name, (along, panels) in figures.items():
        paths += draw_trainings(f"deep-{name}", panels, curves, along, folder)

    measurings = measurements(plan, curves, (*SIMILAR, READERS[1]), store)
    measured = [
        MeasuredSmoothness.of(measurings[place].case, trace)
        for place, trace in sorted(traces(measurings, processes), key=itemgetter(0))
    ]
    paths += draw_smoothness(measured, folder)

    tell(lambda: _table(curves))
    said = [
        *similarity_verdicts(curves, SIMILAR),
        *interval_verdicts(curves, INTERVALS),
        *participation_verdicts_of_networks(curves, PARTIAL_ROUNDS),
        *compression_verdicts(curves, both),
        *interval_compression_verdicts(curves, INTERVALS),
        *interval_verdicts(curves, READERS),
        divergence_verdict(curves, READERS[1:2]),
        *clipping_verdicts(curves, READERS[1:2]),
        *little_communication_verdicts(curves, TRANSFORMER),
        *smoothness_verdicts(measured),
    ]
    said = [each.firm(plan.seeds) for each in said]
    tell(lambda: verdicts_text(each.record() for each in said))
    paths.append(folder / "report.json")
    write_record(paths[-1], training_record(plan, curves, measured, said))
    tell(lambda: "\n" + "\n".join(map(str, paths)))
    return paths


def _table(curves: TrainingCurves) -> str:
    header = ("case", "method", "eta", "tau", "loss", "test", "rounds", "steps", "bits", "diverged")
    rows = [
        (str(case), RIVALS[name].label, *_costs(curve, NETWORKS[case.network].loss))
        for (case, name), curve in sorted(curves.items(), key=lambda pair: str(pair[0][0]))
    ]
    explained = paragraph(
        "Median training loss and test accuracy at the end, at the pair of the grid with the "
        f"lowest loss; rounds, local steps and bits of a client to a loss of {_losses()}; and the "
        "share of the runs of the grid that diverged"
    )
    return f"{explained}\n{table(header, rows, texts=2)}"


def _losses() -> str:
    return ", ".join(f"{network.loss:g} ({name})" for name, network in NETWORKS.items())


def _costs(curve: TrainingCurve, loss: float) -> tuple[str, ...]:
    """Return the cells of a table: eta, tau, loss, accuracy, and what a loss costs."""
    tau = "" if np.isinf(curve.tau) else f"{curve.tau:g}"
    costs = [curve.cost(of, loss) for of in ("rounds", "steps", "bits")]
    told = ["never" if np.isinf(c) else f"{c:.0f}" if c < 1e5 else f"{c:.2e}" for c in costs]
    return (f"{curve.eta:g}", tau, f"{curve.end:.3g}", f"{curve.right:.1%}", *told,
            f"{curve.diverged:.0%}")  # fmt: skip


def training_record(
    plan: TrainingPlan,
    curves: TrainingCurves,
    measured: Sequence[MeasuredSmoothness],
    verdicts: Sequence[ClaimVerdict],
) -> dict[str, Any]:
    """Return plan, curves, norms and verdicts as strict JSON values."""
    return {
        "plan": asdict(plan),
        "panels": [
            _panel(plan, case, curves, measured)
            for case in dict.fromkeys(case for case, _ in curves)
        ],
        "verdicts": [each.record() for each in verdicts],
    }


def _panel(
    plan: TrainingPlan, case: Case, curves: TrainingCurves, measured: Sequence[MeasuredSmoothness]
) -> dict[str, Any]:
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
        "norms": [norms for one in measured if one.case == case for norms in _norms(one)],
    }


def _curve(name: str, curve: TrainingCurve) -> dict[str, Any]:
    return {
        "method": name,
        "label": RIVALS[name].label,
        "colour": RIVALS[name].colour,
        **{key: json_number(getattr(curve, key)) for key in ("eta", "tau", "diverged")},
        **{key: getattr(curve, key).tolist() for key in ("rounds", "steps", "bits")},
        **{key: json_numbers(getattr(curve, key), 4) for key in ("loss", "accuracy")},
    }


def _norms(one: MeasuredSmoothness) -> list[dict[str, Any]]:
    """Return the norms at the models of every seed: (K,) of f, (K, n) of the f_i."""
    return [
        {
            key: json_numbers(getattr(one, key)[:, seed], 4)
            for key in ("slope", "curvature", "slopes", "curvatures")
        }
        for seed in range(one.slope.shape[1])
    ]
