"""Checkpoints: files of unfinished runs, from which these are continued after an interruption."""

import hashlib
import json
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from certibit.data.errors import DamagedFileError
from certibit.data.files.archive import load_arrays, load_or_set_aside, save_arrays
from certibit.solvers.runs.carried import Carried

SECONDS = 2.0
"""The shortest time between two writings."""
_SHARE = 0.02
"""The largest part of the time that is spent on writing."""


class Checkpoint:
    """The files beside a trace in which its batches are kept while they run.

    Parameters
    ----------
    trace : Path
        The file of the finished trace.
    made_of : mapping
        What the numbers depend on, beside what is in the name of that file: JSON values.
    """

    def __init__(self, trace: Path, made_of: Mapping[str, object]) -> None:
        self._trace = trace
        self._made_of = json.dumps(made_of, sort_keys=True)
        self._next = time.monotonic() + SECONDS

    def read(self, batch: int, start: Carried) -> bool:
        """Put what is kept of a batch in place of its start, and say whether there is any.

        A file that is damaged, or of something else, is named in a warning and set aside.
        """
        return bool(load_or_set_aside(self._path(batch), partial(self._read, batch, start)))

    def write_if_due(self, batch: int, carried: Carried) -> None:
        """Write if it is time: after some seconds, and so that little time goes into it."""
        if time.monotonic() >= self._next:
            self.write(batch, carried)

    def write(self, batch: int, carried: Carried) -> None:
        """Write what a batch carries, whole or not at all."""
        start = time.monotonic()
        save_arrays(self._path(batch), {"header": self._header(batch), **carried.write()})
        end = time.monotonic()
        self._next = end + max(SECONDS, (end - start) / _SHARE)

    def remove(self) -> None:
        """Remove all that is kept for the trace, which is finished."""
        for file in self._trace.parent.glob(f"{self._trace.stem}.*.unfinished"):
            file.unlink(missing_ok=True)

    def _path(self, batch: int) -> Path:
        digest = hashlib.sha256(self._made_of.encode()).hexdigest()[:8]
        return self._trace.with_name(f"{self._trace.stem}.{digest}-{batch}.unfinished")

    def _header(self, batch: int) -> np.ndarray:
        return np.array(json.dumps([self._made_of, batch]))

    def _read(self, batch: int, start: Carried, path: Path) -> bool:
        written = load_arrays(path)
        try:
            if str(written.pop("header", None)) != str(self._header(batch)):
                raise ValueError("it holds the runs of something else")
            start.read(written)
        except ValueError as fault:
            raise DamagedFileError(f"{path} is damaged ({fault})") from None
        return True
