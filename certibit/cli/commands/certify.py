"""The command ``certify``: the worst case of one method, proved."""

import argparse
import json
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certibit.cli.words.exit_codes import FAILED
from certibit.cli.words.options import (
    add_downlink_weight,
    add_parameters,
    read_compressor,
    read_downlink_weight,
)
from certibit.cli.words.plain_options import add_json, count, file_to_write
from certibit.data.errors import Refusal
from certibit.data.own.own_file import is_own
from certibit.data.problems.selector import KAPPA, problem
from certibit.data.terminal import for_terminal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.method import Method
from certibit.solvers.world.experiment import Experiment
from certibit.theory.card import Card
from certibit.theory.cards.from_file import find_card, read_settings
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting

if TYPE_CHECKING:
    from certibit.theory.certificates.summary import Account
    from certibit.theory.chains.chain import Chain
    from certibit.theory.chains.promised_bits import PromisedBits
    from certibit.theory.proofs.certificate import Certificate

_CLIENTS, _KAPPA, _FEATURES, _GROUPS = 10, 1e3, 20, 3


def add_certify(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=certify_method)
    parser.add_argument("method", metavar="METHOD", help="such as locodl, or your/file.py")
    parser.add_argument("--n", type=count, help=f"number of clients (default {_CLIENTS})")
    parser.add_argument(
        "--kappa",
        type=float,
        help=f"condition number L/mu (default {_KAPPA:g}, of a problem {KAPPA:g})",
    )
    parser.add_argument(
        "--problem", metavar="PROBLEM", help="the n, mu and L_i of a problem, such as a5a@87"
    )
    parser.add_argument(
        "--groups",
        type=count,
        help=f"classes that the clients of PROBLEM are grouped in by L_i (default {_GROUPS})",
    )
    sent = parser.add_mutually_exclusive_group()
    sent.add_argument("--omega", type=float, help="variance of the compressors (default 9)")
    sent.add_argument("--compressor", metavar="COMPRESSOR", help="such as rand-k:2+natural")
    sent.add_argument(
        "--alpha",
        metavar="A",
        type=float,
        help="contraction of a method's own clipping (default: in a ball that a run on PROBLEM "
        "stays in)",
    )
    parser.add_argument(
        "--d", type=count, help=f"features, for a compressor's constants (default {_FEATURES})"
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
        "--steps",
        type=count,
        metavar="T",
        help="also what T steps prove together, by a Lyapunov function that changes",
    )
    parser.add_argument(
        "--target",
        type=float,
        metavar="EPS",
        help="also the bits to f - f* <= EPS on PROBLEM, proved beside measured",
    )
    parser.add_argument(
        "--optimise",
        choices=("bits", "rounds", "gradients"),
        help="find the parameters with the least certified cost per decade of accuracy",
    )
    add_downlink_weight(parser)
    parser.add_argument(
        "--export",
        metavar="FILE",
        type=_certificate_to_write,
        help="write the proof for docs/check_certificate.py, or for the kernel of Rocq (Coq) if "
        "FILE ends in .v",
    )
    add_json(parser)


def _certificate_to_write(text: str) -> Path:
    """Read the name of a file for a certificate."""
    from certibit.theory.exact.export import require_file_name  # noqa: PLC0415  (heavy)

    path = file_to_write(text)
    try:
        require_file_name(path)
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None
    return path


def certify_method(chosen: argparse.Namespace) -> int:
    """Certify a method over a class of functions; the exit code says if a decrease is proved."""
    from certibit.figures.text.certificates import (  # noqa: PLC0415  (heavy)
        account_summary,
        bits_summary,
        chain_summary,
        describe_account,
        describe_bits,
        describe_chain,
        describe_export,
        describe_limit,
        describe_optimum,
        optimum_summary,
    )
    from certibit.theory.certificates.search import optimise  # noqa: PLC0415  (heavy)
    from certibit.theory.certificates.summary import account  # noqa: PLC0415  (heavy)
    from certibit.theory.exact.export import write_certificate  # noqa: PLC0415  (heavy)
    from certibit.theory.exact.long_run import limit_of_potentials  # noqa: PLC0415  (heavy)

    weight = read_downlink_weight(chosen)
    if weight and not (chosen.target or chosen.optimise == "bits"):
        raise Refusal(
            "--downlink-weight is of bits, and none are asked for; give --optimise bits or --target"
        )
    card = find_card(chosen.method)
    sent = read_compressor(chosen.compressor)
    where, functions = _covered(chosen, card.method, sent)
    if chosen.optimise and (not card.rules or is_own(chosen.method)):
        raise Refusal("--optimise starts from the rules of a method of the package; name one")
    if chosen.optimise == "bits" and card.method.needs.compressor and sent is None:
        raise Refusal("bits need a compressor; give --compressor and --d, not --omega alone")
    if chosen.optimise and chosen.problem:
        raise Refusal("--optimise is for clients of one class; give --n and --kappa, no --problem")
    values = read_settings(card.method, chosen.set)
    method = card.with_values(where, chosen.parameters, values)
    functions = _contracting(chosen, card, method, functions or FunctionClass.of(where))
    search = chosen.potential == "search"
    found = account(card, method, where, chosen.weights, search=search, functions=functions)
    optimum = chosen.optimise and optimise(
        card.method.name,
        where.n,
        where.mu,
        where.L,
        where.d,
        [where.compressor],
        chosen.optimise,
        downlink=weight,
        weights=chosen.weights,
    )
    more: list[tuple[str, Any, Callable[[], str]]] = []
    if (limit := limit_of_potentials(found.certificate)) is not None:
        found.require_within(limit)
        write = partial(describe_limit, limit, found.certificate.region)
        more.append(("limit_of_potentials", limit, write))
    if chosen.steps:
        chain = _chain(found.certificate, chosen.steps)
        write = partial(describe_chain, *chain, found.certificate.decrease)
        more.append(("steps", chain_summary(*chain), write))
    if chosen.target is not None:
        bits = _promised_bits(found, chosen, sent, weight)
        more.append(("bits", bits_summary(bits), partial(describe_bits, bits)))
    if chosen.export is not None:
        write_certificate(found.certificate, chosen.export)
        write = partial(describe_export, found.certificate, chosen.export)
        more.append(("export", str(chosen.export), write))
    if optimum:
        best = partial(describe_optimum, optimum, chosen.optimise, weight)
        more.append(("optimum", optimum_summary(optimum, weight), lambda: f"\n{best()}"))
    if chosen.json:
        summary = account_summary(found) | {name: value for name, value, _ in more}
        print(json.dumps(summary, allow_nan=False))
    else:
        writes: list[Callable[[], str]] = [
            partial(describe_account, found),
            *(write for *_, write in more),
        ]
        print("\n".join(map(for_terminal, writes)))
    return 0 if found.decrease > 0 else FAILED


