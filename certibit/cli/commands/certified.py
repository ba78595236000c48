"""The command ``certified``: compare certified with published rates and parameters."""

import argparse
from pathlib import Path

from tqdm import tqdm

from certibit.cli.words.options import (
    add_downlink_weight,
    add_limits,
    read_downlink_weight,
    read_limited_output,
)
from certibit.cli.words.places import add_place, read_place
from certibit.cli.words.plain_options import add_fresh, add_output, add_seeds
from certibit.data.terminal import for_terminal
from certibit.figures.certified.measured_bits import MOST_ITERATIONS


def add_certified(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=compare_certified)
    parser.add_argument(
        "--class",
        dest="of_class",
        choices=("strongly-convex", "convex", "nonconvex", "relaxed", "all"),
        metavar="CLASS",
        default="strongly-convex",
        help="class of functions. strongly-convex: rates; convex: which methods descend, also "
        "under the Polyak-Lojasiewicz condition; nonconvex: which methods descend; relaxed: which "
        "methods that clip descend on (L0, L1)-smooth functions; all: one table of all methods "
        "and classes",
    )
    add_place(parser)
    add_seeds(parser, 1, "number of runs measured")
    add_downlink_weight(parser)
    add_fresh(parser)
    add_limits(parser, MOST_ITERATIONS)
    add_output(parser, "results/certified")


def compare_certified(chosen: argparse.Namespace) -> None:
    """Write and print the tables and figures of all methods."""
    if chosen.of_class == "all":
        from certibit.figures.certified.classes.class_table import write_classes  # noqa: PLC0415  (heavy)

        print(for_terminal(lambda: write_classes(Path(chosen.output))))
        return
    if chosen.of_class == "convex":
        from certibit.figures.certified.classes.rule_tables import write_convex  # noqa: PLC0415  (heavy)

        print(for_terminal(lambda: write_convex(Path(chosen.output))))
        return
    if chosen.of_class == "relaxed":
        from certibit.figures.certified.classes.relaxed_table import write_relaxed  # noqa: PLC0415  (heavy)

        print(for_terminal(lambda: write_relaxed(Path(chosen.output))))
        return
    if chosen.of_class == "nonconvex":
        from certibit.figures.certified.classes.noise_frontier import draw_frontiers  # noqa: PLC0415  (loads matplotlib)
        from certibit.figures.certified.classes.rule_tables import write_descents  # noqa: PLC0415  (heavy)

        folder = Path(chosen.output)
        print(for_terminal(lambda: write_descents(folder)))
        print(*draw_frontiers(folder), sep="\n")
        return
    from certibit.figures.certified.comparison import certified_comparison  # noqa: PLC0415  (loads matplotlib)

    folder, limits = read_limited_output(chosen, MOST_ITERATIONS)
    certified_comparison(
        folder,
        seeds=chosen.seeds,
        downlink=read_downlink_weight(chosen),
        fresh=chosen.fresh,
        limits=limits,
        processes=read_place(chosen, folder),
        tell=tqdm.write,
    )
