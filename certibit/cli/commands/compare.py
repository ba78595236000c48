"""The command ``compare``: compare the bits, rounds and gradients of several methods."""

import argparse

from certibit.cli.words.options import (
    add_downlink_weight,
    add_limits,
    add_network,
    add_problem_options,
    add_strict,
    add_until,
    problem_options,
    read_downlink_weight,
    read_limits,
    read_network,
    read_problem,
    read_until,
)
from certibit.cli.words.plain_options import (
    add_fresh,
    add_json,
    add_output,
    add_seeds,
    file_to_write,
    print_json,
    read_output,
)
from certibit.cli.words.progress import progress_bar
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal
from certibit.figures.comparison.compare import compare
from certibit.figures.comparison.comparison_record import (
    keep_comparison,
    require_name,
)
from certibit.solvers.registry import extension
from certibit.solvers.runs.trace import SECONDS
from certibit.solvers.store.store import Store

_PLACES = "certibit.cli.words.places"
"""Options of an extension."""


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=compare_methods)
    parser.add_argument("problem", metavar="PROBLEM", help="such as breast-cancer@9")
    parser.add_argument(
        "methods",
        metavar="METHOD[+COMPRESSOR]",
        nargs="+",
        help="such as locodl+rand-k:2+natural, locodl[balanced]+natural, celgc[eta=1,gamma=1], "
        "or path/to/file.py:Name[gamma=1]",
    )
    add_problem_options(parser)
    add_until(parser.add_mutually_exclusive_group())
    add_seeds(parser, 5, "number of runs of each method")
    add_limits(parser)
    add_downlink_weight(parser)
    add_network(parser, None)
    add_strict(parser)
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=file_to_write,
        help="draw the comparison as .svg, .png or .pdf",
    )
    parser.add_argument(
        "--report", metavar="NAME", help="store the comparison under this name for certibit report"
    )
    if places := extension(_PLACES):
        places.add_place(parser, "one")
    add_fresh(parser)
    add_output(parser, "results")
    add_json(parser)


def compare_methods(chosen: argparse.Namespace) -> None:
    """Run the methods over some seeds, print what they cost and draw it if asked."""
    weight, network = read_downlink_weight(chosen), read_network(chosen)
    if weight and network:
        raise Refusal("a weight of the downlink and a network; they rank in two ways, give one")
    if chosen.plot:
        from certibit.figures.drawing import require_format  # noqa: PLC0415  (loads matplotlib)

        require_format(chosen.plot)
    if chosen.report is not None:
        require_name(chosen.report)
    folder, solved = read_output(chosen), read_problem(chosen)
    target, measure = read_until(chosen, solved)
    processes = places.read_place(chosen, folder) if (places := extension(_PLACES)) else None
    with progress_bar("compare", delay=0.01) as progress:  # nothing before the first run
        found = compare(
            solved,
            chosen.methods,
            target=target,
            measure=measure,
            seeds=chosen.seeds,
            budget=read_limits(chosen),
            network=network,
            strict=chosen.strict,
            store=Store(folder / "traces", chosen.fresh),
            progress=progress,
            processes=processes,
            named=(chosen.problem, tuple(problem_options(chosen).items())),
        )
    if chosen.json:
        print_json(found.summary(weight))
    else:
        print(for_terminal(lambda: found.table(weight)))
    if chosen.report is not None:
        keep_comparison(found, chosen.report, folder, weight)
    if chosen.plot:
        by = "total bits" if weight else SECONDS if network else "bits"
        found.save(chosen.plot, by, weight)
