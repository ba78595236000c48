"""The loop: runs a method with all its seeds as one array program and records the trace."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array
from bitbound.data.problem import Problem
from bitbound.solvers.backend import host, mean, quiet_machine, squared_norm, transfer
from bitbound.solvers.method import Method
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.carried import Carried
from bitbound.solvers.runs.checkpoint import Checkpoint
from bitbound.solvers.runs.origin import origin
from bitbound.solvers.runs.seeds import fitted_seeds
from bitbound.solvers.runs.trace import COLUMNS, Column, Trace
from bitbound.solvers.state import batch, narrow, settled, take
from bitbound.solvers.world.experiment import Experiment
from bitbound.solvers.world.iteration import advance
from bitbound.solvers.world.memory import require_memory_of_runs
from bitbound.solvers.world.simulation import simulated_world

Progress = Callable[[float], None]
"""Told the fraction of the work that is done, from 0 to 1."""

RecordedPotential = Callable[[Method, Any, Problem], Array]
"""Of a method, its state and the problem: the value of a Lyapunov function, (R,)."""

Callback = Callable[[Mapping[str, Column]], bool]
"""Of the columns of a recorded point and the models ``x``, (1, d, R): whether these runs end."""

_CACHED = 1 << 18
"""Numbers in the vectors of a batch of runs."""


def simulate(
    experiment: Experiment[Problem],
    *,
    seeds: int | Sequence[int] = 5,
    budget: Budget,
    record: Record | None = None,
    wire: bool = False,
    library: str = "numpy",
    dtype: str = "float64",
    potential: RecordedPotential | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    callback: Callback | None = None,
    keep_model: bool = False,
) -> Trace:
    """Run a method on a problem from its x_0, with R runs, as many at once as are fast.

    Parameters
    ----------
    experiment : Experiment
        The method with its parameters, numbers or arrays (1, 1, R) with one value per run, the
        problem and the compressor. What the problem names in ``per_run`` may differ between runs
        too.
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
    potential : callable, optional
        The Lyapunov function to be recorded, of method, state and problem.
    progress : callable, optional
        Told the fraction done, now and then.
    checkpoint : Checkpoint, optional
        Where the runs are kept while they go on, and gone on with if they have been stopped.
    callback : callable, optional
        Told every recorded point: its columns, and the models ``x``, (1, d, R). Where it returns
        true, these runs end.
    keep_model : bool
        Whether the trace has the last model of every run, ``x``.

    Returns
    -------
    Trace
        A run whose values are no longer finite has ended as "diverged"; nothing is raised.

    Raises
    ------
    Refusal
        If seeds, parameters or library do not fit each other, if the budget can never be met, or
        if the machine has not the memory.
    """
    settings = specification(
        experiment, seeds=seeds, budget=budget, record=record, wire=wire, library=library,
        dtype=dtype, keep_model=keep_model,
    )  # fmt: skip
    method, problem = experiment.method, experiment.problem
    run_seeds = fitted_seeds(seeds, batch(method, problem))
    budget.require_possible(method.schedule)
    if callback is None:
        budget.require_days(method, problem)
    tell = progress or (lambda fraction: None)
    parts: list[dict[str, Column]] = []
    models: list[Column] = []
    ending: tuple[str, ...] = ()
    batches = _batches(len(run_seeds), experiment.n * experiment.d, library)
    require_memory_of_runs(experiment, batches[0].size)
    with quiet_machine():
        for number, some in enumerate(batches):
            simulation = _Simulation(
                replace(
                    experiment,
                    method=transfer(narrow(method, some), library, dtype),
                    problem=transfer(narrow(problem, some), library, dtype),
                ),
                tuple(run_seeds[run] for run in some),
                budget,
                record or Record(),
                wire,
                potential,
                callback,
            )
            done, share = some[0] / len(run_seeds), some.size / len(run_seeds)
            columns, endings = simulation.finish(
                lambda part, done=done, share=share: tell(done + share * part),  # type: ignore[misc]
                number,
                checkpoint,
            )
            parts.append(columns | {"run": some[columns["run"]]})
            models.append(simulation.now.models)
            ending += endings
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    final = np.concatenate(models, axis=2) if keep_model else None
    return Trace(settings | {"origin": origin(problem)}, columns, ending, final)


def _batches(runs: int, size: int, library: str) -> list[NDArray[np.intp]]:
    """Divide the runs into batches, with vectors of one run of so many numbers, n d.

    On the host a batch is as large as fits into a cache, 2 MiB for a vector (n, d, R), and one run
    at least. On an accelerator there is one batch.
    """
    width = max(1, _CACHED // size) if library == "numpy" else runs
    return [np.arange(first, min(first + width, runs)) for first in range(0, runs, width)]


def specification(
    experiment: Experiment[Problem],
    *,
    seeds: int | Sequence[int] = 5,
    budget: Budget,
    record: Record | None = None,
    wire: bool = False,
    library: str = "numpy",
    dtype: str = "float64",
    keep_model: bool = False,
) -> dict[str, object]:
    """Return everything that determines a trace, as JSON values; see :func:`simulate`."""
    method, problem = experiment.method, experiment.problem
    return {
        "problem": problem.specification,
        "method": {"name": method.name, "parameters": _values(method)},
        "compressor": experiment.compressor.name,
        "seeds": list(fitted_seeds(seeds, batch(method, problem))),
        "budget": asdict(budget),
        "record": asdict(record or Record()),
        "wire": wire,
        "library": library,
        "dtype": dtype,
        **({"keep_model": True} if keep_model else {}),
    }


def _values(method: Method) -> dict[str, object]:
    """Return the parameters of a method as JSON values, arrays (1, 1, R) as lists."""
    values = asdict(method)
    return {name: x.ravel().tolist() if hasattr(x, "ravel") else x for name, x in values.items()}


class _Simulation:
    """The runs that are still going, and the record of all."""

    def __init__(
        self,
        experiment: Experiment[Problem],
        seeds: tuple[int, ...],
        budget: Budget,
        record: Record,
        wire: bool,
        potential: RecordedPotential | None,
        callback: Callback | None,
    ) -> None:
        self.method, self.potential, self.callback = experiment.method, potential, callback
        self.started = time.perf_counter()
        self.budget, self.record = budget, record
        self.channel, self.oracle = simulated_world(experiment, seeds, wire)
        self.now = Carried.at_start(
            settled(self.method.start(self.channel.template, self.oracle, self.channel)),
            np.full((1, experiment.d, len(seeds)), np.nan),
            self.channel.ledger,
            self.channel.streams,
            self.oracle.tape.streams if self.oracle.tape else None,
        )

    @property
    def problem(self) -> Problem:
        """The problem of the runs that are still going."""
        return self.oracle.problem

    def finish(
        self, progress: Progress, number: int, checkpoint: Checkpoint | None
    ) -> tuple[dict[str, Column], tuple[str, ...]]:
        """Go on until no run is left; give the recorded columns and what ended each run.

        The runs begin where the checkpoint has them, as the batch of this number, or at the start.
        """
        now = self.now
        if checkpoint and checkpoint.read(number, now):
            self._narrow(now.active)
        else:
            self._record(np.arange(now.active.size))
        while now.active.size:
            now.iteration += 1
            now.state, turns = advance(
                self.method, now.state, self.oracle, self.channel, now.iteration
            )
            talking = np.flatnonzero(turns)
            now.rounds[now.active[talking]] += 1
            recorded = self._recordable(talking)
            if recorded.size:
                self._record(recorded)
                progress(float(now.done.min()))
            if checkpoint:
                checkpoint.write_if_due(number, now)
        if checkpoint:
            checkpoint.write(number, now)
        return now.columns, tuple(now.ending)

    def _recordable(self, talking: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the active runs to be recorded: those due, and those at the end of a budget."""
        if self.now.iteration >= self.budget.iterations:
            return np.arange(self.now.active.size)
        runs = self.now.active[talking]
        due = self.now.rounds[runs] >= self.now.due[runs]
        if self.budget.bits is not None:
            due |= self.now.ledger.uplink_bits[runs] >= self.budget.bits * self.problem.n
        if self.budget.gradients is not None:
            due |= self.now.ledger.gradients[runs] >= self.budget.gradients * self.problem.n
        if self.budget.rounds is not None:
            due |= self.now.rounds[runs] >= self.budget.rounds
        return talking[due]

    def _record(self, positions: NDArray[np.intp]) -> None:
        """Record some of the active runs and let those drop out that have ended."""
        everyone = positions.size == self.now.active.size
        state = self.now.state if everyone else take(self.now.state, positions)
        method = self.method if everyone else narrow(self.method, positions)
        problem = self.problem if everyone else narrow(self.problem, positions)
        runs = self.now.active[positions]
        x = method.model(state)
        gap = host(problem.gap(x))
        if self.now.iteration == 0:
            self.now.first_gap[:] = gap
        ledger, n = self.now.ledger, self.problem.n
        row = {
            "run": runs,
            "iteration": np.full(runs.size, self.now.iteration),
            "rounds": self.now.rounds[runs],
            "gradients": ledger.gradients[runs] / n,
            "uplink_bits": ledger.uplink_bits[runs] / n,
            "downlink_bits": ledger.downlink_bits[runs] / n,
            "gap": gap,
            "synchronisations": ledger.synchronisations[runs],
            "distance": host(squared_norm(x - problem.x_star))[0, 0],
            "squared_gradient": self._squared_gradient(method, problem, x),
            "lyapunov": self._lyapunov(method, state, problem, runs.size),
        }
        self.now.rows.append(row)
        self.budget.require_traffic(row)
        self.now.due[runs] = self.record.following(self.now.rounds[runs])
        clock = np.full(runs.size, time.perf_counter() - self.started)
        used = self.budget.used(row | {"seconds": clock}, self.now.first_gap[runs])
        used["diverged"] = np.where(np.isfinite(gap), 0.0, 1.0)
        if self.callback is not None and self.callback(row | {"x": x}):
            used["callback"] = np.ones(runs.size)
        self.now.done[runs] = np.max(list(used.values()), axis=0)
        for ending, fraction in used.items():
            for run in runs[fraction >= 1]:
                self.now.ending[run] = ending
        ended = self.now.done[runs] >= 1
        self.now.models[:, :, runs[ended]] = host(x)[:, :, ended]
        self._drop(positions[ended])

    def _squared_gradient(self, method: Method, problem: Problem, x: Array) -> NDArray[np.float64]:
        """Return |grad f(x)|^2 where it is what theorems bound, else NaN; (R,)."""
        if method.needs.strongly_convex:
            return np.full(x.shape[2], np.nan)
        return host(squared_norm(mean(problem.grad(x))))[0, 0]

    def _lyapunov(
        self, method: Method, state: Any, problem: Problem, runs: int
    ) -> NDArray[np.float64]:
        """Return the Lyapunov function, NaN where none is recorded; (R,)."""
        if self.potential is None:
            return np.full(runs, np.nan)
        return host(self.potential(method, state, problem)).ravel()

    def _drop(self, positions: NDArray[np.intp]) -> None:
        if not positions.size:
            return
        keep = np.delete(np.arange(self.now.active.size), positions)
        self.now.active, self.now.state = self.now.active[keep], take(self.now.state, keep)
        self._narrow(keep)

    def _narrow(self, runs: NDArray[np.intp]) -> None:
        """Leave only some of the runs, by their positions, in the method and its world."""
        self.method = narrow(self.method, runs)
        self.channel, self.oracle = self.channel.at(runs), self.oracle.at(runs)
