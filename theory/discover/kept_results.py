"""What a search has finished, kept as JSON lines, so that an interrupted one goes on."""

import hashlib
import json
from pathlib import Path
from typing import Any

from bitbound.theory.discover.task import Task


class KeptResults:
    """The finished results of one search, by what they are of; in a file if a folder is given.

    Every result is one line, written at once; a line that was cut by an interrupt is not read, and
    what it was of is done again.

    Parameters
    ----------
    task : Task
        What is searched for; each task with its seed has its own file.
    seed : int
        The seed of the search.
    folder : Path, optional
        Without one, nothing is kept.
    """

    def __init__(self, task: Task, seed: int, folder: Path | None = None) -> None:
        made_of = json.dumps([VERSION, repr(task), seed])
        digest = hashlib.sha256(made_of.encode()).hexdigest()[:12]
        self.path = folder and folder / f"{digest}.jsonl"
        self._found: dict[str, Any] = {}
        if self.path and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    key, result = json.loads(line)
                except ValueError:  # cut
                    continue
                self._found[key] = result

    def get(self, *key: Any) -> tuple[bool, Any]:
        """Return whether there is a result of a key, and the result."""
        name = json.dumps(key)
        return name in self._found, self._found.get(name)

    def put(self, result: Any, *key: Any) -> None:
        """Keep the result of a key; both are JSON values."""
        name = json.dumps(key)
        self._found[name] = result
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps([name, result])}\n")


VERSION = 1
"""Of the search; what another version has found is not taken for its own."""
