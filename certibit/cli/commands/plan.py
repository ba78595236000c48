"""The command ``plan``: compute the cost that theorems promise for every method."""

import argparse

from certibit.cli.words import options
from certibit.cli.words.plain_options import JSON, print_json
from certibit.data.terminal import for_terminal
from certibit.figures.text.plans import plan_summary, plan_text
from certibit.theory.plan.planning import BEST, plan

_SEEDS = 3


def _plan_methods(chosen: argparse.Namespace) -> None:
    """Print promised costs, measured costs if asked, and the fastest method by bandwidth."""
    weight, limits = options.read_downlink_weight(chosen), options.read_limits(chosen)
    solved = options.read_problem(chosen)
    target, measure = options.read_until(chosen, solved)
    made = plan(
        solved,
        target=target,
        measure=measure,
        network=chosen.network,
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


_OPTIONS = f"""\
PROBLEM  such as a5a@87, or quadratic:d=122@87 without data
{options.PROBLEM_OPTIONS}
{options.network_option("lte")}
{options.DOWNLINK_WEIGHT}
--methods NAMES:names  only these methods, as a,b,c
--compressors NAMES:names  only these compressors, as a,b,c
--rows :count=12  number of rows that are shown
--certified  also certify the rates of the best {BEST}
--run  also run the best {BEST} over {_SEEDS} seeds
{JSON}
[either]
{options.UNTIL}{options.limits_of_runs()}"""
COMMANDS = {"plan": (_plan_methods, _OPTIONS)}
