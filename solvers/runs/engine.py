"""The loop: runs a method with all its seeds as one array program and records the trace."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from bitbound.data.arrays import Array, array_namespace
from bitbound.data.problem import Problem
from bitbound.solvers.backend import host, quiet_machine, squared_norm, total, transfer
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.fit import fitting_compressor, fitting_seeds, fitting_view
from bitbound.solvers.method import Every, Gap, Method, Terms, WithProbability
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.trace import COLUMNS, Column, Trace
from bitbound.solvers.state import batch, merge, narrow, take
from bitbound.solvers.world.channel import Channel, Ledger, Oracle
from bitbound.solvers.world.randomness import Streams
from bitbound.solvers.world.tape import Tape

Progress = Callable[[float], None]
"""Told the fraction of the work that is done, from 0 to 1."""

_CACHED = 1 << 18
"""Numbers in the vectors of a batch of runs."""


def simulate(
    method: Method,
    problem: Problem,
    compressor: Compressor | None = None,
    *,
    seeds: int | Sequence[int] = 5,
    budget: Budget,
    record: Record | None = None,
    wire: bool = False,
    library: str = "numpy",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> Trace:
    """Run a method on a problem from its x_0, with R runs, as many at once as are fast.

    Parameters
    ----------
    method : Method
        The method with its parameters: numbers, or arrays (1, 1, R) with one value per run.
    problem : Problem
        The problem; the method is given the view that it needs, with a shared g or without.
        What it names in ``per_run`` may differ between runs too.
    compressor : Compressor, optional
        The compressor of every client; none means uncompressed.
    seeds : int or sequence of int
        The run seeds, or how many. Two are equal only if parameters differ between runs.
    budget : Budget
        When a run ends. Runs that are finished drop out of the batch.
    record : Record, optional
        Which rounds are recorded.
    wire : bool
        Send every message through its bytes, which rounds values to 32-bit floats.
    library, dtype : str
        Array library ("numpy", "cupy", "array-api-strict") and floating type of the run.
    progress : callable, optional
        Told the fraction done, now and then.

    Returns
    -------
    Trace
        A run whose values are no longer finite has ended as "diverged"; nothing is raised.

    Raises
    ------
    Refusal
        If method, problem, compressor, seeds or library do not fit each other.
    """
    settings = specification(
        method, problem, compressor, seeds=seeds, budget=budget, record=record, wire=wire,
        library=library, dtype=dtype,
    )  # fmt: skip
    run_seeds = fitting_seeds(seeds, batch(method, problem))
    tell = progress or (lambda fraction: None)
    parts: list[dict[str, Column]] = []
    ending: tuple[str, ...] = ()
    with quiet_machine():
        for some in _batches(len(run_seeds), problem.n * problem.d, library):
            simulation = _Simulation(
                transfer(narrow(method, some), library, dtype),
                transfer(narrow(fitting_view(method, problem), some), library, dtype),
                fitting_compressor(method, compressor, problem.d),
                tuple(run_seeds[simulate] for simulate in some),
                budget,
                record or Record(),
                wire,
            )
            done, share = some[0] / len(run_seeds), some.size / len(run_seeds)
            columns, endings = simulation.finish(
                lambda part, done=done, share=share: tell(done + share * part)  # type: ignore[misc]
            )
            parts.append(columns | {"run": some[columns["run"]]})
            ending += endings
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    return Trace(settings, columns, ending)


def _batches(runs: int, size: int, library: str) -> list[NDArray[np.intp]]:
    """Divide the runs into batches, with vectors of one run of so many numbers, n d.

    On the host a batch is as large as fits into a cache, 2 MiB for a vector (n, d, R), and one run
    at least: larger ones are slower. On an accelerator there is one batch.
    """
    width = max(1, _CACHED // size) if library == "numpy" else runs
    return [np.arange(first, min(first + width, runs)) for first in range(0, runs, width)]


def specification(
    method: Method,
    problem: Problem,
    compressor: Compressor | None = None,
    *,
    seeds: int | Sequence[int] = 5,
    budget: Budget,
    record: Record | None = None,
    wire: bool = False,
    library: str = "numpy",
    dtype: str = "float64",
) -> dict[str, Any]:
    """Return everything that determines a trace, as JSON values; see :func:`simulate`."""
    return {
        "problem": fitting_view(method, problem).specification,
        "method": {"name": method.name, "parameters": _values(method)},
        "compressor": fitting_compressor(method, compressor, problem.d).name,
        "seeds": list(fitting_seeds(seeds, batch(method, problem))),
        "budget": asdict(budget),
        "record": asdict(record or Record()),
        "wire": wire,
        "library": library,
        "dtype": dtype,
    }


def _values(method: Any) -> dict[str, object]:
    """Return the parameters of a method as JSON values, arrays (1, 1, R) as lists."""
    values = asdict(method)
    return {name: x.ravel().tolist() if hasattr(x, "ravel") else x for name, x in values.items()}


def value(terms: Terms, problem: Problem) -> Array:
    """Evaluate a Lyapunov function from its terms: (R,)."""
    result: Array = 0.0
    for term in terms:
        if isinstance(term, Gap):
            result = result + term.weight * problem.gap(term.point)
        else:
            result = result + term.weight * total(squared_norm(term.vectors))[0, 0, :]
    return result


class _Simulation:
    """The runs that are still going, and the record of all."""

    def __init__(
        self,
        method: Method,
        problem: Problem,
        compressor: Compressor,
        seeds: tuple[int, ...],
        budget: Budget,
        record: Record,
        wire: bool,
    ) -> None:
        self.method = method
        self.budget, self.record = budget, record
        self.active = np.arange(len(seeds))
        self.streams, self.ledger = Streams(seeds), Ledger(len(seeds))
        xp, x_0 = array_namespace(problem.x_0), problem.x_0
        x = x_0 + xp.zeros((1, 1, len(seeds)), dtype=x_0.dtype, device=device(x_0))
        self.channel = Channel(
            problem.n, compressor, self.active, self.streams, self.ledger, x, wire
        )
        tape = Tape.of(problem.noise, seeds) if problem.noise else None
        self.oracle = Oracle(problem, self.active, self.ledger, tape)
        self.state = method.start(x, self.oracle, self.channel)
        self.star = method.fixed_point(problem)
        self.iteration = 0
        self.rounds = np.zeros(len(seeds), dtype=np.int64)
        self.first_gap = np.zeros(len(seeds))
        self.due = np.ones(len(seeds), dtype=np.int64)
        self.done = np.zeros(len(seeds))
        self.ending = [""] * len(seeds)
        self.rows: list[dict[str, Column]] = []

    @property
    def problem(self) -> Problem:
        """The problem of the runs that are still going."""
        return self.oracle.problem

    def finish(self, progress: Progress) -> tuple[dict[str, Column], tuple[str, ...]]:
        """Go on until no run is left; give the recorded columns and what ended each run."""
        self._record(np.arange(len(self.active)))
        while self.active.size:
            self.iteration += 1
            self.state = self.method.local_step(self.state, self.oracle, self.channel)
            talking = self._talking()
            if talking.size:
                self._communicate(talking)
            recorded = self._recordable(talking)
            if recorded.size:
                self._record(recorded)
                progress(float(self.done.min()))
        columns = {name: np.concatenate([row[name] for row in self.rows]) for name in COLUMNS}
        order = np.argsort(columns["run"], kind="stable")
        return {name: column[order] for name, column in columns.items()}, tuple(self.ending)

    def _talking(self) -> NDArray[np.intp]:
        """Return the positions of the active runs that communicate now."""
        schedule = self.method.schedule
        if isinstance(schedule, WithProbability):
            coins = self.streams.uniform("round", self.active, (1, 1))[0, 0] < schedule.p
            return np.flatnonzero(coins)
        talks = isinstance(schedule, Every) and self.iteration % schedule.iterations == 0
        return np.arange(self.active.size if talks else 0)

    def _communicate(self, talking: NDArray[np.intp]) -> None:
        if talking.size == self.active.size:
            self.state = self.method.communicate(self.state, self.oracle, self.channel)
        else:
            part = narrow(self.method, talking).communicate(
                take(self.state, talking), self.oracle.at(talking), self.channel.at(talking)
            )
            self.state = merge(self.state, talking, part)
        self.rounds[self.active[talking]] += 1

    def _recordable(self, talking: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the active runs to be recorded: those due, and those at the end of a budget."""
        if self.iteration >= self.budget.iterations:
            return np.arange(self.active.size)
        runs = self.active[talking]
        due = self.rounds[runs] >= self.due[runs]
        if self.budget.bits is not None:
            due |= self.ledger.uplink_bits[runs] >= self.budget.bits * self.problem.n
        if self.budget.rounds is not None:
            due |= self.rounds[runs] >= self.budget.rounds
        return talking[due]

    def _record(self, positions: NDArray[np.intp]) -> None:
        """Record some of the active runs and let those drop out that have ended."""
        everyone = positions.size == self.active.size
        state = self.state if everyone else take(self.state, positions)
        method = self.method if everyone else narrow(self.method, positions)
        problem = self.problem if everyone else narrow(self.problem, positions)
        runs = self.active[positions]
        x = method.model(state)
        gap = host(problem.gap(x))
        if self.iteration == 0:
            self.first_gap = gap
        ledger, n = self.ledger, self.problem.n
        row = {
            "run": runs,
            "iteration": np.full(runs.size, self.iteration),
            "rounds": self.rounds[runs],
            "gradients": ledger.gradients[runs] / n,
            "uplink_bits": ledger.uplink_bits[runs] / n,
            "downlink_bits": ledger.downlink_bits[runs] / n,
            "gap": gap,
            "synchronisations": ledger.synchronisations[runs],
            "distance": host(squared_norm(x - problem.x_star))[0, 0],
            "lyapunov": host(value(method.lyapunov(state, self.star, problem), problem)).ravel(),
        }
        self.rows.append(row)
        self.due[runs] = self.record.following(self.rounds[runs])
        used = self.budget.used(row, self.first_gap[runs])
        used["diverged"] = np.where(np.isfinite(gap), 0.0, 1.0)
        self.done[runs] = np.max(list(used.values()), axis=0)
        for ending, fraction in used.items():
            for simulate in runs[fraction >= 1]:
                self.ending[simulate] = ending
        self._drop(positions[self.done[runs] >= 1])

    def _drop(self, positions: NDArray[np.intp]) -> None:
        if not positions.size:
            return
        keep = np.delete(np.arange(self.active.size), positions)
        self.active = self.active[keep]
        self.state, self.method = take(self.state, keep), narrow(self.method, keep)
        self.channel, self.oracle = self.channel.at(keep), self.oracle.at(keep)
