"""The command ``plan``: compute the cost that theorems promise for every method."""

import argparse

from certibit.cli.words.options import (
    NETWORK,
    add_downlink_weight,
    add_limits,
    add_network,
    add_problem_options,
    add_until,
    read_downlink_weight,
    read_limits,
    read_network,
    read_problem,
    read_until,
)
from certibit.cli.words.plain_options import add_json, count, file_to_write, print_json
from certibit.data.terminal import for_terminal
from certibit.figures.plan.plan_table import plan_summary, plan_text
from certibit.theory.plan.planning import BEST, plan

_SEEDS = 3


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=plan_methods)
    parser.add_argument(
        "problem", metavar="PROBLEM", help="such as a5a@87, or quadratic:d=122@87 without data"
    )
    add_problem_options(parser)
    add_until(parser.add_mutually_exclusive_group())
    add_network(parser, NETWORK)
    add_downlink_weight(parser)
    parser.add_argument(
        "--methods", metavar="NAMES", type=_names, help="only these methods, as a,b,c"
    )
    parser.add_argument(
        "--compressors", metavar="NAMES", type=_names, help="only these compressors, as a,b,c"
    )
    parser.add_argument("--rows", type=count, default=12, help="number of rows that are shown")
    parser.add_argument(
        "--certified", action="store_true", help=f"also certify the rates of the best {BEST}"
    )
    parser.add_argument(
        "--run", action="store_true", help=f"also run the best {BEST} over {_SEEDS} seeds"
    )
    add_limits(parser)
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=file_to_write,
        help="draw a map of the fastest methods as .svg, .png or .pdf",
    )
    add_json(parser)


def plan_methods(chosen: argparse.Namespace) -> None:
    """Print promised costs, measured costs if asked, and the fastest method by bandwidth."""
    weight, limits = read_downlink_weight(chosen), read_limits(chosen)
    if chosen.plot:
        from certibit.figures.drawing import require_format  # noqa: PLC0415  (loads matplotlib)

        require_format(chosen.plot)
    solved = read_problem(chosen)
    target, measure = read_until(chosen, solved)
    made = plan(
        solved,
        target=target,
        measure=measure,
        network=read_network(chosen) or NETWORK,
        methods=chosen.methods,
        compressors=chosen.compressors,
    )
    if chosen.certified:
        made = made.certified()
    measured = made.measured(seeds=_SEEDS, budget=limits) if chosen.run else None
    if chosen.json:
        print_json(plan_summary(made, measured, weight))
    else:
        print(for_terminal(lambda: plan_text(made, chosen.rows, measured, weight)))
    if chosen.plot:
        from certibit.figures.plan.plan_drawing import save_map  # noqa: PLC0415  (heavy)

        save_map(made, chosen.plot)


def _names(text: str) -> list[str]:
    return text.split(",")
