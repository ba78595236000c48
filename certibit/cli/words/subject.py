"""The words that name a method and the class of functions that it is certified over."""

import argparse
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from certibit.cli.words.options import add_parameters, read_compressor
from certibit.cli.words.plain_options import count
from certibit.data.errors import Refusal
from certibit.data.problems.selector import KAPPA, problem, strongly_convex_problem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.method import Method, require_positive
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.catalogue.from_file import find_card, read_settings
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import OfSamples, Setting

if TYPE_CHECKING:
    from certibit.theory.certificates.summary import Account

_CLIENTS, _KAPPA, _FEATURES, _GROUPS = 10, 1e3, 20, 3


@dataclass(frozen=True)
class CertifiedSubject:
    """The subject of a certificate: a method with its parameters, over a class of functions."""

    card: Card
    values: dict[str, Any]
    method: Method
    compressor: Compressor | None
    setting: Setting
    functions: FunctionClass


def add_subject(parser: argparse.ArgumentParser, *more_classes: str) -> None:
    """Add the method, the class of functions and the potential."""
    parser.add_argument("method", metavar="METHOD", help="such as locodl, or your/file.py")
    parser.add_argument("--n", type=count, help=f"number of clients (default {_CLIENTS})")
    parser.add_argument(
        "--kappa",
        type=float,
        help=f"condition number L/mu (default {_KAPPA:g}, with --problem {KAPPA:g})",
    )
    parser.add_argument(
        "--class",
        dest="of_class",
        choices=("strongly-convex", "convex", "nonconvex", *more_classes),
        help="class of the f_i: strongly-convex with mu = 1 and L = kappa, convex or nonconvex "
        "with L = 1 (default: strongly-convex, or the class of PROBLEM)",
    )
    parser.add_argument(
        "--problem", metavar="PROBLEM", help="take n, mu and L_i from a problem, such as a5a@87"
    )
    parser.add_argument(
        "--groups",
        type=count,
        help=f"number of groups of clients of PROBLEM with similar L_i (default {_GROUPS})",
    )
    sent = parser.add_mutually_exclusive_group()
    sent.add_argument(
        "--omega", type=float, help="relative variance of unbiased compressors (default 9)"
    )
    sent.add_argument(
        "--compressor", metavar="COMPRESSOR", help="a compressor, such as rand-k:2+natural"
    )
    sent.add_argument(
        "--alpha",
        metavar="A",
        type=float,
        help="contraction of the clipping in a method (default: on a ball that a run on PROBLEM "
        "does not leave)",
    )
    parser.add_argument(
        "--d",
        type=count,
        help=f"number of features, for a compressor's constants (default {_FEATURES})",
    )
    parser.add_argument(
        "--noise",
        metavar="B",
        nargs="?",
        const="0",
        help="stochastic gradients with E|noise|^2 <= sigma^2 + B |grad f_i(x)|^2 (default B: 0; "
        "another only with --class nonconvex), or constants by name, such as gap=A for the term "
        "2 A (f(x) - f*), expected=A for expected smoothness, or difference=l for noise that is "
        "l-Lipschitz in mean square",
    )
    parser.add_argument(
        "--growth",
        metavar="A",
        type=float,
        default=0.0,
        help="prove E[Psi+] <= (1 + A) Psi - c M + e sigma^2, for nonconvex f and noise with a gap",
    )
    parser.add_argument(
        "--zeta",
        metavar="Z",
        type=float,
        help="with --class nonconvex, clients that differ: (1/n) sum_i |grad f_i(x) - grad f(x)|^2 "
        "<= zeta^2 for any zeta; of descents with the same c that with the least e + Z^2 e'",
    )
    add_parameters(parser, "value of a parameter, such as gamma=0.1")
    parser.add_argument(
        "--weights",
        choices=("fixed", "free"),
        default="fixed",
        help="weights of the Lyapunov function: those of the method, or the best",
    )
    parser.add_argument(
        "--potential",
        choices=("stated", "search"),
        help="the Lyapunov function: that of a theorem (default), or the best quadratic form that "
        "is found",
    )


