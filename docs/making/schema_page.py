"""The contents of JSON and traces: names from the code, with an example that is run."""

import json
from typing import Any

from certibit.data.problems.selector import problem
from certibit.figures.text.tables import summary
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.trace import COLUMNS
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import parameters
from making.text import code, escaped, page, table


def schema_page() -> str:
    """Return the page, with what one short run of LoCoDL gives."""
    solved, sent = problem("breast-cancer@9", kappa=100), compressor("rand-k:2")
    experiment = Experiment.of(parameters("locodl", solved, sent), solved, sent)
    trace = simulate(experiment, seeds=1, budget=Budget(gap=1e-2))
    return page(
        "# JSON and traces",
        "## A trace on disk",
        "An npz file: an array per column, a JSON header with `specification` and `ending`, and "
        "the SHA-256 of the bytes before it at the end. `certibit.Trace.load` refuses one that "
        "does not fit.",
        table(("column", "meaning"), [(f"`{name}`", escaped(m)) for name, m in COLUMNS.items()]),
        "The specification, as an example:",
        code(_pretty(trace.specification), "json"),
        "## certibit run --json",
        '`null` stands for "never"; a problem\'s L, mu and kappa are as asked for.',
        code(_pretty(summary(experiment, trace, [1e-1, 1e-2])), "json"),
    )


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False)
