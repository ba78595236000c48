"""The commands ``certify`` and ``certified``."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.selector import compressor


def add_commands(commands: Any, count: Callable[[str], int]) -> None:
    """Add both commands to a parser; ``count`` reads a whole number of at least 1."""
    one = commands.add_parser("certify", help="the worst case of one method, proved")
    one.set_defaults(command=_certify)
    one.add_argument("method", metavar="METHOD", help="such as locodl, or your/file.py")
    one.add_argument("--n", type=count, default=10, help="number of clients")
    one.add_argument("--kappa", type=float, default=1e3, help="condition number L/mu")
    sent = one.add_mutually_exclusive_group()
    sent.add_argument("--omega", type=float, help="variance of the compressors (default 9)")
    sent.add_argument("--compressor", metavar="COMPRESSOR", help="such as rand-k:2+natural")
    one.add_argument("--d", type=count, default=20, help="features, for a compressor's constants")
    one.add_argument("--parameters", metavar="RULE", help="the rule for the parameters")
    one.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter by hand"
    )
    one.add_argument(
        "--weights",
        choices=("fixed", "free"),
        default="fixed",
        help="weights of the Lyapunov function: the method's own, or the best",
    )
    one.add_argument(
        "--optimise",
        choices=("bits", "rounds", "gradients"),
        help="find the parameters with the least certified cost per decade of accuracy",
    )
    one.add_argument("--json", action="store_true", help="print one JSON object")

    all_of_them = commands.add_parser(
        "certified", help="certified against published rates and parameters"
    )
    all_of_them.set_defaults(command=_certified)
    all_of_them.add_argument("--jobs", type=count, help="parallel processes (default: all cores)")
    all_of_them.add_argument("--seeds", type=count, default=1, help="number of runs measured")
    all_of_them.add_argument(
        "--output", type=Path, default=Path("results/certified"), help="folder"
    )


def _certify(chosen: argparse.Namespace) -> None:
    from bitbound.figures.text.certificates import (  # noqa: PLC0415  (heavy)
        account_summary,
        describe_account,
        describe_optimum,
        optimum_summary,
    )
    from bitbound.theory.certificates.search import optimise  # noqa: PLC0415
    from bitbound.theory.certificates.summary import account, class_setting, made  # noqa: PLC0415
    from bitbound.theory.theorems.from_file import find_entry  # noqa: PLC0415

    entry = find_entry(chosen.method)
    sent = compressor(chosen.compressor) if chosen.compressor else None
    where = class_setting(entry.method, chosen.n, chosen.kappa, chosen.omega, sent, chosen.d)
    if chosen.optimise and (not entry.rules or chosen.method.endswith(".py")):
        raise Refusal("--optimise starts from the rules of a method of the package; name one")
    if chosen.optimise == "bits" and entry.method.needs.compressor and sent is None:
        raise Refusal("bits need a compressor; give --compressor and --d, not --omega alone")
    method = made(entry, where, chosen.parameters, chosen.set)
    found = account(entry, method, where, chosen.weights)
    optimum = chosen.optimise and optimise(
        entry.method.name,
        where.n,
        where.mu,
        where.L,
        where.d,
        [where.compressor],
        chosen.optimise,
        weights=chosen.weights,
    )
    if chosen.json:
        summary = account_summary(found)
        if optimum:
            summary["optimum"] = optimum_summary(optimum)
        print(json.dumps(summary, allow_nan=False))
        return
    print(describe_account(found))
    if optimum:
        print(f"\n{describe_optimum(optimum, chosen.optimise)}")


def _certified(chosen: argparse.Namespace) -> None:
    from bitbound.figures.certified.comparison import certified_comparison  # noqa: PLC0415  (loads matplotlib)

    certified_comparison(chosen.output, seeds=chosen.seeds, processes=chosen.jobs, tell=tqdm.write)
