"""Faults of certibit's own, shown to the cases of `make test`, the nearest test files first.

``python tests/mutants/own_faults.py FOLDER [--first N] [--seconds S]`` tries the first N of a fixed
random order of all edits of modules that are not a method, a card, a compressor or a problem, at
most one of a line. Near is the test file from which the fewest imports lead to the module, and of
these first those in the folder of the same name. Between two tests it is asked whether the S
seconds of processor time are over. What is finished is kept in FOLDER: a survivor is continued
with a larger S where it stopped, and tried again once the texts of the tests are others.
"""

import argparse
import ast
import hashlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot  # noqa: F401  (what every child process needs is imported once)
import pytest
import scipy.optimize  # noqa: F401
import sklearn.datasets  # noqa: F401
from equivalents import equivalents
from mutations import Mutant, mutants, parses, rank
from private_tree import PrivateTree, seen

ROOT = Path(__file__).resolve().parents[2]
Row = dict[str, Any]
ROOMS = ("certibit", "data", "solvers", "theory", "figures")
OF_USERS = (
    "data/losses/", "data/problem.py", "data/problems/", "data/relaxed/", "solvers/compressors/",
    "solvers/methods/", "theory/cards/",
)  # fmt: skip
"""A user writes such files, and `certibit check` is to find what is wrong in them."""
LEAVING = (
    "data/deep/", "figures/deep/", "solvers/deep/", "solvers/fast/",
)  # fmt: skip
"""Extensions that are to be smaller."""
UNENDED = 90
"""Seconds of processor time of one test after which it counts as caught."""


def sample(root: Path, count: int) -> list[Mutant]:
    """Return the first faults of the fixed random order, at most one of a line."""
    chosen: list[Mutant] = []
    lines = set()
    for mutant in sorted(_all(root), key=rank):
        line = (mutant.file, mutant.function, mutant.patch[0])
        if line not in lines and parses(mutant, (root / mutant.file).read_text(encoding="utf-8")):
            lines.add(line)
            chosen.append(mutant)
            if len(chosen) == count:
                break
    return chosen


def _digest(file: Path) -> str:
    """Return a hash of the text of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _all(root: Path) -> Iterator[Mutant]:
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            if not file.startswith((*OF_USERS, *LEAVING)) and "drawing" not in file:
                yield from mutants(file, path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the modules of certibit, and of the tests' helpers, that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found)


def distances(root: Path, file: str) -> Mapping[str, int]:
    """Return by how many imports every test file is away from a module."""
    names = {}
    for room in (*ROOMS, "tests"):
        for path in (root / room).rglob("*.py"):
            words = path.relative_to(root).with_suffix("").parts
            name = path.stem if room == "tests" else ".".join(("certibit", *words))
            names.setdefault(name.replace("certibit.certibit", "certibit"), path)
    users: dict[str, set[Path]] = {}
    for path in names.values():
        for name in imports(path):
            users.setdefault(name, set()).add(path)
    by_path = {path: name for name, path in names.items()}
    found, reached = {root / file: 0}, [root / file]
    for path in reached:
        for user in users.get(by_path[path].removesuffix(".__init__"), ()):
            if user not in found:
                found[user] = found[path] + 1
                reached.append(user)
    tests = sorted((root / "tests").rglob("test_*.py"))
    return {str(path.relative_to(root)): found.get(path, len(names)) for path in tests}


def nearest(root: Path, file: str) -> list[str]:
    """Return all test files, the nearest first."""
    away = distances(root, file)
    folders = set(Path(file).parts[:-1])

    def order(test: str) -> tuple[int, int, int]:
        same = len(folders & set(Path(test).parts[1:-1])) + 2 * (Path(file).stem in test)
        return away[test], -same, len(imports(root / test))

    return sorted((t for t in away if "mutants" not in t), key=order)


class Clock:
    """A plugin of pytest that ends the run between two tests when its time is over."""

    def __init__(self, seconds: float, ended: Path) -> None:
        self.seconds, self.ended = seconds, ended

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        answer = yield
        if time.process_time() > self.seconds:
            item.session.shouldstop = "time is over"
        return answer


def run(files: Sequence[str], seconds: float, place: Path) -> int:
    """Run the quick cases of some test files, and write down which of them ended without fault."""
    done: list[str] = []
    options = ["-x", "-q", "--quick", "-p", "no:xdist", "--no-header"]
    for file in files:
        clock = Clock(seconds, place)
        code = int(pytest.main([*options, file], plugins=[clock]))
        if code not in (0, 5):
            return 0 if time.process_time() > seconds and code == 2 else code
        done.append(file)
        place.write_text(json.dumps(done), encoding="utf-8")
        if time.process_time() > seconds:
            break
    return 0


def main(folder: Path, first: int, seconds: float) -> None:
    """Try what is not tried yet, and print what became of each."""
    folder.mkdir(parents=True, exist_ok=True)
    kept, argued, made = folder / "own_faults.jsonl", equivalents(), sample(ROOT, first)
    rows = {row["name"]: row for row in map(json.loads, _lines(kept))}
    with tempfile.TemporaryDirectory() as place:
        tree = PrivateTree(ROOT, Path(place) / "tree")
        _complete(tree.folder)
        for number, mutant in enumerate(made):
            row = rows.get(mutant.name, {"done": [], "seconds": 0.0, "seen": ""})
            if mutant.name in argued or row["seen"] or row["seconds"] >= seconds:
                continue
            rows[mutant.name] = row = tried(tree, mutant, row, seconds)
            with kept.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")
            told = (number, mutant.file, mutant.function, *mutant.patch, row["seen"] or "SURVIVED")
            print(" | ".join(map(str, told)), flush=True)
    others = [rows[m.name] for m in made if m.name not in argued]
    caught = sum(bool(row["seen"]) for row in others)
    print(f"{len(made)} faults, {len(made) - len(others)} equivalent; {caught} others caught")


def tried(tree: PrivateTree, mutant: Mutant, row: Row, seconds: float) -> Row:
    """Return the row of a fault that is shown to the test files that it has not been shown to."""
    texts = {file: _digest(tree.folder / file) for file in nearest(tree.folder, mutant.file)}
    done = {tuple(each) for each in row["done"]}
    left = [file for file, text in texts.items() if (file, text) not in done]
    tree.plant(mutant)
    passed = tree.folder / "passed.json"
    passed.write_text("[]", encoding="utf-8")
    spend = seconds - row["seconds"]
    answer = tree.start(partial(run, left, spend, passed), spend + UNENDED)
    while not answer.ended:
        time.sleep(0.1)
    caught = seen(answer)
    done |= {(file, texts[file]) for file in json.loads(passed.read_text(encoding="utf-8"))}
    return {
        "name": mutant.name, "file": mutant.file, "function": mutant.function,
        "patch": mutant.patch, "seen": caught, "seconds": seconds, "done": sorted(done),
    }  # fmt: skip


def _complete(folder: Path) -> None:
    """Copy what tests read beside the rooms."""
    words = ["git", "ls-files"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if not (folder / name).exists() and (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def _lines(file: Path) -> Iterable[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else ()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    main(chosen.folder.resolve(), chosen.first, chosen.seconds)
