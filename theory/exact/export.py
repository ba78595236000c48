"""Exact proofs as files that others check."""

import json
from pathlib import Path

from bitbound.data.files.cache import write_text
from bitbound.theory.exact.certificate_file import certificate_file
from bitbound.theory.exact.exact_proof import ExactProof
from bitbound.theory.exact.rocq_file import rocq_file


def write_certificate(proof: ExactProof, path: Path) -> None:
    """Write a proof for the kernel of Rocq if the name ends in ``.v``, and else as JSON.

    The JSON is for ``docs/check_certificate.py``; its numbers are fractions in strings.
    """
    if path.suffix == ".v":
        text = rocq_file(proof)
    else:
        text = json.dumps(certificate_file(proof), indent=1)
    write_text(path, text.removesuffix("\n"))
