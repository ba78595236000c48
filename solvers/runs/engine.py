"""The engine: runs a method with all its seeds, in batches that are one array program each."""

import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import is_numpy
from certibit.data.errors import Refusal
from certibit.data.memory import require_memory
from certibit.data.own.description import description
from certibit.data.problem import Problem, is_strongly_convex
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.libraries import fitting_library, namespace, transfer
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.checkpoint import Carried, Checkpoint
from certibit.solvers.runs.points import Callback, Points, RecordedPotential, Wishes
from certibit.solvers.runs.trace import Column, Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import advance, simulated_world, world_of_runs
from certibit.solvers.state import batch, copied, copy_of, narrow, take

Progress = Callable[[float], None]
"""Told the fraction of the work that is done, from 0 to 1."""


class Loop:
    """The runs that are still going.

    On a device runs that have ended go on, unseen, until all have.
    """

    def __init__(
        self,
        experiment: Experiment[Problem],
        seeds: tuple[int, ...],
        wishes: Wishes,
        *,
        wire: bool,
    ) -> None:
        started = time.perf_counter()
        self._wishes, self._method = wishes, experiment.method
        self._channel, self._oracle = simulated_world(experiment, seeds, wire)
        self._channel = replace(self._channel, catch_up=wishes.catch_up)
        self._on_host = is_numpy(self._channel.template)
        x = copy_of(self._channel.template)
        start = self._method.start(x, self._oracle, self._channel)
        self.now = Carried.at_start(
            copied(start),
            np.full((1, experiment.d, len(seeds)), np.nan),
            self._channel.ledger,
            self._channel.streams,
            self._oracle.tape.streams if self._oracle.tape else None,
        )
        self._points = Points(self.now, wishes, started)
        self._points.watch(experiment.problem)
        self.now.settle = lambda: self._points.settle(self._method, self._oracle.problem)
        self._channel, self._oracle = world_of_runs(self._channel, self._oracle)

    def finish(self, progress: Progress, number: int, checkpoint: Checkpoint | None) -> Carried:
        """Go on until no run is left; return what they carry then.

        The runs begin where the checkpoint has them, as the batch of this number, or at the start.
        """
        now, points = self.now, self._points
        if checkpoint and checkpoint.read(number, now):
            points.closed = now.done >= 1
            if self._on_host:
                self._narrow(now.active)
        else:
            self._note(np.arange(now.active.size))
            self._look()
        while not points.all_closed:
            talking = self._advance()
            now.rounds[now.active[talking]] += 1
            self._note(points.recordable(talking, self._oracle.n))
            if points.is_time():
                self._look()
                progress(float(now.done.min()))
            if checkpoint and points.none_kept:
                checkpoint.write_if_due(number, now)
        if checkpoint:
            checkpoint.write(number, now)
        return now

    def _note(self, positions: NDArray[np.intp]) -> None:
        self._points.note(positions, self._method, self._oracle.problem)

    def _look(self) -> None:
        """Record what is kept, and let the runs drop out that have ended."""
        now, points = self.now, self._points
        points.look(self._method, self._oracle.problem)
        going = np.flatnonzero(~points.closed[now.active])
        if self._on_host and going.size < now.active.size:
            now.active = now.active[going]
            now.state = take(now.state, going)
            self._narrow(going)

    def _advance(self) -> NDArray[np.bool_]:
        """Go on by an iteration; say which runs communicated."""
        now = self.now
        now.iteration[now.active] += 1
        iteration = now.iteration[now.active]
        now.state, talking = advance(
            self._method, now.state, self._oracle, self._channel, iteration
        )
        return talking

    def _narrow(self, runs: NDArray[np.intp]) -> None:
        """Leave only some of the runs, by their positions, in the method and its world."""
        self._method = narrow(self._method, runs)
        self._channel, self._oracle = self._channel.at(runs), self._oracle.at(runs)


_ROOT = Path(__file__).resolve().parents[2]


def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def origin(problem: Problem) -> dict[str, object]:
    """Return the origin of a trace, as JSON values.

    The commit is None where this is no checkout, the storage where a problem has no rows, the
    error of x* where a problem says none.
    """
    from importlib.metadata import version  # noqa: PLC0415  (slow to import)

    return {
        "certibit": version("certibit"),
        **versions(),
        "commit": commit(_ROOT),
        "storage": getattr(problem, "storage", None),
        "x_star_error": getattr(problem, "x_star_error", None),
    }


