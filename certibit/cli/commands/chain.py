"""The command ``chain``: prove the rate of several steps and the bits of whole runs."""

import argparse
import math
from contextlib import suppress
from functools import partial

from certibit.cli.words.exit_codes import FAILED
from certibit.cli.words.options import add_downlink_weight, read_downlink_weight
from certibit.cli.words.plain_options import add_json, count, print_json
from certibit.cli.words.subject import CertifiedSubject, add_subject, certify_subject, read_subject
from certibit.data.errors import Refusal
from certibit.data.problems.selector import strongly_convex_problem
from certibit.data.terminal import for_terminal
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.certificates.summary import Account
from certibit.theory.chains.attained import attained_log_factor
from certibit.theory.chains.certify_steps import certify_steps
from certibit.theory.chains.chain import Chain
from certibit.theory.chains.promised_bits import PromisedBits, promised_bits
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting


def add_chain(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=chain_steps)
    add_subject(parser)
    parser.add_argument(
        "--steps",
        type=count,
        metavar="T",
        help="number of steps that are certified together, with changing Lyapunov functions",
    )
    parser.add_argument(
        "--target",
        type=float,
        metavar="EPS",
        help="also compute the proved and the measured bits until f - f* <= EPS on PROBLEM",
    )
    add_downlink_weight(parser)
    add_json(parser)


def chain_steps(chosen: argparse.Namespace) -> int:
    """Certify several steps or a whole run; the exit code says if a decrease is proved."""
    from certibit.figures.text.chains import (  # noqa: PLC0415  (heavy)
        bits_summary,
        chain_summary,
        describe_bits,
        describe_chain,
    )

    if chosen.steps is None and chosen.target is None:
        raise Refusal("nothing is asked for; give --steps T, or --target EPS with --problem")
    weight = read_downlink_weight(chosen)
    if weight and chosen.target is None:
        raise Refusal("--downlink-weight is of bits, and none are asked for; give --target")
    if chosen.target is not None and chosen.problem is None:
        raise Refusal("--target is the f - f* of a run; give --problem")
    if chosen.target is not None and not 0 < chosen.target < math.inf:
        raise Refusal(f"the target f - f* = {chosen.target:g} is not possible; give such as 1e-6")
    subject = read_subject(chosen)
    found = certify_subject(chosen, subject)
    summary: dict[str, object] = {"certified_decrease": found.decrease}
    writes = []
    if chosen.steps is not None:
        chain = _chain(found, chosen.steps)
        summary["steps"] = chain_summary(*chain)
        writes.append(partial(describe_chain, *chain, found.decrease))
    if chosen.target is not None:
        bits = _promised_bits(found, subject, chosen, weight)
        summary["bits"] = bits_summary(bits)
        writes.append(partial(describe_bits, bits))
    if chosen.json:
        print_json(summary)
    else:
        print("\n".join(map(for_terminal, writes)))
    return 0 if found.decrease > 0 else FAILED


def _chain(found: Account, steps: int) -> tuple[Chain, float | None]:
    """Certify several steps, and find the decrease per step that is attained, if it is cheap."""
    certificate = found.certificate
    psi = Reweighted(certificate.potential, certificate.weights)
    certificate.require_kept("what several steps prove")
    chain = certify_steps(certificate.method, certificate.functions, steps, psi)
    attained = None
    if certificate.region is None:
        with suppress(Refusal):
            attained = -math.expm1(attained_log_factor(chain) / steps)
    return chain, attained


def _promised_bits(
    found: Account, subject: CertifiedSubject, chosen: argparse.Namespace, downlink: float
) -> PromisedBits:
    """Evaluate how many bits whole runs on a problem are promised to take, and measure it."""
    given = strongly_convex_problem(chosen.problem, kappa=chosen.kappa)
    where = Setting.of(subject.card.method, given, subject.compressor)  # clients in their own order
    method = subject.card.with_values(where, chosen.parameters, subject.values)
    experiment = Experiment.of(method, given, subject.compressor)
    theorem = subject.card.best_theorem(found.method, found.setting)
    return promised_bits(experiment, theorem, found.certificate, chosen.target, downlink)
