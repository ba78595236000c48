"""The command ``figures``: draw the figures of the LoCoDL paper."""

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
from certibit.data.errors import Refusal


def add_figures(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=draw_figures)
    parser.add_argument("numbers", metavar="FIGURE", nargs="*", help="1, 2, 3, 4 or all")
    parser.add_argument(
        "--version",
        choices=["paper", "best", "both"],
        default="both",
        help="parameters of the paper, the best theoretical ones, or both (default)",
    )
    parser.add_argument("--scaled", action="store_true", help="use data sets with scaled features")
    add_place(parser)
    add_seeds(parser, 5, "number of runs of each curve")
    add_downlink_weight(parser)
    add_fresh(parser)
    add_limits(parser)
    add_output(parser, "results")


def draw_figures(chosen: argparse.Namespace) -> None:
    """Draw the chosen figures and print the table of each panel."""
    from certibit.figures.locodl.recipes import FIGURES, VERSIONS  # noqa: PLC0415  (heavy)
    from certibit.figures.locodl.reproduction import reproduce_paper  # noqa: PLC0415  (loads matplotlib)

    words = chosen.numbers or ["all"]
    allowed = [*map(str, FIGURES), "all"]
    for word in words:
        if word not in allowed:
            raise Refusal(f"there is no figure {word!r}; choose some of {', '.join(allowed)}")
    numbers = FIGURES if "all" in words else sorted({int(word) for word in words})
    folder, limits = read_limited_output(chosen)
    reproduce_paper(
        numbers,
        folder,
        versions=VERSIONS if chosen.version == "both" else [chosen.version],
        scaled=chosen.scaled,
        seeds=chosen.seeds,
        downlink=read_downlink_weight(chosen),
        fresh=chosen.fresh,
        limits=limits,
        processes=read_place(chosen, folder),
        tell=tqdm.write,
    )
