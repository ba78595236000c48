"""A private copy of the tree, in which faults are planted one after the other."""

import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from py_compile import PycInvalidationMode
from signal import SIGKILL

from mutations import Mutant

ROOMS = ("data", "solvers", "theory", "figures")
COPIED = (*ROOMS, "bitbound", "tests", "docs")
MEMORY = 6 << 30
"""Bytes of address space that a fault may ask for."""


class PrivateTree:
    """A copy of a tree in a folder; what is run in it imports the copy."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("*.pyc"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(root / name, folder)
        for room in ROOMS:
            (folder / "bitbound" / room).symlink_to(folder / room)
        # Compiled files are told apart by the hash of the text: an edit within a second is seen.
        mode = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder, quiet=1, invalidation_mode=mode)

    @contextmanager
    def planted(self, mutant: Mutant | None) -> Iterator[None]:
        """Have the fault in the text while the context lasts; without one, nothing changes."""
        if mutant is None:
            yield
            return
        file = self.folder / mutant.file
        right = file.read_text(encoding="utf-8")
        file.write_text(mutant.applied(right), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(right, encoding="utf-8")

    def run(self, words: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """Run Python on some words; its exit code, None after too long, and what it says."""
        cache = self.folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        environment = os.environ | {
            "BITBOUND_CACHE": str(cache),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(self.folder),
        }
        limited = ["prlimit", f"--as={MEMORY}"] if shutil.which("prlimit") else []
        process = subprocess.Popen(
            [*limited, sys.executable, *words],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            told, _ = process.communicate(timeout=seconds)
            return process.returncode, told
        except subprocess.TimeoutExpired:
            return None, f"no end after {seconds:.0f} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
            process.wait()
