"""A private copy of the tree, in which faults are planted one after the other."""

import compileall
import math
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from py_compile import PycInvalidationMode
from signal import SIGKILL, SIGXCPU

from mutations import Mutant

ROOMS = ("data", "solvers", "theory", "figures")
COPIED = (*ROOMS, "certibit", "tests", "docs")
MEMORY = 6 << 30
"""Bytes of address space that a fault may ask for."""
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

    def start(self, ask: Callable[[], int], seconds: float) -> "Answer":
        """Ask a function in a process of its own that imports this tree.

        It is stopped after so many seconds of processor time, counted up to a whole number.
        """
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        arguments = (self.folder, ask, math.ceil(seconds))
        process = get_context("fork").Process(target=_child, args=arguments)
        process.start()
        deadline = time.monotonic() + WAITING * math.ceil(seconds)
        return Answer(process, self.folder / "answer", deadline)


@dataclass(frozen=True)
class Answer:
    """A process that may still run, what it says, and when it must have ended."""

    process: BaseProcess
    file: Path
    deadline: float

    @property
    def ended(self) -> bool:
        """Whether it has ended, or is stopped now because its time is over."""
        return not self.process.is_alive() or time.monotonic() > self.deadline

    def read(self) -> tuple[int | None, str]:
        """Stop what still runs; return the exit code, None after too long, and what was said."""
        code = self.process.exitcode
        code = None if code in (-SIGXCPU, -SIGKILL) else code
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, SIGKILL)
        self.process.join()
        told = self.file.read_text(encoding="utf-8", errors="replace")
        return code, told if code is not None else f"{told}\nno end in time"


def seen(answer: Answer) -> str:
    """Return the line that says what failed, or "" if nothing did."""
    code, told = answer.read()
    if code == 0:
        return ""
    lines = [line for line in told.splitlines() if line.strip()] or [f"exit code {code}"]
    return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1])[:300]


def _child(folder: Path, ask: Callable[[], int], seconds: int) -> None:
    """Answer in the folder, with what is said in a file, and less memory than there is."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.chdir(folder)
    os.environ["CERTIBIT_CACHE"] = str(folder / "cache")
    os.environ["PYTHONPATH"] = str(folder)
    sys.path.insert(0, str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == "certibit"]:
        del sys.modules[name]
    with (folder / "answer").open("w", buffering=1, encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.stdout = sys.stderr = file
        sys.exit(ask())
