"""Which functions of the rooms a subject of the battery calls: it can see their faults.

One JSON line each goes into a file of the folder that ``CERTIBIT_REACHED`` names.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from cProfile import Profile
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("data", "solvers", "theory")
SUBJECTS_FILE = Path(__file__).with_name("subjects.py")


def digest(file: Path) -> str:
    """Return a hash of the text of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


@contextmanager
def recorded(name: str, text: Path, worker: str) -> Iterator[None]:
    """Append a line with the functions called by this thread; ``text`` is where the name stands."""
    profile = Profile(builtins=False, subcalls=False)
    start = time.process_time()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
        seconds = round(time.process_time() - start, 3)
        row = {"name": name, "text": digest(text), "seconds": seconds}
        row["functions"] = sorted(_functions(entry.code for entry in profile.getstats()))
        file = Path(os.environ["CERTIBIT_REACHED"]) / f"{worker}.jsonl"
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")


def _functions(codes: Iterable[CodeType | str]) -> set[str]:
    """Return file:function of what belongs to the rooms; lambdas count as where they stand."""
    found = set()
    for code in codes:
        path = Path(getattr(code, "co_filename", ""))
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ROOMS:
            inside = f".{code.co_qualname}".replace(".<locals>", "").split(".<")[0][1:]
            found.add(f"{path.relative_to(ROOT).as_posix()}:{inside}")
    return found


if __name__ == "__main__":
    from subjects import SUBJECTS, finding

    for subject in SUBJECTS:
        with recorded(subject, SUBJECTS_FILE, "check"):
            alarm = finding(subject)
        if alarm:
            print(f"a false alarm: {subject}: {alarm}", file=sys.stderr)
            sys.exit(2)
