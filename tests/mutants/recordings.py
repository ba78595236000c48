"""What the subjects of the battery reach, recorded once for the text of their file."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from reached import ROOT, SUBJECTS_FILE, digest


@dataclass(frozen=True)
class Reached:
    """A subject, how long it takes, and the functions that it calls."""

    name: str
    seconds: float
    functions: frozenset[str]


def reached_by_subjects(folder: Path) -> list[Reached]:
    """Return what the subjects reach; they are run once for the text of their file."""
    kept, text = folder / "subjects.jsonl", digest(SUBJECTS_FILE)
    rows = _rows(kept) if kept.exists() else []
    if text not in {row["text"] for row in rows}:
        rows = _record([str(SUBJECTS_FILE.with_name("reached.py"))])
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [Reached(row["name"], row["seconds"], frozenset(row["functions"])) for row in rows]


def _record(words: list[str]) -> list[dict]:
    """Run Python with these words; return a row of every subject."""
    with TemporaryDirectory() as folder:
        here = str(Path(__file__).parent)
        environment = os.environ | {"PYTHONPATH": here, "CERTIBIT_REACHED": folder}
        command = [sys.executable, *words]
        subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr, check=True)
        return [row for part in sorted(Path(folder).glob("*.jsonl")) for row in _rows(part)]


def _rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
