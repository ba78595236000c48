"""What a run returns and how it is kept: numbers with the specification that made them."""

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.files.cache import write_atomically

Column = NDArray[Any]
"""One number per recorded point, whole or not."""

COLUMNS = {
    "run": "position of the run among the seeds",
    "iteration": "iterations done",
    "rounds": "communication rounds done",
    "gradients": "gradients of f_i evaluated per client (mean over clients)",
    "uplink_bits": "bits sent per client (mean over clients)",
    "downlink_bits": "bits received per client (mean over clients)",
    "synchronisations": "how often the server has waited for clients",
    "gap": "f - f* at the model",
    "distance": "|x - x*|^2 at the model",
    "squared_gradient": "|grad f|^2 at the model, where theorems bound it; else NaN",
    "lyapunov": "value of the Lyapunov function of a theorem; NaN without one",
}


@dataclass(frozen=True)
class Trace:
    """The recorded points of R runs that differ in their seed, or in parameters of a grid.

    Attributes
    ----------
    specification : mapping
        Problem, method with parameters, compressor, seeds, budget, record, wire, array library,
        dtype and version; it can be written as JSON.
    columns : mapping
        One array per name in ``COLUMNS``, one entry per recorded point, sorted by run.
    ending : tuple of str
        What ended each run: "bits", "rounds", "gap", "iterations" or "diverged".

    Examples
    --------
    >>> from bitbound import GD, Budget, Quadratic, Trace, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> trace = run(GD(gamma=0.1), problem, seeds=2, budget=Budget(gap=1e-6))
    >>> trace.bits_to(1e-3)
    array([896., 896.])
    """

    specification: Mapping[str, Any]
    columns: Mapping[str, Column]
    ending: tuple[str, ...]

    def __repr__(self) -> str:
        made = self.specification
        endings = ", ".join(f"{name} ({runs})" for name, runs in Counter(self.ending).items())
        method, problem = made["method"]["name"], made["problem"]["name"]
        return (
            f"Trace of {method} on {problem}, {made['compressor']}\n"
            f"runs: {len(self.seeds)}, ended by {endings}\n"
            f"last f - f*: {_range(self.final('gap'))}\n"
            f"uplink bits per client: {_range(self.final('uplink_bits'))}"
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the runs, (R,)."""
        return tuple(self.specification["seeds"])

    def run(self, run: int) -> dict[str, Column]:
        """Return the columns of one run, by its position among the seeds."""
        rows = self.columns["run"] == run
        return {name: column[rows] for name, column in self.columns.items()}

    def bits_to(self, accuracy: float) -> NDArray[np.float64]:
        """Return the uplink bits per client at the first recorded f - f* <= accuracy, (R,).

        NaN for a run that did not get there.
        """
        return self.cost_to(accuracy, "uplink_bits")

    def cost_to(self, accuracy: float, column: str) -> NDArray[np.float64]:
        """Return a column at the first recorded f - f* <= accuracy, (R,); NaN where never."""
        costs = np.full(len(self.seeds), np.nan)
        reached = np.flatnonzero(self.columns["gap"] <= accuracy)
        runs, first = np.unique(self.columns["run"][reached], return_index=True)
        costs[runs] = self.columns[column][reached[first]]
        return costs

    def final(self, column: str) -> Column:
        """Return the last recorded value of a column for every run, (R,)."""
        last = np.searchsorted(self.columns["run"], np.arange(len(self.seeds)), side="right") - 1
        values: Column = self.columns[column][last]
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an npz file with a JSON header; the file appears whole or not at all."""
        header = json.dumps({"specification": self.specification, "ending": self.ending})
        arrays = {"header": np.array(header), **self.columns}
        write_atomically(
            Path(path), lambda file: np.savez_compressed(file, allow_pickle=False, **arrays)
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Trace":
        """Read a file written by :meth:`save`.

        Raises
        ------
        OSError, ValueError, KeyError, zipfile.BadZipFile
            If the file cannot be read, or is no such file.
        """
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            columns = {name: file[name] for name in COLUMNS}
        return cls(header["specification"], columns, tuple(header["ending"]))


def _range(values: Column) -> str:
    """Return the smallest and the largest number as text; where a value is none, it is left out."""
    ends = np.fmin.reduce(values), np.fmax.reduce(values)
    return " to ".join(dict.fromkeys(f"{end:.4g}" for end in ends))
