"""The command ``report``: write one HTML page of all results."""

import argparse

from tqdm import tqdm

from certibit.cli.words.options import add_downlink_weight, read_downlink_weight
from certibit.cli.words.places import add_place, read_place
from certibit.cli.words.plain_options import (
    add_fresh,
    add_output,
    file_to_write,
    read_output,
)
from certibit.data.errors import Refusal


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=write_page)
    parser.add_argument(
        "--page",
        metavar="FILE",
        type=file_to_write,
        help="file of the page (default: report.html in the folder)",
    )
    add_place(parser)
    add_downlink_weight(parser)
    add_fresh(parser)
    add_output(parser, "results")


def write_page(chosen: argparse.Namespace) -> None:
    """Write the page; if there is no figure yet, run the demonstration first.

    The axes of bits have the downlink weight that the figures were drawn with.
    """
    from certibit.figures.locodl.recipes import demonstration  # noqa: PLC0415  (heavy)
    from certibit.figures.locodl.reproduction import reproduce  # noqa: PLC0415  (loads matplotlib)
    from certibit.figures.report.page import read_parts, write_report  # noqa: PLC0415  (heavy)

    weight, folder = read_downlink_weight(chosen), read_output(chosen)
    drawn = any(part.weights for part in read_parts(folder))
    if drawn and weight:
        raise Refusal(
            f"the figures in {folder} are drawn already, each with its own weight; give "
            "--downlink-weight where they are drawn, such as to certibit demo"
        )
    if not drawn:
        reproduce(
            [demonstration()],
            folder,
            downlink=weight,
            fresh=chosen.fresh,
            processes=read_place(chosen, folder),
            tell=tqdm.write,
        )
    print(write_report(folder, chosen.page or folder / "report.html"))
    for part in read_parts(folder):
        if not part.blocks:
            print(f"not run: {part.title} ({part.target})")
