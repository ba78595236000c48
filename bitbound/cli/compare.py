"""The command ``compare``: what an accuracy costs several methods on one problem."""

import argparse
import json
import sys
from pathlib import Path

from tqdm import tqdm

from bitbound.cli.options import Commands, add_json, add_problem_options, add_seeds, read_problem
from bitbound.figures.comparison.compare import compare
from bitbound.figures.comparison.costs import require_quantity


def add_compare(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("compare", help="what an accuracy costs several methods")
    parser.set_defaults(command=compare_methods)
    parser.add_argument("problem", metavar="PROBLEM", help="such as breast-cancer@9")
    parser.add_argument(
        "methods",
        metavar="METHOD[+COMPRESSOR]",
        nargs="+",
        help="such as locodl+rand-k:2+natural, locodl[balanced]+natural, celgc[eta=1,gamma=1], "
        "or path/to/method.py",
    )
    add_problem_options(parser)
    parser.add_argument("--until", type=float, default=1e-6, help="f - f*")
    add_seeds(parser, 5, "number of runs of each")
    parser.add_argument(
        "--downlink", metavar="C", type=float, default=0.0, help="weight of a bit received"
    )
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw it as .svg or .png")
    add_json(parser)


def compare_methods(chosen: argparse.Namespace) -> None:
    """Run the methods over some seeds, print what they cost and draw it if asked."""
    require_quantity("total bits", chosen.downlink)
    if chosen.plot:
        from bitbound.figures.drawing import require_format  # noqa: PLC0415  (loads matplotlib)

        require_format(chosen.plot)
    solved = read_problem(chosen)
    with tqdm(
        total=1.0,
        desc="compare",
        file=sys.stderr,
        disable=None,
        delay=0.01,  # nothing is shown before the first run
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
    ) as bar:
        found = compare(
            solved,
            chosen.methods,
            target=chosen.until,
            seeds=chosen.seeds,
            progress=lambda fraction: bar.update(max(0.0, fraction - bar.n)),
        )
        bar.update(1 - bar.n)
    if chosen.json:
        print(json.dumps(found.summary(chosen.downlink), allow_nan=False))
    else:
        print(found.table(chosen.downlink))
    if chosen.plot:
        found.save(chosen.plot, "total bits" if chosen.downlink else "bits", chosen.downlink)
