"""What a proof is about: a method, the class of functions and the potential, in words and read."""

import argparse
from dataclasses import dataclass, fields, replace
from typing import Any

from certibit.cli.words.options import PARAMETERS, read_compressor
from certibit.data.errors import Refusal
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.selector import KAPPA, problem, strongly_convex_problem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.method import Method, require_positive
from certibit.solvers.registry import extension
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import find_card, read_settings
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.summary import account, class_setting
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import OfSamples, Setting

_CLIENTS, _KAPPA, _FEATURES, _GROUPS = 10, 1e3, 20, 3

SUBJECT = f"""\
METHOD  such as locodl, or your/file.py
--n :count  number of clients (default {_CLIENTS})
--kappa :float  condition number L/mu (default {_KAPPA:g}, with --problem {KAPPA:g})
--class :strongly-convex|convex|nonconvex|relaxed  class of the f_i: strongly-convex with mu = 1 and
    L = kappa, convex or nonconvex with L = 1, or relaxed, which certifies one step of a method that
    clips (default: the class of PROBLEM; without one relaxed for a method whose theorem is about
    it, and strongly-convex for others)
--problem PROBLEM  take n, mu and L_i from a problem, such as a5a@87
--groups :count  number of groups of clients of PROBLEM with similar L_i (default {_GROUPS})
--d :count  number of features, for a compressor's constants (default {_FEATURES})
--noise [B=0]  stochastic gradients with E|noise|^2 <= sigma^2 + B |grad f_i(x)|^2 (default B: 0;
    another only with --class nonconvex), or constants by name, such as gap=A for the term
    2 A (f(x) - f*), expected=A for expected smoothness, or difference=l for noise that is
    l-Lipschitz in mean square
--growth A:float  prove E[Psi+] <= (1 + A) Psi - c M + e sigma^2, for nonconvex f and noise with a
    gap
--zeta Z:float  with --class nonconvex, clients that differ: (1/n) sum_i |grad f_i(x) - grad
    f(x)|^2 <= zeta^2 for any zeta; of descents with the same c that with the least e + Z^2 e'
{PARAMETERS}
--weights :fixed|free  weights of the Lyapunov function: those of the method (default), or the best
--potential :stated|search  the Lyapunov function: that of a theorem (default), or the best
    quadratic form that is found
--L0 :float  with --class relaxed: abs(Hess f) <= L0 + L1 abs(grad f) (default 1)
--L1 :float  see --L0 (default 1)
--sigma :float  with --class relaxed: the bound of abs(noise) of a sampled gradient
--rho :float  with --class relaxed: abs(grad f_i) <= kappa + rho abs(grad f), which CELGC and local
    steps need, and the theorem of EPISODE (there by default 1, and --kappa 0)
[either]
--omega :float  relative variance of unbiased compressors (default 9)
--compressor COMPRESSOR  a compressor, such as rand-k:2+natural
--alpha A:float  of contractive compressors (default 0.1), or the contraction of the clipping in a
    method (default: on a ball that a run on PROBLEM does not leave)
"""
"""The method, the class of functions and the potential."""

EXACT, _NOISY = "exact gradients", "noise"
_CONVEX, _NONCONVEX, RELAXED = "convex", "nonconvex", "relaxed"
_UNIFORM = "functions that are not (L0, L1)-smooth; leave it or --class relaxed out"
_BOTH = (
    "strongly convex functions and exact gradients; leave it out: the Psi of a theorem and the "
    "best form are both certified"
)
_TAKEN = (
    (("L0", "L1", "sigma", "rho"), {RELAXED}, "(L0, L1)-smooth functions; give --class relaxed"),
    (("groups", "omega", "compressor", "alpha", "d", "noise"),
     {EXACT, _NOISY, _CONVEX, _NONCONVEX}, _UNIFORM),
    (("growth", "zeta"), {_NONCONVEX}, "functions that need not be convex; leave it out"),
    (("weights", "potential"), {EXACT}, _BOTH),
    (("optimise",), {EXACT, _CONVEX, _NONCONVEX},
     "exact gradients where f is strongly convex; leave it out"),
    (("steps",), {EXACT}, "strongly convex functions and exact gradients; leave it out"),
)  # fmt: skip
"""Options, what they may be given with, and what they are of."""


