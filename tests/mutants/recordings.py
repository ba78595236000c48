"""What the subjects of the battery and the tests reach, recorded once for the text of each file."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from reached import ROOT, SUBJECTS_FILE, digest

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
    """Return the rows of some texts, by digest; run and keep what is missing."""
    rows = _rows(kept) if kept.exists() else []
    missing = set(texts) - {row["text"] for row in rows}
    if missing:
        kept.parent.mkdir(parents=True, exist_ok=True)
        words = [word for text in sorted(missing) for word in texts[text]]
        here = str(Path(__file__).parent)
        with TemporaryDirectory() as folder:
            environment = os.environ | {"PYTHONPATH": here, "BITBOUND_REACHED": folder}
            command = [sys.executable, *options, *words]
            subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr, check=True)
            with kept.open("a", encoding="utf-8") as file:
                for part in sorted(Path(folder).glob("*.jsonl")):
                    file.write(part.read_text(encoding="utf-8"))
        rows = _rows(kept)
    return [
        Reached(row["name"], row["seconds"], frozenset(row["functions"]))
        for row in rows
        if row["text"] in texts
    ]


def _rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
