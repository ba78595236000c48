"""One run of the benchmark as a file: the ratios, and what they were measured on."""

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from ratios import Ratio

from certibit.data.files.archive import read_record, write_record

_LIBRARIES = ("certibit", "numpy", "scipy", "numba", "array-api-compat")


@dataclass(frozen=True)
class Record:
    """The ratios of one run.

    Attributes
    ----------
    date, commit : str
        When, in UTC, and of which commit; with a "+" where files differ.
    hardware, versions : dict
        The processor, and of Python and the libraries.
    absent : list of str
        Problems that were left out because their files are not here.
    ratios : list of Ratio
    """

    date: str
    commit: str
    hardware: dict[str, object]
    versions: dict[str, str]
    absent: list[str]
    ratios: list[Ratio]

    @classmethod
    def now(cls, ratios: Sequence[Ratio], absent: Sequence[str]) -> "Record":
        """Make the record of ratios that have just been measured here."""
        versions = {"python": platform.python_version()}
        versions |= {library: version(library) for library in _LIBRARIES}
        date = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(date, _commit(), _hardware(), versions, list(absent), list(ratios))

    def write(self, folder: Path) -> Path:
        """Write it into a folder, under its date."""
        path = folder / f"{self.date.replace(':', '')}.json"
        write_record(path, asdict(self))
        return path


def last(folder: Path) -> Record | None:
    """Return the newest record of a folder."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        return None
    content = read_record(paths[-1])
    return Record(**content | {"ratios": [Ratio(**ratio) for ratio in content["ratios"]]})


def _hardware() -> dict[str, object]:
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return {"processor": _processor(), "cores": cores, "load": round(load, 1)}


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if not information.exists():
        return platform.machine()
    facts = [line.split(":", 1) for line in information.read_text().splitlines() if ":" in line]
    known = {name.strip(): value.strip() for name, value in facts}
    names = ("model name", "cpu family", "model")
    model, *numbers = (known.get(name, "") for name in names)
    return f"{model} (family {numbers[0]}, model {numbers[1]})" if model else platform.machine()


def _commit() -> str:
    try:
        commit, changes = _git("rev-parse --short HEAD"), _git("status --porcelain")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + ("+" if changes else "")


def _git(words: str) -> str:
    command, folder = ["git", *words.split()], Path(__file__).parent
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()