@dataclass(frozen=True)
class ProofSubject:
    """What a proof is about: a method with its parameters, over a class of functions.

    Attributes
    ----------
    kind : str
        What decides on the proof: the class, and whether gradients are exact.
    setting : Setting or None
        None of (L0, L1)-smooth functions.
    constants : RelaxedConstants
        Of the f_i, where these are (L0, L1)-smooth: what a theorem takes.
    """

    kind: str
    card: Card
    method: Method
    functions: Any
    values: dict[str, Any]
    setting: Any = None
    compressor: Compressor | None = None
    constants: Any = None


def read_subject(chosen: argparse.Namespace) -> ProofSubject:
    """Return what is to be proved something of.

    Raises
    ------
    Refusal
        If an option is of another class than the one that is asked for.
    """
    card = find_card(chosen.method)
    made = _problem(chosen)
    relaxed = chosen.of_class == RELAXED or isinstance(made and made.constants, RelaxedConstants)
    if relaxed or (not (made or chosen.of_class) and card.about("gradient_norm")):
        _require_taken(chosen, RELAXED)
        return _relaxed(chosen, card, made)
    _require_taken(chosen, EXACT, _TAKEN[:1])
    sent = read_compressor(chosen.compressor)
    where, functions = _covered(chosen, card.method, made, sent)
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
    kind = _CONVEX if where.has_solution else _NONCONVEX
    if where.strongly_convex:
        kind = _NOISY if functions.noise else EXACT
    _require_taken(chosen, kind)
    if chosen.zeta is not None:
        unlike = theory("assumptions.assumption").BoundedDissimilarity(1.0, chosen.zeta)
        functions = replace(functions, assumptions=(*functions.assumptions, unlike))
    return ProofSubject(kind, card, method, functions, values, where, sent)


def account_of(chosen: argparse.Namespace, subject: ProofSubject) -> Any:
    """Return the proof with what is published and attained, and the step sizes that have one."""
    card, method, where = subject.card, subject.method, subject.setting
    functions = subject.functions
    if subject.kind == RELAXED:
        clipped = theory("relaxed.clipped_account")
        return clipped.clipped_account(method, functions, subject.constants)
    return account(
        card,
        method,
        where,
        chosen.weights or "fixed",
        search=chosen.potential == "search",
        functions=functions,
        growth=chosen.growth or 0.0,
    )


def proof_alone(chosen: argparse.Namespace, subject: ProofSubject) -> Any:
    """Return the proof alone."""
    if subject.kind == RELAXED:
        return theory("relaxed.certify_clipped").certify_clipped(subject.method, subject.functions)
    if subject.kind in {EXACT, _NOISY}:
        return account_of(chosen, subject).certificate
    return certify(subject.method, subject.functions, growth=chosen.growth or 0.0)


def theory(name: str) -> Any:
    """Return a module of an extension below the theory.

    Raises
    ------
    Refusal
        If it is not installed.
    """
    found = extension(f"certibit.theory.{name}")
    if found is None:
        room = name.partition(".")[0]
        raise Refusal(f"this copy of certibit has no theory/{room}; install all of it")
    return found


def _require_taken(chosen: argparse.Namespace, kind: str, taken: Any = _TAKEN) -> None:
    """Refuse options that are not of the kind of proof that is asked for."""
    for names, kinds, words in taken:
        for name in names:
            if getattr(chosen, name, None) is not None and kind not in kinds:
                fitting = _UNIFORM if kind == RELAXED else words
                raise Refusal(f"--{name.replace('_', '-')} is of {fitting}")


def _problem(chosen: argparse.Namespace) -> Any:
    """Return the problem that is named, if one is; its constants are not given beside it."""
    if chosen.problem is None:
        return None
    for name in ("n", "d", "omega", "of_class", "L0", "L1", "sigma", "rho"):
        if getattr(chosen, name) is not None:
            option = name.removeprefix("of_")
            raise Refusal(f"--{option} follows from --problem and --compressor; leave it out")
    return problem(chosen.problem, kappa=chosen.kappa)


