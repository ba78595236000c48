"""The command ``certify``: the worst case of one method, proved."""

import argparse
import json

from bitbound.cli.exit_codes import FAILED
from bitbound.cli.options import Commands, add_json, add_parameters, count, read_compressor
from bitbound.data.errors import Refusal
from bitbound.data.own_file import is_own
from bitbound.theory.theorems.from_file import find_card, read_settings


def add_certify(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("certify", help="the worst case of one method, proved")
    parser.set_defaults(command=certify_method)
    parser.add_argument("method", metavar="METHOD", help="such as locodl, or your/file.py")
    parser.add_argument("--n", type=count, default=10, help="number of clients")
    parser.add_argument("--kappa", type=float, default=1e3, help="condition number L/mu")
    sent = parser.add_mutually_exclusive_group()
    sent.add_argument("--omega", type=float, help="variance of the compressors (default 9)")
    sent.add_argument("--compressor", metavar="COMPRESSOR", help="such as rand-k:2+natural")
    parser.add_argument(
        "--d", type=count, default=20, help="features, for a compressor's constants"
    )
    add_parameters(parser, "a parameter by hand")
    parser.add_argument(
        "--weights",
        choices=("fixed", "free"),
        default="fixed",
        help="weights of the Lyapunov function: the method's own, or the best",
    )
    parser.add_argument(
        "--potential",
        choices=("stated", "search"),
        default="stated",
        help="whose Lyapunov function: a theorem's, or the best quadratic form that is found",
    )
    parser.add_argument(
        "--optimise",
        choices=("bits", "rounds", "gradients"),
        help="find the parameters with the least certified cost per decade of accuracy",
    )
    add_json(parser)


def certify_method(chosen: argparse.Namespace) -> int:
    """Certify a method over a class of functions; the exit code says if a decrease is proved."""
    from bitbound.figures.text.certificates import (  # noqa: PLC0415  (heavy)
        account_summary,
        describe_account,
        describe_optimum,
        optimum_summary,
    )
    from bitbound.theory.certificates.search import optimise  # noqa: PLC0415  (heavy)
    from bitbound.theory.certificates.summary import (  # noqa: PLC0415  (heavy)
        account,
        class_setting,
    )

    card = find_card(chosen.method)
    sent = read_compressor(chosen.compressor)
    where = class_setting(card.method, chosen.n, chosen.kappa, chosen.omega, sent, chosen.d)
    if chosen.optimise and (not card.rules or is_own(chosen.method)):
        raise Refusal("--optimise starts from the rules of a method of the package; name one")
    if chosen.optimise == "bits" and card.method.needs.compressor and sent is None:
        raise Refusal("bits need a compressor; give --compressor and --d, not --omega alone")
    values = read_settings(card.method, chosen.set)
    method = card.with_values(where, chosen.parameters, values)
    found = account(card, method, where, chosen.weights, search=chosen.potential == "search")
    optimum = chosen.optimise and optimise(
        card.method.name,
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
    else:
        print(describe_account(found))
        if optimum:
            print(f"\n{describe_optimum(optimum, chosen.optimise)}")
    return 0 if found.certificate.decrease > 0 else FAILED
