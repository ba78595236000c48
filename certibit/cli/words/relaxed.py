"""The words for certificates over (L0, L1)-smooth functions, which an extension computes."""

import argparse
import json
from functools import partial

from certibit.cli.words.exit_codes import FAILED
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal
from certibit.solvers.registry import extension
from certibit.theory.catalogue.from_file import find_card, read_settings

_ACCOUNTS = "certibit.figures.text.clipped_descents"
_CONSTANTS = ("L0", "L1", "sigma", "rho")
_OTHER = {
    "problem": None,
    "groups": None,
    "omega": None,
    "compressor": None,
    "alpha": None,
    "d": None,
    "noise": None,
    "growth": 0.0,
    "zeta": None,
    "parameters": None,
    "weights": "fixed",
    "potential": None,
    "optimise": None,
    "downlink_weight": 0.0,
}
"""Options of other classes, and their values where they are left out."""


def add_relaxed(parser: argparse.ArgumentParser) -> None:
    """Add the constants of the class."""
    parser.add_argument(
        "--L0",
        type=float,
        help="with --class relaxed, which certifies one step of a method that clips: abs(Hess f) "
        "<= L0 + L1 abs(grad f) (default 1)",
    )
    parser.add_argument("--L1", type=float, help="see --L0 (default 1)")
    parser.add_argument(
        "--sigma",
        type=float,
        help="with --class relaxed, the bound of abs(noise) of a sampled gradient",
    )
    parser.add_argument(
        "--rho",
        type=float,
        help="with --class relaxed, abs(grad f_i) <= kappa + rho abs(grad f) in the theorem of "
        "EPISODE (default 1, and --kappa 0)",
    )


def is_relaxed(chosen: argparse.Namespace) -> bool:
    """Whether the class is that of (L0, L1)-smooth functions; refuse its constants elsewhere.

    Raises
    ------
    Refusal
        If an option is of another class than the one that is asked for.
    """
    relaxed = bool(chosen.of_class == "relaxed")
    others = _OTHER if relaxed else dict.fromkeys(_CONSTANTS)
    for name, default in others.items():
        if getattr(chosen, name) != default:
            option = name.replace("_", "-")
            raise Refusal(
                f"--{option} is not of (L0, L1)-smooth functions; leave it or --class relaxed out"
                if relaxed
                else f"--{option} is of (L0, L1)-smooth functions; give --class relaxed"
            )
    return relaxed


def certify_relaxed(chosen: argparse.Namespace) -> int:
    """Certify one step of a method over (L0, L1)-smooth functions."""
    accounts = extension(_ACCOUNTS)
    if accounts is None:
        raise Refusal(
            f"{_ACCOUNTS} is not installed, and knows (L0, L1)-smooth functions; choose another "
            "class"
        )
    card = find_card(chosen.method)
    values = read_settings(card.method, chosen.set)
    names, defaults = (*_CONSTANTS, "kappa"), (1.0, 1.0, 0.0, 1.0, 0.0)
    L0, L1, sigma, rho, kappa = (
        default if getattr(chosen, name) is None else getattr(chosen, name)
        for name, default in zip(names, defaults, strict=True)
    )
    functions = accounts.RelaxedFunctions(L0, L1, chosen.n or 1, sigma)
    found = accounts.account_of(card, values, functions, kappa, rho)
    if chosen.json:
        print(json.dumps(accounts.clipped_summary(found), allow_nan=False))
    else:
        print(for_terminal(partial(accounts.describe_clipped, found)))
    return 0 if found.certificate.c > 0 else FAILED
