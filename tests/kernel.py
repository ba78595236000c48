"""The kernel of Rocq (Coq), which accepts files or refuses them, where it is installed."""

import shutil
import subprocess

import pytest

COMPILER = shutil.which("coqc") or shutil.which("rocq")
COMMAND = [COMPILER, *(["compile"] if (COMPILER or "").endswith("rocq") else [])]
KERNEL = pytest.mark.skipif(COMPILER is None, reason="neither coqc nor rocq is installed")


def refusal(text, folder, name="certificate.v"):
    """Return what the kernel says of a file, or an empty text if it accepts it."""
    (folder / name).write_text(text, encoding="utf-8")
    words = [*COMMAND, name]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode else ""