@cache
def commit(root: Path) -> str | None:
    """Return the commit of a checkout, with ``-dirty`` if files differ from it; else None."""
    if not (root / ".git").exists():
        return None
    words = [
        "git",
        "-C",
        str(root),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=40",
        "--exclude=*",
    ]
    try:
        told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip()


_NUMBERS = 24
"""What a run needs at least: its seed, and two recorded points."""


_HELD = 1 << 22
"""Numbers in the vectors of a batch of runs: 32 MiB each."""

_VECTORS = 32
"""Vectors (n, d, R) that the memory of a device is to hold: of states, messages and masks."""


def _fitted_seeds(seeds: int | Sequence[int], batch: int = 1) -> tuple[int, ...]:
    """Return the run seeds; a number R stands for the seeds 0, ..., R - 1.

    ``batch`` is the number of runs that method and problem are made for. If it is not 1, runs
    differ in their parameters too, and two may have the same seed.

    Raises
    ------
    Refusal
        If there is none, one is negative or not a whole number, two runs are the same, or their
        number is not that of the batch; or if the machine has not the memory for so many.
    """
    many = f"the seeds {seeds!r} are not all whole numbers >= 0; give such as 0, 1, 2"
    if not isinstance(seeds, int | np.integer | Sequence | np.ndarray):
        raise Refusal(many)
    count = seeds if isinstance(seeds, int | np.integer) else len(seeds)
    require_memory(count * _NUMBERS, f"a batch of {count} runs")
    chosen = range(seeds) if isinstance(seeds, int | np.integer) else seeds
    if any(not isinstance(seed, int | np.integer) or seed < 0 for seed in chosen):
        raise Refusal(many)
    if batch != 1 and len(chosen) != batch:
        raise Refusal(
            f"there are {len(chosen)} seeds and parameters for {batch} runs; give one seed per run"
        )
    if not len(chosen) or (batch == 1 and len(set(chosen)) != len(chosen)):
        raise Refusal(f"the seeds {seeds!r} must be at least one and all different")
    return tuple(int(seed) for seed in chosen)


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
    catch_up: bool = False,
) -> Trace:
    """Run a method on a problem from its x_0, R runs in batches of a fast size.

    Parameters
    ----------
    experiment : Experiment
        The method with its parameters, numbers or arrays (1, 1, R) with one value per run, the
        problem and the compressor. The fields that the problem names in ``per_run`` may differ
        between runs, too.
    seeds : int or sequence of int
        The run seeds, or their number. Two may be equal only if parameters differ between runs.
    budget : Budget
        Limits of every run. Finished runs leave the batch.
    record : Record, optional
        Which rounds are recorded.
    wire : bool
        Send every message through its bytes, which rounds values to 32-bit floats.
    library, dtype : str
        Array library ("numpy", "cupy", "torch", "torch:cuda") and floating type of the run. By
        default cupy where there is a GPU and n d R is large, else numpy.
    potential : callable, optional
        The Lyapunov function to be recorded, of method, state and problem.
    progress : callable, optional
        Called with the fraction that is done.
    checkpoint : Checkpoint, optional
        The file in which unfinished runs are stored, and from which they are continued.
    callback : callable, optional
        Called at every recorded point with its columns and the models ``x``, (1, d, R). The runs
        end if it returns true.
    keep_model : bool
        Whether the trace stores the last model of every run as ``x``.
    catch_up : bool
        Count the bits of every broadcast for all clients: those that are away receive it, too, now
        or when they come back. By default, as papers do, a broadcast is counted for its cohort.

    Returns
    -------
    Trace
        A run whose values are no longer finite ends as "diverged", without an exception.

    Raises
    ------
    Refusal
        If seeds, parameters or library do not fit each other, or if the memory of the machine is
        too small.
    """
    settings = specification(
        experiment, seeds=seeds, budget=budget, record=record, wire=wire, library=library,
        dtype=dtype, keep_model=keep_model, catch_up=catch_up,
    )  # fmt: skip
    method, problem, library = experiment.method, experiment.problem, str(settings["library"])
    run_seeds = _fitted_seeds(seeds, batch(method, problem))
    tell = progress or (lambda fraction: None)
    bounded = not (method.needs.strongly_convex and is_strongly_convex(problem))
    gradients = bounded or budget.measure == "squared_gradient"
    wishes = Wishes(budget, record or Record(), potential, callback, gradients, catch_up)
    parts: list[dict[str, Column]] = []
    models: list[Column] = []
    ending: list[str] = []
    batches = list(_batches_of_runs(experiment, seeds, library, dtype))
    n, d, runs = experiment.n, experiment.d, len(batches[0][0])
    least = 2 * n * d * runs  # gradients, and what is made of them
    require_memory(least, f"{method.name} with {n} clients, {d} features and {runs} runs at once")
    with quiet_machine():
        for number, (some, part, own_seeds) in enumerate(batches):
            going = Loop(part, own_seeds, wishes, wire=wire)
            done, share = some[0] / len(run_seeds), some.size / len(run_seeds)
            end = going.finish(
                lambda fraction, done=done, share=share: tell(done + share * fraction),  # type: ignore[misc]
                number,
                checkpoint,
            )
            columns = end.columns
            parts.append(columns | {"run": some[columns["run"]]})
            models.append(end.models)
            ending += end.ending
    columns = {name: np.concatenate([some[name] for some in parts]) for name in parts[0]}
    final = np.concatenate(models, axis=2) if keep_model else None
    return Trace(settings | {"origin": origin(problem)}, columns, tuple(ending), final)


