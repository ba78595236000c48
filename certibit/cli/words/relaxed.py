"""The words for certificates over (L0, L1)-smooth functions, which an extension computes."""

import argparse
from functools import partial
from typing import Any

from certibit.cli.words.exit_codes import FAILED
from certibit.cli.words.plain_options import print_json
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal
from certibit.solvers.registry import extension
from certibit.theory.catalogue.from_file import find_card, read_settings

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
        help="with --class relaxed, abs(grad f_i) <= kappa + rho abs(grad f), which CELGC and "
        "local steps need, and the theorem of EPISODE (there by default 1, and --kappa 0)",
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
        if getattr(chosen, name, default) != default:
            option = name.replace("_", "-")
            raise Refusal(
                f"--{option} is not of (L0, L1)-smooth functions; leave it or --class relaxed out"
                if relaxed
                else f"--{option} is of (L0, L1)-smooth functions; give --class relaxed"
            )
    return relaxed


def certify_relaxed(chosen: argparse.Namespace) -> int:
    """Certify one step of a method over (L0, L1)-smooth functions, and tell of it."""
    method, functions, *dissimilarity = _asked(chosen)
    texts = _extension("certibit.figures.text.clipped_descents")
    accounts = _extension("certibit.theory.relaxed.clipped_account")
    found = accounts.clipped_account(method, functions, *dissimilarity)
    if chosen.json:
        print_json(texts.clipped_summary(found))
    else:
        print(for_terminal(partial(texts.describe_clipped, found)))
    return 0 if found.certificate.c > 0 else FAILED


def export_relaxed(chosen: argparse.Namespace) -> str:
    """Certify one step of a method over (L0, L1)-smooth functions, write it, and return it."""
    method, functions, *_ = _asked(chosen)
    proof = _extension("certibit.theory.relaxed.certify_clipped").certify_clipped(method, functions)
    _extension("certibit.theory.relaxed.clipped_file").write_clipped(proof, chosen.file)
    return str(proof).splitlines()[-1]


def _asked(chosen: argparse.Namespace) -> tuple[Any, ...]:
    """Return the method, the class, kappa and rho."""
    texts = _extension("certibit.figures.text.clipped_descents")
    card = find_card(chosen.method)
    values = read_settings(card.method, chosen.set)
    names, defaults = (*_CONSTANTS, "kappa"), (1.0, 1.0, 0.0, 1.0, 0.0)
    L0, L1, sigma, rho, kappa = (
        default if getattr(chosen, name) is None else getattr(chosen, name)
        for name, default in zip(names, defaults, strict=True)
    )
    known = (kappa, rho) if (chosen.kappa, chosen.rho) != (None, None) else ()
    functions = texts.RelaxedFunctions(L0, L1, chosen.n or 1, sigma, *known)
    return texts.method_of(card, values, functions, kappa, rho), functions, kappa, rho


def _extension(name: str) -> Any:
    found = extension(name)
    if found is None:
        raise Refusal(
            f"{name} is not installed, and knows (L0, L1)-smooth functions; choose another class"
        )
    return found
