"""The command ``asynchronous``: compare the seconds that asynchronous methods take."""

import argparse
import json

from certibit.cli.words.exit_codes import FAILED
from certibit.cli.words.options import (
    add_network,
    add_problem_options,
    read_compressor,
    read_network,
    read_problem,
)
from certibit.cli.words.plain_options import add_json, add_seeds
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal, paragraph, table
from certibit.figures.text.tables import json_number, short_cost
from certibit.solvers.clock.network import Network
from certibit.theory.asynchronous.measured_time import MeasuredTime, measured_time
from certibit.theory.asynchronous.rules import RULES, EventSetting
from certibit.theory.asynchronous.time_bounds import Stationarity, optimal_order

_NETWORK = "lan"


def add_asynchronous(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=run_asynchronous)
    parser.add_argument(
        "problem", metavar="PROBLEM", help="such as quadratic:d=10@8:nonconvex:noise=1"
    )
    parser.add_argument(
        "methods", metavar="METHOD", nargs="*", help=f"{', '.join(RULES)}; default all"
    )
    parser.add_argument(
        "--compressor",
        metavar="NAME",
        help="compressor of shadowheart-sgd, such as rand-k:2 (default: none)",
    )
    add_problem_options(parser)
    parser.add_argument(
        "--until-gradient", metavar="SQUARE", type=float, default=0.1,
        help="accuracy: |grad f|^2, averaged over steps and runs (default: 0.1)",
    )  # fmt: skip
    add_network(parser, _NETWORK)
    add_seeds(parser, 10, "number of runs")
    add_json(parser)


def run_asynchronous(chosen: argparse.Namespace) -> int:
    """Run the methods of the event world, and print promised and measured seconds."""
    for name in chosen.methods:
        if name not in RULES:
            raise Refusal(f"the method {name!r} is unknown; choose of {', '.join(RULES)}")
    problem, network = read_problem(chosen), read_network(chosen) or Network()
    used = read_compressor(chosen.compressor)
    c = Stationarity.of(problem, chosen.until_gradient)
    setting, seeds = EventSetting.of(network, problem, used), chosen.seeds
    found = {
        name: measured_time(rule(c, setting), problem, network, c.epsilon, used, seeds=seeds)
        for name, rule in RULES.items()
        if name in (chosen.methods or RULES)
    }
    order = optimal_order(c, setting.tau)
    if chosen.json:
        rows = [_summary(name, each) for name, each in found.items()]
        told = {
            "problem": {"name": problem.name, "n": problem.n, "d": problem.d},
            "network": network.described,
            "accuracy": c.epsilon,
            "order": order,
            "methods": rows,
        }
        print(json.dumps(told, allow_nan=False))
    else:
        print(for_terminal(lambda: _text(found, str(network), order, c.epsilon)))
    return 0 if all(each.holds for each in found.values()) else FAILED


def _summary(name: str, each: MeasuredTime) -> dict[str, object]:
    final = each.trace.final
    return {
        "name": name,
        "parameters": {key: json_number(value) for key, value in vars(each.bound.method).items()},
        "promised_by": each.bound.source,
        "promised": json_number(each.bound.seconds),
        "measured": json_number(each.seconds),
        "holds": each.holds,
        "steps": int(final("rounds")[0]),
        "gradients": json_number(final("gradients")[0]),
        "uplink_bits": json_number(final("uplink_bits")[0]),
    }


def _text(found: dict[str, MeasuredTime], network: str, order: float, epsilon: float) -> str:
    header = ["method", "promised", "measured", "steps", "gradients", "bits up"]
    rows, notes = [], []
    for name, each in sorted(found.items(), key=lambda pair: pair[1].seconds):
        final = each.trace.final
        counted = [final(column)[0] for column in ("rounds", "gradients", "uplink_bits")]
        costs = [each.bound.seconds, each.seconds, *counted]
        rows.append([name, *map(short_cost, costs)])
        values = ", ".join(f"{key}={_short(v)}" for key, v in vars(each.bound.method).items())
        fault = "" if each.holds else "FAILS: it takes longer than promised; "
        notes.append(paragraph(f"{name}: {fault}{values}; {each.bound.source}", hanging="  "))
    heading = paragraph(
        f"seconds until |grad f|^2 <= {epsilon:g} in the mean over steps and runs; {network}; the "
        f"optimal order, without its constant, is {short_cost(order)}",
        hanging="  ",
    )
    return "\n".join([heading, "", table(header, rows, texts=1), "", *notes])


def _short(value: float | tuple[float, ...]) -> str:
    """Write a number, or the range of those of the clients."""
    if isinstance(value, tuple):
        return f"{min(value):.3g} to {max(value):.3g}"
    return f"{value:.3g}"
