"""The command ``certify``: prove the worst-case convergence rate of one method."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from certibit.cli.words.exit_codes import FAILED
from certibit.cli.words.options import add_downlink_weight, read_downlink_weight
from certibit.cli.words.plain_options import add_json, print_json
from certibit.cli.words.relaxed import add_relaxed, certify_relaxed, is_relaxed
from certibit.cli.words.subject import (
    add_subject,
    certify_subject,
    read_subject,
)
from certibit.data.errors import Refusal
from certibit.data.own.own_file import is_own
from certibit.data.terminal import for_terminal
from certibit.solvers.registry import extension


def add_certify(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=certify_method)
    add_subject(parser, "relaxed")
    add_relaxed(parser)
    parser.add_argument(
        "--optimise",
        choices=("bits", "rounds", "gradients"),
        help="find the parameters with the least certified cost per decade of accuracy",
    )
    add_downlink_weight(parser)
    add_json(parser)


def certify_method(chosen: argparse.Namespace) -> int:
    """Certify a method over a class of functions; the exit code says if a decrease is proved."""
    if is_relaxed(chosen):
        return certify_relaxed(chosen)
    from certibit.figures.text.certificates import (  # noqa: PLC0415  (heavy)
        account_summary,
        describe_account,
        describe_limit,
        describe_optimum,
        optimum_summary,
    )
    from certibit.theory.certificates.search import optimise  # noqa: PLC0415  (heavy)

    weight = read_downlink_weight(chosen)
    if weight and chosen.optimise != "bits":
        raise Refusal("--downlink-weight is of bits, and none are asked for; give --optimise bits")
    subject = read_subject(chosen)
    card, where = subject.card, subject.setting
    if chosen.optimise == "bits" and card.method.needs.compressor and subject.compressor is None:
        raise Refusal("bits need a compressor; give --compressor and --d, not --omega alone")
    if not where.strongly_convex or subject.functions.noise:
        descents = extension("certibit.cli.words.certified_descents")
        if descents is None:
            raise Refusal("this copy of certibit has no theory/descent; give --kappa")
        status: int = descents.certify_descents(chosen, subject)
        return status
    if chosen.optimise and (not card.rules or is_own(chosen.method)):
        raise Refusal("--optimise starts from the rules of a method of the package; name one")
    if chosen.optimise and chosen.problem:
        raise Refusal("--optimise is for clients of one class; give --n and --kappa, no --problem")
    found = certify_subject(chosen, subject)
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
    exact = extension("certibit.theory.exact.long_run")
    if exact and (limit := exact.limit_of_potentials(found.certificate)) is not None:
        found.require_within(limit)
        write = partial(describe_limit, limit, found.certificate.region)
        more.append(("limit_of_potentials", limit, write))
    if optimum:
        best = partial(describe_optimum, optimum, chosen.optimise, weight)
        more.append(("optimum", optimum_summary(optimum, weight), lambda: f"\n{best()}"))
    if chosen.json:
        summary = account_summary(found) | {name: value for name, value, _ in more}
        print_json(summary)
    else:
        writes: list[Callable[[], str]] = [
            partial(describe_account, found),
            *(write for *_, write in more),
        ]
        print("\n".join(map(for_terminal, writes)))
    return 0 if found.decrease > 0 else FAILED
