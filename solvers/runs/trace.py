"""Traces: the recorded points of runs with their complete specification, in memory and on disk."""

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import DamagedFileError, Refusal
from certibit.data.files.archive import load_arrays, save_arrays
from certibit.solvers.network import Network
from certibit.solvers.total_bits import bits_name, require_weight, total_bits

if TYPE_CHECKING:
    from certibit.solvers.runs.trace_plot import Canvas

Column = NDArray[Any]
"""One number per recorded point, whole or not."""

COLUMNS = {
    "run": "position of the run among the seeds",
    "iteration": "iterations done",
    "rounds": "communication rounds done",
    "gradients": "gradients of f_i evaluated per client (mean over clients)",
    "uplink_bits": "bits sent per client (mean over clients)",
    "busiest_bits": "bits of the client who sends most, summed over the messages",
    "downlink_bits": "bits received per client (mean over clients)",
    "synchronisations": "how often the server has waited for clients",
    "gap": "f - f* at the model",
    "distance": "|x - x*|^2 at the model",
    "squared_gradient": "|grad f|^2 at the model, where theorems bound it or it is the target; "
    "else NaN",
    "lyapunov": "value of the Lyapunov function of a theorem; NaN without one, "
    "and at rounds that are recorded because an accuracy is reached there",
}

SECONDS = "seconds"
MODELLED = {SECONDS: "seconds on a network, modelled"}
"""The columns that only a trace has whose bits and rounds were turned into seconds."""

MEASURES = {"gap": "f - f*", "squared_gradient": "|grad f|^2"}
"""The columns that a run can aim at a small value of, as tables write them."""

TOTAL = "total_bits"
"""The name of a derived column: bits sent plus the weight times bits received."""

_MODEL = "x"


