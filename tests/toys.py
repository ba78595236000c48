"""A toy of each kind that can be added to the package: its files, and the lines that name it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("data", "figures", "solvers", "theory")


@dataclass(frozen=True)
class Place:
    """A file that is written, or a text of a file and what stands in its place.

    A file is made of a text, or from another one, ``like``, by replacements.
    """

    file: str
    replaced: tuple[tuple[str, str], ...] = ()
    like: str = ""
    text: str = ""

    def change(self, root: Path) -> None:
        text = self.text or (root / (self.like or self.file)).read_text(encoding="utf-8")
        for old, new in self.replaced:
            assert old in text, f"{old!r} in {self.file}"
            text = text.replace(old, new)
        (root / self.file).write_text(text, encoding="utf-8")


def _of(name: str) -> str:
    return f"solvers/{name}.py"


_BEFORE = "from certibit.solvers.compressors.composition"
_COMMAND = '''"""The command ``toy``."""

import argparse


def print_word(chosen: argparse.Namespace) -> None:
    """Print a word."""
    print("a toy")


COMMANDS = {"toy": (print_word, "")}
'''
_END = '}\n"""The module of every command'
_COMPRESSOR = '''"""Vectors as they are, by another name."""

from dataclasses import dataclass

from certibit.solvers.compressors.base import Identity


@dataclass(frozen=True)
class Toy(Identity):
    """C(x) = x, omega = 0, 32 d bits."""

    @property
    def name(self) -> str:
        return "toy"
'''
_LISTED = "_CONVEX = (Logistic, LeastSquares, SmoothedHinge, Huber, Poisson"
_LOSS = '''@dataclass(frozen=True)
class Toy(LeastSquares):
    """phi(z; b) = (z - b)^2 / 2, by another name."""

    name = "toy"


'''
_CHECK = '''"""A check that always holds."""

from certibit.data.problem import Problem
from certibit.theory.verdict import Verdict


def toy_check(problem: Problem, seed: int = 0) -> Verdict:
    """Return a verdict that holds."""
    return Verdict("toy", 0.0, 1.0)


PROBLEM_CHECKS = (toy_check,)
'''
TOYS = {
    "method": (
        Place("solvers/methods/toy.py", (("GD", "Toy"), ('"gd"', '"toy"')), like=_of("methods/gd")),
        Place(
            "theory/cards/toy.py",
            (("GD", "Toy"), ("methods.gd", "methods.toy"), ("GradientDescent", "ToyDescent")),
            like="theory/cards/gd.py",
        ),
    ),
    "compressor": (
        Place("solvers/compressors/toy.py", text=_COMPRESSOR),
        Place(
            _of("compressors/selector"),
            (
                ('    "natural": Natural,\n', '    "natural": Natural,\n    "toy": Toy,\n'),
                (_BEFORE, f"from certibit.solvers.compressors.toy import Toy\n{_BEFORE}"),
            ),
        ),
    ),
    "loss": (
        Place("data/losses/losses.py", ((_LISTED, f"{_LOSS}{_LISTED}, Toy"),)),
    ),
    "check": (
        Place("theory/checks/problem/toy.py", text=_CHECK),
        Place("docs/checks.md", (("| invariants |", "| toy | Is 0 at most 1? | exact |\n"
                                  "| invariants |"),)),
    ),
    "command": (
        Place("certibit/cli/commands/toy.py", text=_COMMAND),
        Place("certibit/cli/commands/__init__.py",
              ((_END, f'    "toy": ("toy", "print a word"),\n{_END}'),)),
    ),
}  # fmt: skip
"""By kind, the places that are written or changed."""


def copy_with(kind: str, folder: Path) -> Path:
    """Copy the tree into a folder with the toy of a kind, and return the folder."""
    for name in (*ROOMS, "certibit", "tests", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "*.png")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    for place in TOYS[kind]:
        place.change(folder)
    return folder
