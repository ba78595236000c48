"""The command ``audit``: audit the proofs of papers, step by step."""

import argparse
import sys

from tqdm import tqdm

from certibit.cli.words.plain_options import add_output, count, read_output
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=audit_proofs)
    parser.add_argument(
        "proof", metavar="PROOF", nargs="*", help="episode, locodl, normalised-ef21; default all"
    )
    parser.add_argument("--seed", type=count, default=1, help="seed of the search")
    parser.add_argument(
        "--effort",
        type=count,
        default=1,
        help="factor by which the number of searched points is multiplied",
    )
    add_output(parser, "results/audit")


def audit_proofs(chosen: argparse.Namespace) -> None:
    """Audit the chosen proofs, save their reports and print their tables."""
    from certibit.theory.audit.proofs import PROOFS, audit  # noqa: PLC0415  (slow to import)

    for name in chosen.proof:
        if name not in PROOFS:
            raise Refusal(f"there is no proof {name!r}; choose some of {', '.join(PROOFS)}")
    folder = read_output(chosen)
    for name in chosen.proof or PROOFS:
        with tqdm(
            total=len(PROOFS[name].steps),
            desc=f"audit {name}",
            unit="step",
            file=sys.stderr,
            disable=None,
        ) as bar:
            report = audit(name, chosen.seed, chosen.effort, lambda finding: bar.update())
        report.save(folder)
        print(for_terminal(report.table), end="\n\n")
