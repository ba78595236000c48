"""The command ``export``: from a method and a class to the file of a proof."""

import argparse
from pathlib import Path

from certibit.cli.words.plain_options import KINDS, file_to_write
from certibit.cli.words.subject import RELAXED, SUBJECT, proof_alone, read_subject, theory
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal, paragraph
from certibit.theory.export.export import require_file_name, write_certificate


def _certificate_to_write(text: str) -> Path:
    """Read the name of a file for a certificate."""
    path = file_to_write(text)
    try:
        require_file_name(path)
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None
    return path


def _export_certificate(chosen: argparse.Namespace) -> None:
    """Certify a method over a class of functions, and write the proof."""
    subject = read_subject(chosen)
    proof = proof_alone(chosen, subject)
    if subject.kind == RELAXED:
        theory("relaxed.clipped_file").write_clipped(proof, chosen.file)
    else:
        write_certificate(proof, chosen.file)
    promise = str(proof).splitlines()[-1]
    print(for_terminal(lambda: paragraph(f"{promise}, written to {chosen.file}")))


KINDS["certificate"] = _certificate_to_write
_OPTIONS = f"""\
{SUBJECT}
FILE :certificate  file to write: for docs/check_proof.py, for docs/check_clipped.py if the class is
    relaxed, or for the kernel of Rocq (Coq) if its name ends in .v"""
COMMANDS = {"export": (_export_certificate, _OPTIONS)}
