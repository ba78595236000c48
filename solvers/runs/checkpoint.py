"""The complete state of unfinished runs, and files of it from which interrupted runs continue."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, common_if, is_common
from certibit.data.errors import DamagedFileError
from certibit.data.files.archive import Arrays, load_arrays, load_or_set_aside, save_arrays
from certibit.solvers.libraries import host, like
from certibit.solvers.runs.trace import Column
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams
from certibit.solvers.state import S, number_of_runs

_EACH = {
    "iteration": np.int64,
    "rounds": np.int64,
    "due": np.int64,
    "first_measure": np.float64,
    "best_measure": np.float64,
    "lowest_measure": np.float64,
    "since": np.float64,
    "done": np.float64,
}
"""The columns with one value for each run, finished or not."""


@dataclass
class Carried:
    """All data, besides the specification, that the next iteration of R runs depends on.

    Attributes
    ----------
    state
        Of the runs that are still going.
    models : array (1, d, R)
        The last model of every run that has ended, else NaN.
    ledger, streams, noise
        What was spent, and the random numbers of the channel and of the gradients.
    active : array of int
        The runs that are still going, as positions among all R.
    iteration, rounds, due : arrays (R,) of int
        Iterations and rounds done, and the next round to be recorded.
    first_measure, best_measure, lowest_measure, since, done : arrays (R,)
        f - f*, or |grad f|^2, at the start, the best one at the last progress, the best one, the
        work at which the last progress was, and the fraction of the budget that is used.
    ending : list of str
        What ended each run, or "".
    rows : list of mappings
        The recorded points so far, as columns.
    settle : callable
        Called before all is written.
    """

    state: Any
    models: NDArray[np.float64]
    ledger: Ledger
    streams: Streams
    noise: Streams | None
    active: NDArray[np.intp]
    iteration: NDArray[np.int64]
    rounds: NDArray[np.int64]
    due: NDArray[np.int64]
    first_measure: NDArray[np.float64]
    best_measure: NDArray[np.float64]
    lowest_measure: NDArray[np.float64]
    since: NDArray[np.float64]
    done: NDArray[np.float64]
    ending: list[str]
    rows: list[dict[str, Column]]
    settle: Callable[[], None] = field(default=lambda: None, repr=False)

    @classmethod
    def at_start(
        cls,
        state: Any,
        models: NDArray[np.float64],
        ledger: Ledger,
        streams: Streams,
        noise: Streams | None,
    ) -> Self:
        """Return what runs carry before the first iteration."""
        runs = number_of_runs(state)
        each: dict[str, Any] = {name: np.zeros(runs, kind) for name, kind in _EACH.items()}
        each["due"] += 1
        active, ending = np.arange(runs), [""] * runs
        return cls(state, models, ledger, streams, noise, active, ending=ending, rows=[], **each)

    @property
    def columns(self) -> dict[str, Column]:
        """The recorded points so far, sorted by run."""
        columns = {name: np.concatenate([row[name] for row in self.rows]) for name in self.rows[0]}
        order = np.lexsort((columns["iteration"], columns["run"]))
        return {name: column[order] for name, column in columns.items()}

    def write(self) -> dict[str, NDArray[Any]]:
        """Return everything as named arrays on the host."""
        self.settle()
        return {
            "active": self.active,
            "models": self.models,
            "ending": np.array(self.ending),
            **{name: getattr(self, name) for name in _EACH},
            **_named("column", self.columns),
            **_named("ledger", {name: host(x) for name, x in self.ledger.spent.items()}),
            **_named("stream", self.streams.drawn),
            **_named("noise", self.noise.drawn if self.noise else {}),
            **_named("state", _write_state(self.state)),
        }

    def read(self, written: Arrays) -> None:
        """Take what :meth:`write` gave in place of the start."""
        spent = _under("ledger", written)
        self.ledger.resume({name: spent[name] for name in self.ledger.spent})
        for prefix, streams in (("stream", self.streams), ("noise", self.noise)):
            if streams is not None:
                streams.resume(_under(prefix, written))
        for name in ("active", "models", *_EACH):
            setattr(self, name, written[name])
        self.state = _read_state(self.state, _under("state", written))
        self.rows, self.ending = [_under("column", written)], written["ending"].tolist()


def _write_state(state: S) -> dict[str, NDArray[Any]]:
    """Return the fields of a state as they lie in memory, each with the order of its axes."""
    written: dict[str, NDArray[Any]] = {}
    for part in fields(state):
        x = host(getattr(state, part.name))
        order = np.argsort([-stride for stride in x.strides], kind="stable")
        written |= {part.name: np.asarray(x).transpose(order)}
        written |= {f"{part.name}.axes": np.argsort(order)}
        written |= {f"{part.name}.common": np.array(is_common(x))}
    return written


def _read_state(start: S, written: Arrays) -> S:
    """Return the state that was written."""
    return replace(
        start,
        **{f.name: _read_field(f.name, getattr(start, f.name), written) for f in fields(start)},
    )


def _read_field(name: str, start: Array, written: Arrays) -> Array:
    x, axes, common = (written[f"{name}{part}"] for part in ("", ".axes", ".common"))
    return like(start, common_if((), x.transpose(axes)) if common else x.transpose(axes))


def _named(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _under(prefix: str, written: Arrays) -> dict[str, NDArray[Any]]:
    start = f"{prefix}."
    return {name.removeprefix(start): x for name, x in written.items() if name.startswith(start)}


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
        if str(written.get("header")) != str(self._header(batch)):
            raise DamagedFileError(f"{path} is damaged (it holds the runs of something else)")
        start.read(written)
        return True
