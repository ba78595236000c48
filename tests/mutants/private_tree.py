"""A private copy of the tree, in which faults are planted one after the other."""

import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode

from mutations import Mutant

COPIED = ("data", "solvers", "theory", "figures", "certibit", "tests", "docs")
MEMORY = 6 << 20
"""KiB of address space that a fault may ask for."""
WAITING = 10
"""On the clock an answer may take so many times its processor time, on a machine that is shared."""


class PrivateTree:
    """A copy of a tree in a folder; what is run in it imports the copy."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self._right: dict[Path, str] = {}
        compiled = shutil.ignore_patterns("*.pyc")
        for name in COPIED:
            shutil.copytree(root / name, folder / name, symlinks=True, ignore=compiled)
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(root / name, folder)
        # Compiled files are told apart by the hash of the text: an edit within a second is seen.
        mode = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder, quiet=1, invalidation_mode=mode)

    def plant(self, mutant: Mutant | None) -> None:
        """Have this fault, and no other, in the text; None takes the last one out."""
        for file, right in self._right.items():
            file.write_text(right, encoding="utf-8")
        self._right.clear()
        if mutant is not None:
            file = self.folder / mutant.file
            self._right[file] = file.read_text(encoding="utf-8")
            file.write_text(mutant.applied(self._right[file]), encoding="utf-8")

    def failure(self, words: Sequence[str], seconds: int) -> str:
        """Run Python with some words in this tree; return the line that says what failed, or "".

        It is stopped after so many seconds of processor time, which is a failure.
        """
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        limited = f'ulimit -v {MEMORY} -t {seconds}; exec "$@"'
        here = {"CERTIBIT_CACHE": str(self.folder / "cache"), "PYTHONPATH": str(self.folder)}
        try:
            done = subprocess.run(
                ["bash", "-c", limited, "-", sys.executable, *words], cwd=self.folder, text=True,
                env=os.environ | here, capture_output=True, timeout=WAITING * seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "no end in time"
        if done.returncode == 0:
            return ""
        told = (done.stdout.strip() or done.stderr.strip()).splitlines()
        return told[-1][:300] if told else f"exit code {done.returncode}"
