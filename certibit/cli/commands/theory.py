"""The command ``theory``: check every theorem on standard problems."""

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
from certibit.theory.checks.standard import ACCURACY, STANDARD_ITERATIONS, rows, tasks


def add_theory(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=check_theorems)
    add_seeds(parser, 4, "number of runs")
    add_downlink_weight(parser)
    add_limits(parser, STANDARD_ITERATIONS)
    add_place(parser)
    add_output(parser, "results/theory")


def check_theorems(chosen: argparse.Namespace) -> int:
    """Check all theorems, write table, JSON and figure, and return the exit code."""
    from certibit.figures.theory_results import (  # noqa: PLC0415  (loads scipy.stats)
        draw_looseness,
        row_summary,
        theorems_table,
    )

    weight = read_downlink_weight(chosen)
    folder, limits = read_limited_output(chosen, STANDARD_ITERATIONS)
    calls = [
        Call(f"{card.name}[{rule}]", rows, (place, chosen.seeds, ACCURACY, weight, limits))
        for place, (card, rule, _, _) in enumerate(tasks())
    ]
    found = [row for some in results(calls, read_place(chosen, folder)) for row in some]
    summaries = [row_summary(row) for row in found]
    write_text(folder / "report.txt", theorems_table(found))
    write_record(folder / "report.json", summaries)
    draw_looseness(found, folder)
    print(for_terminal(lambda: theorems_table(found)))
    return 0 if all(row.holds for row in found) else FAILED
