"""The command ``export``: write a proof to a file for another checker."""

import argparse
from pathlib import Path

from certibit.cli.words.plain_options import file_to_write
from certibit.cli.words.relaxed import add_relaxed, export_relaxed, is_relaxed
from certibit.cli.words.subject import add_subject, certify_subject, read_subject
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal, paragraph
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.export.export import require_file_name, write_certificate
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.verdict import times_psi


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=export_certificate)
    add_subject(parser, "relaxed")
    add_relaxed(parser)
    parser.add_argument(
        "file",
        metavar="FILE",
        type=_certificate_to_write,
        help="file to write: for docs/check_proof.py, for docs/check_clipped.py if the class is "
        "relaxed, or for the kernel of Rocq (Coq) if its name ends in .v",
    )


def _certificate_to_write(text: str) -> Path:
    """Read the name of a file for a certificate."""
    path = file_to_write(text)
    try:
        require_file_name(path)
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None
    return path


def export_certificate(chosen: argparse.Namespace) -> None:
    """Certify a method over a class of functions, and write the proof."""
    if is_relaxed(chosen):
        promise = export_relaxed(chosen)
        print(for_terminal(lambda: paragraph(f"{promise}, written to {chosen.file}")))
        return
    from certibit.cli.words.certified_descents import differing  # noqa: PLC0415  (heavy)
    from certibit.theory.descent.certify_descent import certify_descent  # noqa: PLC0415  (heavy)
    from certibit.theory.descent.factor_account import factor_account  # noqa: PLC0415  (heavy)

    subject = read_subject(chosen)
    proof: Certificate | DescentCertificate
    if subject.setting.strongly_convex and subject.functions.noise:
        proof = factor_account(
            subject.card, subject.method, subject.setting, subject.functions
        ).certificate
        promise = str(proof).splitlines()[-1]
    elif subject.setting.strongly_convex:
        proof = certify_subject(chosen, subject).certificate
        promise = f"E[Psi+] <= {times_psi(proof.exact, 12)}"
    else:
        functions = differing(chosen, subject)
        proof = certify_descent(subject.method, functions, growth=chosen.growth)
        promise = str(proof).splitlines()[-1]
    write_certificate(proof, chosen.file)
    told = f"{promise}, written to {chosen.file}"
    print(for_terminal(lambda: paragraph(told)))