def _chain(certificate: "Certificate", steps: int) -> "tuple[Chain, float | None]":
    """Certify several steps, and find the decrease per step that is attained, if it is cheap."""
    from certibit.theory.chains.attained import attained_log_factor  # noqa: PLC0415  (heavy)
    from certibit.theory.chains.certify_steps import certify_steps  # noqa: PLC0415  (heavy)

    psi = Reweighted(certificate.potential, certificate.weights)
    certificate.require_kept("what several steps prove")
    chain = certify_steps(certificate.method, certificate.functions, steps, psi)
    attained = None
    if certificate.region is None:
        with suppress(Refusal):
            attained = -math.expm1(attained_log_factor(chain) / steps)
    return chain, attained


def _promised_bits(
    found: "Account", chosen: argparse.Namespace, sent: Compressor | None, downlink: float
) -> "PromisedBits":
    """Evaluate how many bits whole runs on a problem are promised to take, and measure it."""
    from certibit.theory.chains.promised_bits import promised_bits  # noqa: PLC0415  (heavy)

    if chosen.problem is None:
        raise Refusal("--target is the f - f* of a run; give --problem")
    if not 0 < chosen.target < math.inf:
        raise Refusal(f"the target f - f* = {chosen.target:g} is not possible; give such as 1e-6")
    kappa = KAPPA if chosen.kappa is None else chosen.kappa
    card, given = find_card(chosen.method), problem(chosen.problem, kappa=kappa)
    where = Setting.of(card.method, given, sent)  # the clients in their own order
    values = read_settings(card.method, chosen.set)
    method = card.with_values(where, chosen.parameters, values)
    experiment = Experiment.of(method, given, sent)
    theorem = card.best_theorem(found.method, found.setting)
    return promised_bits(experiment, theorem, found.certificate, chosen.target, downlink)


def _contracting(
    chosen: argparse.Namespace, card: Card, method: Method, functions: FunctionClass
) -> FunctionClass:
    """Return the class, with the clipping of a method that clips as its contraction."""
    if card.contraction is None:
        if chosen.alpha is None:
            return functions
        raise Refusal(f"{card.name} does not clip; leave --alpha out")
    alpha = chosen.alpha
    if alpha is None:
        if chosen.problem is None:
            raise Refusal(
                f"the clipping of {card.name} contracts in a ball only; give its --alpha, or the "
                "--problem of a run"
            )
        kappa = KAPPA if chosen.kappa is None else chosen.kappa
        alpha = card.contraction(method, problem(chosen.problem, kappa=kappa))
    return functions.contracting(alpha)


def _covered(
    chosen: argparse.Namespace, method: type[Method], sent: Compressor | None
) -> tuple[Setting, FunctionClass | None]:
    """Return the setting, and the classes of the clients of a problem."""
    from certibit.theory.certificates.summary import class_setting  # noqa: PLC0415  (heavy)

    if chosen.problem is None:
        if chosen.groups:
            raise Refusal("--groups are of the clients of a problem; give --problem")
        kappa = _KAPPA if chosen.kappa is None else chosen.kappa
        n, d = chosen.n or _CLIENTS, chosen.d or _FEATURES
        return class_setting(method, n, kappa, chosen.omega, sent, d), None
    for name in ("n", "d", "omega"):
        if getattr(chosen, name) is not None:
            raise Refusal(f"--{name} follows from --problem and --compressor; leave it out")
    if method.needs.compressor and sent is None:
        raise Refusal(f"{method.name} compresses; give --compressor with --problem")
    kappa = KAPPA if chosen.kappa is None else chosen.kappa
    where = Setting.of(method, problem(chosen.problem, kappa=kappa), sent).by_smoothness()
    if not where.shared_minimiser:
        raise Refusal(
            f"{method.name} is certified for f_i with one minimiser, which those of "
            f"{chosen.problem} have not; give --n and --kappa"
        )
    groups = chosen.groups or min(_GROUPS, where.n)
    return where, FunctionClass.of_groups(where, groups)
