"""Finished results of a search, stored line by line, so that an interrupted search continues."""

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

from certibit.data.files.kept_lines import add_line, read_lines
from certibit.solvers.runs.origin import versions
from certibit.solvers.store.program_text import NoSourceError, NotKeptWarning, program
from certibit.theory.discover.task import Task

_ROOMS = ("data", "solvers", "theory")


class KeptResults:
    """The finished results of one search by key; in a file if a folder is given.

    Every result is one line, written at once. Damaged or incomplete lines cause a warning and are
    computed again.

    Parameters
    ----------
    task : Task
        The task of the search. Each task, seed and program text of the search
        (:mod:`certibit.solvers.store.program_text`) has a file of its own.
    seed : int
        The seed of the search.
    folder : Path, optional
        Without one, nothing is stored.
    fresh : bool
        Whether stored results are ignored and computed again.
    """

    def __init__(
        self, task: Task, seed: int, folder: Path | None = None, fresh: bool = False
    ) -> None:
        self._found: dict[str, Any] = {}
        self.path = None
        if folder is None:
            return
        try:
            made_of = json.dumps([repr(task), seed, program(task, rooms=_ROOMS), versions()])
        except NoSourceError as reason:
            warnings.warn(f"this search is not kept: {reason}", NotKeptWarning, stacklevel=2)
            return
        digest = hashlib.sha256(made_of.encode()).hexdigest()[:12]
        self.path = folder / f"{digest}.lines"
        self._found = {} if fresh else dict(read_lines(self.path))

    def get(self, *key: Any) -> tuple[bool, Any]:
        """Return whether there is a result of a key, and the result."""
        name = json.dumps(key)
        return name in self._found, self._found.get(name)

    def put(self, result: Any, *key: Any) -> None:
        """Keep the result of a key; both are JSON values."""
        name = json.dumps(key)
        self._found[name] = result
        if self.path:
            add_line(self.path, [name, result])