def _batches_of_runs(
    experiment: Experiment[Problem], seeds: int | Sequence[int], library: str, dtype: str
) -> Iterator[tuple[NDArray[np.intp], Experiment[Problem], tuple[int, ...]]]:
    """Yield batches of the runs: their positions, their experiment, their seeds."""
    method, problem = experiment.method, experiment.problem
    run_seeds = _fitted_seeds(seeds, batch(method, problem))
    for some in _batches(len(run_seeds), experiment.n * experiment.d, library):
        part = replace(
            experiment,
            method=transfer(narrow(method, some), library, dtype),
            problem=transfer(narrow(problem, some), library, dtype),
        )
        yield some, part, tuple(run_seeds[run] for run in some)


def _batches(runs: int, size: int, library: str) -> list[NDArray[np.intp]]:
    """Divide the runs into batches, with vectors of one run of so many numbers, n d.

    On the host vectors (n, d, R) of a batch have at most 32 MiB, so that many runs of a large
    problem fit into memory, or one run. On a device a batch fits into its memory, too.
    """
    most = _HELD if library == "numpy" else _free_bytes(library) / (8 * _VECTORS)
    width = max(1, int(min(most / size, runs)))
    return [np.arange(first, min(first + width, runs)) for first in range(0, runs, width)]


def _free_bytes(library: str) -> float:
    """Return the free memory of the device of a library, infinite where it is not known."""
    if library == "cupy":
        return float(namespace(library).cuda.Device().mem_info[0])
    return namespace(library).cuda.mem_get_info()[0] if library == "torch:cuda" else np.inf


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
    catch_up: bool = False,
) -> dict[str, object]:
    """Return everything that determines a trace, as JSON values; see :func:`simulate`."""
    if not isinstance(budget, Budget):
        raise Refusal(f"{budget!r} is no budget; give such as Budget(rounds=1000, gap=1e-6)")
    method, problem = experiment.method, experiment.problem
    run_seeds = _fitted_seeds(seeds, batch(method, problem))
    if library is None:
        size = experiment.n * experiment.d * len(run_seeds)
        library = "numpy" if wire else fitting_library(size)
    return {
        "problem": problem.specification,
        "method": {"name": method.name, "parameters": _values(method)},
        "compressor": experiment.compressor.name,
        "seeds": list(run_seeds),
        "budget": budget.described,
        "record": (record or Record()).described,
        "wire": wire,
        "library": library,
        "dtype": dtype,
        **({"keep_model": True} if keep_model else {}),
        **({"catch_up": True} if catch_up else {}),
    }


def _values(method: Method) -> dict[str, object]:
    """Return the parameters of a method as JSON values, arrays (1, 1, R) as lists."""
    values = {field.name: getattr(method, field.name) for field in fields(method)}
    return {
        name: x.ravel().tolist() if hasattr(x, "ravel") else description(x)
        for name, x in values.items()
    }
