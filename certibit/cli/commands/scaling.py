"""The command ``scaling``: fit exponents of bits in kappa, d, n and omega."""

import argparse

from certibit.cli.words.exit_codes import FAILED
from certibit.cli.words.options import (
    add_downlink_weight,
    add_limits,
    read_downlink_weight,
    read_limited_output,
)
from certibit.cli.words.places import add_place, read_place
from certibit.cli.words.plain_options import add_output, add_seeds
from certibit.data.files.cache import write_text
from certibit.data.files.records import write_record
from certibit.data.terminal import for_terminal
from certibit.figures.pool import Call, results
from certibit.theory.checks.scaling import LAW_ITERATIONS, LAWS, measured_law


def add_scaling(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=fit_scaling_laws)
    add_seeds(parser, 4, "number of runs")
    add_downlink_weight(parser)
    add_limits(parser, LAW_ITERATIONS)
    add_place(parser)
    add_output(parser, "results/scaling")


def fit_scaling_laws(chosen: argparse.Namespace) -> int:
    """Fit all scaling laws, write table, JSON and figure, and return the exit code."""
    from certibit.figures.theory_results import (  # noqa: PLC0415  (loads scipy.stats)
        draw_scaling,
        fit_summary,
        scaling_table,
    )

    weight = read_downlink_weight(chosen)
    folder, limits = read_limited_output(chosen, LAW_ITERATIONS)
    calls = [Call(law.method, measured_law, (law, chosen.seeds, weight, limits)) for law in LAWS]
    fits = results(calls, read_place(chosen, folder))
    write_text(folder / "scaling.txt", scaling_table(fits))
    summaries = [fit_summary(fit) for fit in fits]
    write_record(folder / "scaling.json", summaries)
    draw_scaling(fits, folder)
    print(for_terminal(lambda: scaling_table(fits)))
    return 0 if all(fit.holds for fit in fits) else FAILED