@dataclass(frozen=True)
class Trace:
    """The recorded points of R runs that differ in their seed, or in parameters of a grid.

    Attributes
    ----------
    specification : mapping
        Problem with the hash of its data, method with parameters, compressor, seeds, budget,
        record, wire, array library and dtype; under ``origin`` the versions, the commit of a
        checkout and the storage of the data. It can be written as JSON.
    columns : mapping
        One array per name in ``COLUMNS``, and "seconds" by :meth:`timed`; one entry per recorded
        point, sorted by run.
    ending : tuple of str
        What ended each run: "bits", "rounds", "gradients", "gap", "squared_gradient", "seconds",
        "iterations", "callback", "stagnated" or "diverged".
    x : array of shape (1, d, R) or None
        The last model of every run, if it was asked for.

    Examples
    --------
    >>> from certibit import GD, Budget, Quadratic, Trace, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> trace = run(GD(gamma=0.1), problem, seeds=2, budget=Budget(gap=1e-6))
    >>> trace.bits_to(1e-3)
    array([896., 896.])
    >>> trace.bits_to(1e-3, downlink=0.5)
    array([1344., 1344.])
    """

    specification: Mapping[str, Any]
    columns: Mapping[str, Column]
    ending: tuple[str, ...]
    x: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        gap = self.columns["gap"]  # of an f* that is not known here
        require_no_negative_gap(gap, self.specification.get("dtype"), 1e3)

    def __repr__(self) -> str:
        made = self.specification
        endings = ", ".join(f"{name} ({runs})" for name, runs in Counter(self.ending).items())
        method, problem = made["method"]["name"], made["problem"]["name"]
        return (
            f"Trace of {method} on {problem}, {made['compressor']}\n"
            f"runs: {len(self.seeds)}, ended by {endings}\n"
            f"last {MEASURES[self.measure]}: {_range(self.final(self.measure))}\n"
            f"uplink bits per client: {_range(self.final('uplink_bits'))}"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the runs, (R,)."""
        return tuple(self.specification["seeds"])

    @property
    def measure(self) -> str:
        """The column that the runs aimed at: "gap", or "squared_gradient" if that was said."""
        asked = self.specification.get("budget", {}).get("squared_gradient")
        return "gap" if asked is None else "squared_gradient"

    def run(self, run: int) -> dict[str, Column]:
        """Return the columns of one run, by its position among the seeds."""
        rows = self.columns["run"] == run
        return {name: column[rows] for name, column in self.columns.items()}

    def total_bits(self, downlink: float) -> Column:
        """Return the bits sent plus ``downlink`` times those received, at every recorded point."""
        return total_bits(self.columns["uplink_bits"], self.columns["downlink_bits"], downlink)

    def timed(self, network: Network) -> "Trace":
        """Return the trace with the column "seconds", modelled on a network."""
        counted = ("uplink_bits", "downlink_bits", "rounds", "gradients")
        seconds = network.seconds(*(self.columns[name] for name in counted))
        return replace(self, columns={**self.columns, SECONDS: seconds})

    def bits_to(
        self, accuracy: float, downlink: float = 0.0, measure: str | None = None
    ) -> NDArray[np.float64]:
        """Return the uplink bits per client at the first recorded measure <= accuracy, (R,).

        The measure is "gap", f - f*, or "squared_gradient"; by default the one that the runs aimed
        at. In that one the round is the first of all, if the accuracy is a power of ten, that of
        the budget or one of the record, and a constant of the problem is known. With a weight of
        the downlink, total bits. NaN for a run that does not reach the accuracy.
        """
        up, down = (self.cost_to(accuracy, f"{way}link_bits", measure) for way in ("up", "down"))
        return total_bits(up, down, downlink)

    def cost_to(
        self, accuracy: float, column: str, measure: str | None = None
    ) -> NDArray[np.float64]:
        """Return a column at the first recorded measure <= accuracy, (R,); NaN if there is none.

        See :meth:`bits_to`.

        Raises
        ------
        Refusal
            If the measure is none.
        """
        measure = self.measure if measure is None else measure
        require_measure(measure)
        costs = np.full(len(self.seeds), np.nan)
        reached = np.flatnonzero(self.columns[measure] <= accuracy)
        runs, first = np.unique(self.columns["run"][reached], return_index=True)
        costs[runs] = self.columns[column][reached[first]]
        return costs

    def final_bits(self, downlink: float = 0.0) -> Column:
        """Return the last uplink bits of every run, (R,); with a weight, its total bits."""
        return total_bits(self.final("uplink_bits"), self.final("downlink_bits"), downlink)

    def final(self, column: str) -> Column:
        """Return the last recorded value of a column for every run, (R,)."""
        last = np.searchsorted(self.columns["run"], np.arange(len(self.seeds)), side="right") - 1
        values: Column = self.columns[column][last]
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an npz file with a JSON header, atomically."""
        header = json.dumps({"specification": self.specification, "ending": self.ending})
        models = {} if self.x is None else {_MODEL: self.x}
        save_arrays(Path(path), {"header": np.array(header), **models, **self.columns})

    def to_pandas(self) -> Any:
        """Return a data frame with one row per recorded point, and the seed of its run.

        Raises
        ------
        Refusal
            If pandas is not installed.
        """
        pandas = _optional("pandas", "pandas")
        seeds = np.array(self.seeds)[self.columns["run"]]
        return pandas.DataFrame({"seed": seeds, **self.columns})

    def plot(self, x: str = "uplink_bits", downlink: float = 0.0) -> "Canvas":
        """Draw what the runs aimed at against a column, or "total_bits" with a downlink's weight.

        Raises
        ------
        Refusal
            If there is no such column, or the weight is negative or not finite.
        """
        known = [name for name in (*self.columns, TOTAL) if name != "run"]
        if x not in known:
            raise Refusal(f"a trace has no column {x!r}; choose one of {', '.join(known)}")
        require_weight(downlink)
        # not by an import statement: what draws a trace is not what it is kept under
        drawing = import_module("certibit.solvers.runs.trace_plot")
        weighed = replace(self, columns={**self.columns, TOTAL: self.total_bits(downlink)})
        canvas: Canvas = drawing.draw_runs(
            [weighed.run(run) for run in range(len(self.seeds))],
            x,
            self.measure,
            ((COLUMNS | MODELLED).get(x, bits_name(downlink)), MEASURES[self.measure]),
            repr(self),
        )
        return canvas

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Trace":
        """Read a file written by :meth:`save`.

        Raises
        ------
        FileNotFoundError, NotADirectoryError
            If there is none.
        DamagedFileError
            If it cannot be read, or does not hold a trace.
        """
        columns = load_arrays(Path(path))
        try:
            header = json.loads(str(columns.pop("header")))
            x = columns.pop(_MODEL, None)
            wrong = ", ".join(sorted(set(COLUMNS) ^ (set(columns) - set(MODELLED))))
            if wrong:
                raise ValueError(f"it does not have the columns of a trace; look at {wrong}")
            return cls(header["specification"], columns, tuple(header["ending"]), x)
        except (Refusal, ValueError, TypeError, KeyError) as fault:
            raise DamagedFileError(f"{path} is damaged ({fault})") from None


def require_no_negative_gap(gap: Column, dtype: object = None, scale: float = 0.0) -> None:
    """Refuse f - f* below 0 by more than rounding, relative to the largest and to a scale."""
    finite = gap[np.isfinite(gap)]
    rounding = 1e-2 if dtype == "float32" else 1e-9
    if finite.size and finite.min() < -rounding * (1 + np.abs(finite).max() + scale):
        raise Refusal(
            f"f - f* is {finite.min():.6g}, which is negative: f_star is above a value of f; give "
            "the infimum of f, and a gap that is value - f_star"
        )


def require_measure(measure: str) -> None:
    """Refuse what is no measure of accuracy."""
    if measure not in MEASURES:
        raise Refusal(f"the measure {measure!r} is unknown; choose {' or '.join(MEASURES)}")


def _optional(module: str, package: str) -> Any:
    """Import what is not needed to run a method."""
    try:
        return import_module(module)
    except ImportError:
        raise Refusal(f"this needs {package}; install it: pip install {package}") from None


def _range(values: Column) -> str:
    """Return the smallest and the largest number as text; where a value is none, it is left out."""
    ends = np.fmin.reduce(values), np.fmax.reduce(values)
    return " to ".join(dict.fromkeys(f"{end:.4g}" for end in ends))
