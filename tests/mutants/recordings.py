"""What the subjects of the battery and the tests reach, recorded once for the text of each file."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from reached import ROOT, SUBJECTS_FILE, digest

AT_A_TIME = 8
"""Files after which what is recorded is kept."""
TESTED = ("data", "solvers", "theory", "test_cli.py", "test_public_page.py")


@dataclass(frozen=True)
class Reached:
    """A test or a subject, how long it takes, and the functions that it calls."""

    name: str
    seconds: float
    functions: frozenset[str]


def reached_by_subjects(folder: Path) -> list[Reached]:
    """Return what the subjects reach."""
    words = [str(SUBJECTS_FILE.with_name("reached.py"))]
    return _recorded(folder / "subjects.jsonl", {digest(SUBJECTS_FILE): words})


def reached_by_tests(folder: Path, workers: int) -> list[Reached]:
    """Return what every test reaches; only files that are new or changed are run."""
    options = ["-m", "pytest", "-q", "-p", "reached", "-p", "no:cacheprovider"]
    texts = {digest(file): [str(file.relative_to(ROOT))] for file in _test_files()}
    return _recorded(folder / "tests.jsonl", texts, [*options, f"--numprocesses={workers}"])


def _test_files() -> Iterator[Path]:
    for name in TESTED:
        place = ROOT / "tests" / name
        yield from [place] if place.is_file() else sorted(place.rglob("test_*.py"))


def _recorded(kept: Path, texts: dict[str, list[str]], options: list[str] = ()) -> list[Reached]:
    """Return the rows of some texts, by digest; run and keep what is missing, some at a time."""
    rows = _rows(kept) if kept.exists() else []
    missing = sorted(set(texts) - {row["text"] for row in rows})
    for some in (missing[first : first + AT_A_TIME] for first in range(0, len(missing), AT_A_TIME)):
        rows += _record([*options, *(word for text in some for word in texts[text])])
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [
        Reached(row["name"], row["seconds"], frozenset(row["functions"]))
        for row in rows
        if row["text"] in texts
    ]


def _record(words: list[str]) -> list[dict]:
    """Run Python with these words; return a row of everything that passes.

    A test that fails is left out; anything else that goes wrong ends the recording.
    """
    with TemporaryDirectory() as folder:
        here = str(Path(__file__).parent)
        environment = os.environ | {"PYTHONPATH": here, "CERTIBIT_REACHED": folder}
        command = [sys.executable, *words]
        ended = subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr, check=False)
        if ended.returncode not in (0, pytest.ExitCode.TESTS_FAILED):
            ended.check_returncode()
        return [row for part in sorted(Path(folder).glob("*.jsonl")) for row in _rows(part)]


def _rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
