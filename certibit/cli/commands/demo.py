"""The command ``demo``: run all methods on data that needs no file."""

import argparse

from tqdm import tqdm

from certibit.cli.words.options import (
    add_downlink_weight,
    add_limits,
    read_downlink_weight,
    read_limited_output,
)
from certibit.cli.words.places import add_place, read_place
from certibit.cli.words.plain_options import add_fresh, add_output, add_seeds


def add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=draw_demo)
    add_place(parser)
    add_seeds(parser, 5, "number of runs of each curve")
    add_downlink_weight(parser)
    add_fresh(parser)
    add_limits(parser)
    add_output(parser, "results")


def draw_demo(chosen: argparse.Namespace) -> None:
    """Draw the figure of all methods and print its table."""
    from certibit.figures.locodl.recipes import demonstration  # noqa: PLC0415  (heavy)
    from certibit.figures.locodl.reproduction import reproduce  # noqa: PLC0415  (loads matplotlib)

    folder, limits = read_limited_output(chosen)
    reproduce(
        [demonstration()],
        folder,
        seeds=chosen.seeds,
        downlink=read_downlink_weight(chosen),
        fresh=chosen.fresh,
        limits=limits,
        processes=read_place(chosen, folder),
        tell=tqdm.write,
    )