def read_subject(chosen: argparse.Namespace) -> CertifiedSubject:
    """Return what is certified."""
    card = find_card(chosen.method)
    sent = read_compressor(chosen.compressor)
    where, functions = _covered(chosen, card.method, sent)
    values = read_settings(card.method, chosen.set)
    method = card.with_values(where, chosen.parameters, values)
    if card.step_size in values:
        require_positive(method, card.step_size)
    functions = _contracting(chosen, card, method, functions or FunctionClass.of(where))
    if chosen.noise is not None:
        noise = _gradient_noise(chosen.noise)
        if noise.difference is None and noise.expected is None:
            noise = replace(noise, difference=where.difference)
        functions = replace(functions, noise=noise)
    if chosen.zeta is not None and where.has_solution:
        raise Refusal("--zeta is of functions that need not be convex; give --class nonconvex")
    return CertifiedSubject(card, values, method, sent, where, functions)


def _gradient_noise(text: str) -> GradientNoise:
    """Read the constants of the noise of gradients: B, or some by name, such as gap=2."""
    names = [field.name for field in fields(GradientNoise)]
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = part.rpartition("=")
        try:
            found[name or "relative"] = float(value)
        except ValueError:
            name = ""
        if (name or "relative") not in names or not (name or value == part):
            raise Refusal(
                f"--noise {text} is not read; give B, or constants by name, such as gap=2, of "
                f"{', '.join(names)}"
            )
    return GradientNoise(**found)


def _noise_of(made: Any, where: Setting) -> GradientNoise | None:
    """Return what is known of the stochastic gradients of a problem."""
    if not made.noise:
        return None
    if where.strongly_convex and where.of_samples != OfSamples():
        return GradientNoise(expected=where.expected)
    return GradientNoise(difference=where.difference)


def certify_subject(chosen: argparse.Namespace, subject: CertifiedSubject) -> "Account":
    """Certify it with the potential and the weights that were asked for."""
    from certibit.theory.certificates.summary import account  # noqa: PLC0415  (heavy)

    return account(
        subject.card,
        subject.method,
        subject.setting,
        chosen.weights,
        search=chosen.potential == "search",
        functions=subject.functions,
    )


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
        alpha = card.contraction(
            method, strongly_convex_problem(chosen.problem, kappa=chosen.kappa)
        )
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
        if chosen.of_class in {"convex", "nonconvex"}:
            if chosen.kappa is not None:
                raise Refusal("--kappa is of strongly convex functions; leave it or --class out")
            kappa = None
        n, d = chosen.n or _CLIENTS, chosen.d or _FEATURES
        where = class_setting(method, n, kappa, chosen.omega, sent, d)
        if chosen.of_class == "convex":
            where = replace(where, constants=replace(where.constants, mu=0.0))
        return where, None
    for name, value in (
        ("n", chosen.n),
        ("d", chosen.d),
        ("omega", chosen.omega),
        ("class", chosen.of_class),
    ):
        if value is not None:
            raise Refusal(f"--{name} follows from --problem and --compressor; leave it out")
    if method.needs.compressor and sent is None:
        raise Refusal(f"{method.name} compresses; give --compressor with --problem")
    made = problem(chosen.problem, kappa=chosen.kappa)
    where = Setting.of(method, made, sent).by_smoothness()
    if not where.shared_minimiser:
        raise Refusal(
            f"{method.name} is certified for f_i with one minimiser, which those of "
            f"{chosen.problem} have not; give --n and --kappa"
        )
    if not where.strongly_convex or made.noise:
        if chosen.groups:
            raise Refusal("--groups are of strongly convex functions, exact; leave them out")
        return where, replace(FunctionClass.of(where), noise=_noise_of(made, where))
    groups = chosen.groups or min(_GROUPS, where.n)
    return where, FunctionClass.of_groups(where, groups)