def _relaxed(chosen: argparse.Namespace, card: Card, made: Any) -> ProofSubject:
    """Return a method over (L0, L1)-smooth functions, as its theorem has it if nothing is set."""
    values, module = read_settings(card.method, chosen.set), theory("relaxed.relaxed_functions")
    if made is not None:
        method = card.with_values(Setting.of(card.method, made), chosen.parameters, values)
        functions = module.RelaxedFunctions.of_problem(made)
        return ProofSubject(RELAXED, card, method, functions, values, constants=made.constants)
    usual = {"L0": 1.0, "L1": 1.0, "kappa": 0.0, "rho": 1.0, "sigma": 0.0}
    given = {name: getattr(chosen, name) for name in usual if getattr(chosen, name) is not None}
    if chosen.parameters is not None:
        raise Refusal("--parameters of (L0, L1)-smooth functions are of a --problem; give one")
    constants = RelaxedConstants(**(usual | given))
    known = (constants.kappa, constants.rho) if {"kappa", "rho"} & set(given) else ()
    smooth = (constants.L0, constants.L1)
    functions = module.RelaxedFunctions(*smooth, chosen.n or 1, constants.sigma, *known)
    missing = [name for name in card.needed if name not in values]
    if missing and (len(missing) < len(card.needed) or not card.threshold):
        raise Refusal(f"{card.name} has no value of {', '.join(missing)}; give each with --set")
    if missing:
        own = theory("relaxed.clipped_account").parameters_of(card, functions, constants)
        values = {one.name: getattr(own, one.name) for one in fields(own)} | values
    method = card.method(**values)
    return ProofSubject(RELAXED, card, method, functions, values, constants=constants)


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


def _contracting(
    chosen: argparse.Namespace, card: Card, method: Method, functions: FunctionClass
) -> FunctionClass:
    """Return the class, with the clipping of a method that clips as its contraction."""
    if card.contraction is None:
        if chosen.alpha is None or method.needs.compressor == "contractive":
            return functions
        raise Refusal(
            f"--alpha is of contractive compressors and of clipping, and {card.name} has neither; "
            "give its compressor by --compressor, a parameter by --set alpha=NUMBER"
        )
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
    chosen: argparse.Namespace, method: type[Method], made: Any, sent: Compressor | None
) -> tuple[Setting, FunctionClass | None]:
    """Return the setting, and the classes of the clients of a problem."""
    if made is None:
        if chosen.groups:
            raise Refusal("--groups are of the clients of a problem; give --problem")
        kappa = _KAPPA if chosen.kappa is None else chosen.kappa
        if chosen.of_class in {_CONVEX, _NONCONVEX}:
            if chosen.kappa is not None:
                raise Refusal("--kappa is of strongly convex functions; leave it or --class out")
            kappa = None
        n, d = chosen.n or _CLIENTS, chosen.d or _FEATURES
        where = class_setting(method, n, kappa, _relative_variance(chosen, method), sent, d)
        if chosen.of_class == _CONVEX:
            where = replace(where, constants=replace(where.constants, mu=0.0))
        return where, None
    if method.needs.compressor and sent is None:
        raise Refusal(f"{method.name} compresses; give --compressor with --problem")
    where = Setting.of(method, made, sent).by_smoothness()
    if not where.shared_minimiser:
        raise Refusal(
            f"{method.name} is certified for f_i with one minimiser, which those of "
            f"{chosen.problem} have not; give --n and --kappa"
        )
    if where.strongly_convex and not made.noise:
        return where, FunctionClass.of_groups(where, chosen.groups or min(_GROUPS, where.n))
    if chosen.groups:
        raise Refusal("--groups are of strongly convex functions, exact; leave them out")
    return where, replace(FunctionClass.of(where), noise=_noise_of(made, where))


def _relative_variance(chosen: argparse.Namespace, method: type[Method]) -> float | None:
    """Return omega, that of a scaled compressor, which is alpha = 1/(1 + omega) contractive."""
    if chosen.alpha is None or method.needs.compressor != "contractive":
        return chosen.omega
    if not 0 < chosen.alpha <= 1:
        raise Refusal(f"--alpha {chosen.alpha:g} is no contraction; give one above 0, at most 1")
    return 1 / chosen.alpha - 1


def _noise_of(made: Any, where: Setting) -> GradientNoise | None:
    """Return what is known of the stochastic gradients of a problem."""
    if not made.noise:
        return None
    if where.strongly_convex and where.of_samples != OfSamples():
        return GradientNoise(expected=where.expected)
    return GradientNoise(difference=where.difference)
