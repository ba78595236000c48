"""The command ``certify``: from a method, a class and a potential to a proof, as text or JSON."""

import argparse
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from certibit.cli.words.options import DOWNLINK_WEIGHT, read_downlink_weight
from certibit.cli.words.plain_options import FAILED, JSON, print_json
from certibit.cli.words.subject import (
    EXACT,
    SUBJECT,
    ProofSubject,
    account_of,
    read_subject,
    theory,
)
from certibit.data.errors import Refusal
from certibit.data.own.own_file import is_own
from certibit.data.problems.selector import problem
from certibit.data.terminal import for_terminal
from certibit.figures.text import proofs
from certibit.solvers.registry import extension
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.certificates import search
from certibit.theory.quadratic_potential import Reweighted

Part = tuple[str, Any, Callable[[], str]]
"""The key of JSON, its value, and what writes the text."""


def _certify_method(chosen: argparse.Namespace) -> int:
    """Certify a method over a class of functions; the exit code says if a decrease is proved."""
    weight, subject = read_downlink_weight(chosen), read_subject(chosen)
    _require_complete(chosen, subject, weight)
    account = account_of(chosen, subject)
    parts: list[Any] = [
        subject.kind == EXACT and _limit_of_potentials(account),
        chosen.optimise and _optimum(chosen, subject, weight),
        chosen.steps and _several_steps(account, chosen.steps),
    ]
    given = [part for part in parts if part]
    if chosen.json:
        print_json(proofs.proof_summary(account) | {key: value for key, value, _ in given})
    else:
        writes = [partial(proofs.describe_proof, account), *(write for *_, write in given)]
        print("\n".join(map(for_terminal, writes)))
    return 0 if getattr(account.certificate, "c", account.certificate.exact) > 0 else FAILED


def _require_complete(chosen: argparse.Namespace, subject: ProofSubject, weight: float) -> None:
    """Refuse what asks for more than is given."""
    exact = subject.kind == EXACT
    if weight and chosen.optimise != "bits":
        raise Refusal("--downlink-weight is of bits, and none are asked for; give --optimise bits")
    needs = chosen.optimise == "bits" and subject.card.method.needs.compressor
    if needs and subject.compressor is None:
        raise Refusal("bits need a compressor; give --compressor and --d, not --omega alone")
    if chosen.optimise and exact and (not subject.card.rules or is_own(chosen.method)):
        raise Refusal("--optimise starts from the rules of a method of the package; name one")
    if chosen.optimise and exact and chosen.problem:
        raise Refusal("--optimise is for clients of one class; give --n and --kappa, no --problem")


def _limit_of_potentials(account: Any) -> Part | None:
    """Return the asymptotic rate on quadratics, which no potential outruns."""
    exact = extension("certibit.theory.exact.long_run")
    limits = exact.limit_of_potentials(account.certificate) if exact else None
    if limits is None:
        return None
    limit, whole = limits
    account.require_within(limit)
    write = partial(proofs.describe_limit, limit, whole, account.certificate.region)
    return "limit_of_potentials", limit, write


def _optimum(chosen: argparse.Namespace, subject: ProofSubject, weight: float) -> Part:
    """Search for the parameters with the least certified cost."""
    where, method, functions = subject.setting, subject.method, subject.functions
    if subject.kind == EXACT:
        found = search.optimise(
            subject.card,
            where,
            chosen.optimise,
            downlink=weight,
            weights=chosen.weights or "fixed",
        )
    else:
        begin = None
        if chosen.problem and not functions.noise and not functions.has_solution:
            begin = Experiment.of(method, problem(chosen.problem), subject.compressor)
        found = search.cheapest_descent(
            method, where, functions, chosen.optimise, downlink=weight, begin=begin
        )
    write = partial(proofs.describe_optimum, found, chosen.optimise, weight)
    return "optimum", proofs.optimum_summary(found, weight), write


def _several_steps(account: Any, steps: int) -> Part:
    """Certify several steps, and find the decrease per step that is attained, if it is cheap."""
    certificate, attained = account.certificate, None
    psi = Reweighted(certificate.potential, certificate.weights)
    certificate.require_kept("what several steps prove")
    method, functions = certificate.method, certificate.functions
    chains = theory("chains.certify_steps")
    chain = chains.certify_steps(method, functions, steps, psi)
    if certificate.region is None:
        with suppress(Refusal):
            log = chains.attained_log_factor(chain)
            attained = -math.expm1(log / steps)
    return (
        "steps",
        proofs.chain_summary(chain, attained),
        partial(proofs.describe_chain, chain, attained),
    )


_OPTIONS = f"""\
{SUBJECT}
--optimise :bits|rounds|gradients  find the parameters with the least certified cost per decade of
    accuracy
--steps T:count  also certify T steps together, with Lyapunov functions that change
{DOWNLINK_WEIGHT}
{JSON}"""
COMMANDS = {"certify": (_certify_method, _OPTIONS)}
