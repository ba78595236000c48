"""The loop: runs a method with all its seeds as one array program and records the trace."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array, array_namespace, is_numpy
from bitbound.data.problem import Problem
from bitbound.solvers.backend import (
    fitting_library,
    host,
    mean,
    quiet_machine,
    squared_norm,
    transfer,
)
from bitbound.solvers.method import Method
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.carried import Carried
from bitbound.solvers.runs.checkpoint import Checkpoint
from bitbound.solvers.runs.origin import origin
from bitbound.solvers.runs.seeds import fitted_seeds
from bitbound.solvers.runs.trace import COLUMNS, Column, Trace
from bitbound.solvers.state import batch, copied, narrow, settled, take, taken
from bitbound.solvers.world.experiment import Experiment
from bitbound.solvers.world.iteration import advance, leap
from bitbound.solvers.world.local_steps import LocalSteps
from bitbound.solvers.world.memory import require_memory_of_runs
from bitbound.solvers.world.replay import Replay, at_once
from bitbound.solvers.world.simulation import simulated_world

Progress = Callable[[float], None]
"""Told the fraction of the work that is done, from 0 to 1."""

RecordedPotential = Callable[[Method, Any, Problem], Array]
"""Of a method, its state and the problem: the value of a Lyapunov function, (R,)."""

Callback = Callable[[Mapping[str, Column]], bool]
"""Of the columns of a recorded point and the models ``x``, (1, d, R): whether these runs end."""

_HELD = 1 << 22
"""Numbers in the vectors of a batch of runs: 32 MiB each."""

_POINTS, _LOOK = 64, 16
"""Points that are kept, and iterations, until somebody looks at the runs of a device."""


def simulate(
    experiment: Experiment[Problem],
    *,
    seeds: int | Sequence[int] = 5,
    budget: Budget,
    record: Record | None = None,
    wire: bool = False,
    library: str | None = None,
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
        Array library ("numpy", "cupy", "array-api-strict") and floating type of the run. By
        default cupy where there is a GPU and n d R is large, else numpy.
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
    method, problem, library = experiment.method, experiment.problem, str(settings["library"])
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

    On the host vectors (n, d, R) of a batch have at most 32 MiB, so that many runs of a large
    problem fit into memory, or one run. On an accelerator there is one batch.
    """
    width = max(1, _HELD // size) if library == "numpy" else runs
    return [np.arange(first, min(first + width, runs)) for first in range(0, runs, width)]


def specification(
    experiment: Experiment[Problem],
    *,
    seeds: int | Sequence[int] = 5,
    budget: Budget,
    record: Record | None = None,
    wire: bool = False,
    library: str | None = None,
    dtype: str = "float64",
    keep_model: bool = False,
) -> dict[str, object]:
    """Return everything that determines a trace, as JSON values; see :func:`simulate`."""
    method, problem = experiment.method, experiment.problem
    run_seeds = fitted_seeds(seeds, batch(method, problem))
    if library is None:
        library = "numpy" if wire else fitting_library(experiment.n * experiment.d * len(run_seeds))
    return {
        "problem": problem.specification,
        "method": {"name": method.name, "parameters": _values(method)},
        "compressor": experiment.compressor.name,
        "seeds": list(run_seeds),
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


@dataclass(frozen=True)
class _Point:
    """Some runs, each at an iteration, before anybody has looked at them.

    The models (1, d, R), what is spent and the Lyapunov function are those of all runs, on their
    device.
    """

    iteration: NDArray[np.int64]
    runs: NDArray[np.intp]
    positions: NDArray[np.intp]
    rounds: NDArray[np.int64]
    x: Array
    spent: Mapping[str, Array]
    lyapunov: Array

    def among(self, some: NDArray[np.bool_]) -> "_Point":
        """Leave out the other runs."""
        return replace(
            self,
            iteration=self.iteration[some],
            runs=self.runs[some],
            positions=self.positions[some],
            rounds=self.rounds[some],
        )


class _Simulation:
    """The runs that are still going, and the record of all.

    On a device runs that have ended go on, unseen, until all have; points are kept until somebody
    looks at them, so that the device is not waited for at every iteration.
    """

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
        self._points: list[_Point] = []
        self._closed = np.zeros(len(seeds), dtype=bool)  # their last point is kept, or recorded
        self._next_look = 0
        self.channel, self.oracle = simulated_world(experiment, seeds, wire)
        self._on_host = is_numpy(self.channel.template)
        self.now = Carried.at_start(
            copied(settled(self.method.start(self.channel.template, self.oracle, self.channel))),
            np.full((1, experiment.d, len(seeds)), np.nan),
            self.channel.ledger,
            self.channel.streams,
            self.oracle.tape.streams if self.oracle.tape else None,
        )
        self._prepare()

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
            self._closed = now.done >= 1
            if self._on_host:
                self._narrow(now.active)
        else:
            self._note(np.arange(now.active.size))
            self._look()
        while not self._closed[now.active].all():
            talking = np.flatnonzero(self._advance())
            now.rounds[now.active[talking]] += 1
            self._note(self._recordable(talking))
            if self._points and self._is_time():
                self._look()
                progress(float(now.done.min()))
            if checkpoint and not self._points:
                checkpoint.write_if_due(number, now)
        if checkpoint:
            checkpoint.write(number, now)
        return now.columns, tuple(now.ending)

    def _advance(self) -> NDArray[np.bool_]:
        """Go on by an iteration, or to the next round of each run; say who communicated.

        A callback is told runs that are at the same iteration, and may keep the model, which may
        be a view of the state.
        """
        now, world = self.now, (self.oracle, self.channel)
        if self._rounds is not None and now.rounds[now.active[0]]:
            rounds = max(1, min(self._rounds_ahead(self._rounds.most), self._rounds.ahead))
            now.state = self._rounds.done(rounds, now.state)
            now.iteration[now.active] += rounds
            now.rounds[now.active] += rounds - 1
            return np.ones(now.active.size, dtype=bool)
        if self._local_steps is None:
            now.iteration[now.active] += 1
            iteration, use_up = now.iteration[now.active], self.callback is None
            now.state, turns = advance(self.method, now.state, *world, iteration, use_up=use_up)
            return turns
        now.state, turns, now.iteration[now.active] = leap(
            self.method, now.state, *world, self._local_steps, now.iteration[now.active],
            self.budget.iterations, use_up=True,
        )  # fmt: skip
        return turns

    def _rounds_ahead(self, most: Mapping[str, int]) -> int:
        """Return how many rounds may be done before somebody looks, if each costs so much."""
        now, budget, n, runs = self.now, self.budget, self.problem.n, self.now.active
        ahead: list[NDArray[Any]] = [
            now.due[runs] - now.rounds[runs],
            budget.iterations - now.iteration[runs],
        ]
        if budget.rounds is not None:
            ahead.append(budget.rounds - now.rounds[runs])
        for column, limit in (("uplink_bits", budget.bits), ("gradients", budget.gradients)):
            if limit is not None and most[column]:
                ahead.append((limit * n - now.ledger.spent[column][runs]) // most[column])
        return int(min(x.min() for x in ahead))

    def _recordable(self, talking: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the active runs to be recorded: those due, and those at the end of a budget."""
        now, budget, n = self.now, self.budget, self.problem.n
        ended = now.iteration[now.active] >= budget.iterations
        talking = np.union1d(talking, np.flatnonzero(ended))
        talking = talking[~self._closed[now.active[talking]]]
        runs, over = now.active[talking], ended[talking]
        if budget.bits is not None:
            over |= now.ledger.reached("uplink_bits", runs, budget.bits * n)
        if budget.gradients is not None:
            over |= now.ledger.reached("gradients", runs, budget.gradients * n)
        if budget.rounds is not None:
            over |= now.rounds[runs] >= budget.rounds
        self._closed[runs[over]] = True
        return talking[over | (now.rounds[runs] >= now.due[runs])]

    def _note(self, positions: NDArray[np.intp]) -> None:
        """Keep what some of the active runs have now, to be recorded at the next look."""
        if not positions.size:
            return
        now, runs = self.now, self.now.active[positions]
        point = _Point(
            now.iteration[runs],
            runs,
            positions,
            now.rounds[runs],
            self.method.model(now.state),
            now.ledger.spent,
            self._lyapunov(positions),
        )
        self._points.append(point)
        now.due[runs] = self.record.following(now.rounds[runs])

    def _is_time(self) -> bool:
        """Whether somebody looks: on the host at once, on a device after a while."""
        return (
            self._on_host
            or self.callback is not None
            or len(self._points) >= _POINTS
            or self.now.iteration.max() >= self._next_look
            or bool(self._closed[self.now.active].all())
        )

    def _look(self) -> None:
        """Record all points that are kept, and let the runs drop out that have ended."""
        for point in self._points:
            going = point.among(self.now.done[point.runs] < 1)
            if going.runs.size:
                self._record(going)
        self._points.clear()
        furthest = int(self.now.iteration.max())
        self._next_look = max(furthest + _LOOK, int(1.02 * furthest))
        self._closed = self.now.done >= 1
        if self._on_host:
            self._keep(np.flatnonzero(~self._closed[self.now.active]))

    def _record(self, point: "_Point") -> None:
        """Record runs as they were at a point, and say which of them have ended."""
        now, n, runs = self.now, self.problem.n, point.runs
        everyone = runs.size == now.active.size
        method = self.method if everyone else narrow(self.method, point.positions)
        problem = self.problem if everyone else narrow(self.problem, point.positions)
        x = point.x if everyone else taken(point.x, point.positions)
        gap = host(problem.gap(x))
        if not point.iteration.any():
            now.first_gap[:] = gap
        spent = {name: host(column)[runs] for name, column in point.spent.items()}
        row = {
            "run": runs,
            "iteration": point.iteration,
            "rounds": point.rounds,
            "gradients": spent["gradients"] / n,
            "uplink_bits": spent["uplink_bits"] / n,
            "downlink_bits": spent["downlink_bits"] / n,
            "gap": gap,
            "synchronisations": spent["synchronisations"],
            "distance": host(squared_norm(x - problem.x_star))[0, 0],
            "squared_gradient": self._squared_gradient(method, problem, x),
            "lyapunov": host(point.lyapunov)[point.positions],
        }
        self.now.rows.append(row)
        self.budget.require_traffic(row)
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

    def _squared_gradient(self, method: Method, problem: Problem, x: Array) -> NDArray[np.float64]:
        """Return |grad f(x)|^2 where it is what theorems bound, else NaN; (R,)."""
        if method.needs.strongly_convex:
            return np.full(x.shape[2], np.nan)
        return host(squared_norm(mean(problem.grad(x))))[0, 0]

    def _lyapunov(self, positions: NDArray[np.intp]) -> Array:
        """Return the Lyapunov function of some of the active runs, NaN for others: (R,)."""
        missing = np.full(self.now.active.size, np.nan)
        if self.potential is None:
            return missing
        everyone = positions.size == missing.size or not self._on_host
        state = self.now.state if everyone else take(self.now.state, positions)
        method = self.method if everyone else narrow(self.method, positions)
        problem = self.problem if everyone else narrow(self.problem, positions)
        values = self.potential(method, state, problem)
        if everyone:
            return array_namespace(values).reshape(values, (-1,))
        missing[positions] = values.ravel()
        return missing

    def _keep(self, positions: NDArray[np.intp]) -> None:
        """Leave only some of the active runs, given by their positions."""
        if positions.size < self.now.active.size:
            self.now.active = self.now.active[positions]
            self.now.state = take(self.now.state, positions)
            self._narrow(positions)

    def _narrow(self, runs: NDArray[np.intp]) -> None:
        """Leave only some of the runs, by their positions, in the method and its world."""
        self.method = narrow(self.method, runs)
        self.channel, self.oracle = self.channel.at(runs), self.oracle.at(runs)
        self._prepare()

    def _prepare(self) -> None:
        """Find what the runs that are still going can do at once: local steps, or rounds."""
        self._local_steps: LocalSteps | Replay | None = None
        self._rounds: Replay | None = None
        if self._on_host and self.callback is None and self.now.active.size:
            world = self.oracle, self.channel
            self._local_steps, self._rounds = at_once(self.method, self.now.state, *world)
