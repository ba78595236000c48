"""Exact proofs as files that others check."""

import re
from pathlib import Path

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_text
from certibit.theory.export.proof_file import proof_file
from certibit.theory.export.rocq_proof import rocq_proof
from certibit.theory.export.step_in_file import sealed
from certibit.theory.proofs.proof import Proof


def require_file_name(path: Path) -> None:
    """Refuse a name of a file for Rocq that is none of a module: ``coqc`` would not read it.

    Raises
    ------
    Refusal
        If it ends in ``.v`` and the rest is not letters, digits and underscores.
    """
    if path.suffix == ".v" and not path.stem.isidentifier():
        better = re.sub(r"\W|^(?=\d)", "_", path.stem)
        raise Refusal(
            f"'{path.name}' is no name that Rocq reads, since it makes a module of a file; take "
            f"letters, digits and _ that begin with no digit, such as '{better}.v'"
        )


def write_certificate(proof: Proof, path: Path) -> None:
    """Write a proof for the kernel of Rocq if the name ends in ``.v``, and else as JSON.

    The JSON is for ``docs/check_proof.py``; its numbers are fractions in strings.

    Raises
    ------
    Refusal
        If Rocq could not read a file of this name, or the file has no words for the proof.
    """
    require_file_name(path)
    text = rocq_proof(proof) if path.suffix == ".v" else sealed(proof_file(proof))
    write_text(path, text.removesuffix("\n"))
