"""The loop of a run with cohorts, whose rounds cost what the clients of the cohort cost."""

import time
from dataclasses import dataclass, field, make_dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.files.archive import Arrays
from certibit.data.problem import Problem
from certibit.solvers.cohorts.client_streams import ClientStreams
from certibit.solvers.cohorts.cohort_array import CohortArray
from certibit.solvers.cohorts.cohort_parts import CohortParts
from certibit.solvers.cohorts.cohort_world import CohortChannel, CohortOracle
from certibit.solvers.cohorts.crowd import Crowd, VectorsOfClients
from certibit.solvers.method import Method
from certibit.solvers.runs.carried import Carried
from certibit.solvers.runs.checkpoint import Checkpoint
from certibit.solvers.runs.loop import Progress
from certibit.solvers.runs.points import Points, RecordedPotential, Wishes
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import method_at
from certibit.solvers.simulation.ledger import Ledger

Kept = dict[str, Any]
"""The fields of a state between two rounds: (1, d, 1), or the vectors of the clients."""


class CohortLoop:
    """One run of a method with cohorts; the parameters are those of ``Loop``.

    Gradients, messages and vectors are computed for the clients of the cohort only; the vectors of
    clients that never took part take no memory. Up to the rounding of sums, the run equals the run
    in which all clients are computed.

    Raises
    ------
    Refusal
        If the method needs all clients in a round, or more is asked for than a cohort world has.
    """

    def __init__(
        self,
        experiment: Experiment[Problem],
        seeds: tuple[int, ...],
        wishes: Wishes,
        *,
        wire: bool,
    ) -> None:
        if experiment.n < 2:
            raise Refusal("by_cohort is for several clients, and there is 1")
        started, problem = time.perf_counter(), experiment.problem
        self._method, self._problem = experiment.method, problem
        streams = ClientStreams(seeds[0])
        noise = None if problem.noise is None else ClientStreams(seeds[0])
        x_0 = problem.x_0
        x_0 = x_0 + array_namespace(x_0).zeros((1, 1, 1), dtype=x_0.dtype, device=device(x_0))
        ledger = Ledger(1)
        whole = Channel(
            problem.n, experiment.compressor, np.arange(1), streams, ledger, x_0, wire,
            catch_up=wishes.catch_up,
        )  # fmt: skip
        self._channel: CohortChannel = CohortChannel(whole, streams, self._crowd())
        self._parts = CohortParts(problem)
        self._oracle: CohortOracle = CohortOracle(
            problem, self._parts, self._channel, noise, self._method.needs.samples
        )
        template = self._channel.template
        self._kept: Kept = {}
        self._settle(self._method.start(template, self._oracle, self._channel))
        self._live: Any = None  # the state in the middle of a round
        models = np.full((1, experiment.d, 1), np.nan)
        self.now = CohortCarried.at_start(_flat(self._kept, 1), models, ledger, streams, noise)
        self.now.loop = self
        if wishes.potential is not None:
            wishes = replace(wishes, potential=self._potential(wishes.potential))
        self._points = Points(self.now, wishes, started)
        self._points.watch(problem)
        self.now.settle = lambda: self._points.settle(_Model(self._method), problem)  # type: ignore[arg-type]

    @property
    def kept(self) -> Kept:
        """The fields of the state after the last round."""
        return self._kept

    @kept.setter
    def kept(self, fields: Kept) -> None:
        self._kept = fields

    @property
    def n(self) -> int:
        """Number of clients."""
        return self._problem.n

    def finish(self, progress: Progress, number: int, checkpoint: Checkpoint | None) -> Carried:
        """Go on until the run has ended; return what it carries then."""
        now, points = self.now, self._points
        if checkpoint and checkpoint.read(number, now):
            points.closed = now.done >= 1
        else:
            self._note(np.arange(1))
            self._look()
        while not points.all_closed:
            talking = np.array([self._step()])
            now.rounds[now.active[talking]] += 1
            self._note(points.recordable(talking, self.n), bool(talking[0]))
            if points.is_time():
                self._look()
                progress(float(now.done.min()))
            if checkpoint and self._live is None:
                checkpoint.write_if_due(number, now)
        if checkpoint:
            checkpoint.write(number, now)
        return now

    def _step(self) -> bool:
        """Do an iteration; say whether a round has ended."""
        now = self.now
        now.iteration += 1
        method = method_at(self._method, now.iteration)
        start = self._view(self._crowd()) if self._live is None else self._live
        state = method.local_step(start, self._oracle, self._channel)
        talking = self._channel.talking(method.schedule, int(now.iteration[0]))
        if self._channel.crowd.is_everyone and state is not start:
            self._settle(state)
            state = self._view(self._channel.crowd) if talking else None
        if talking:
            self._settle(method.communicate(state, self._oracle, self._channel))
            state = None
        self._live = state
        return talking

    def _crowd(self) -> Crowd:
        """Return all clients, before a cohort is drawn."""
        return Crowd(self.n)

    def _view(self, crowd: Crowd) -> Any:
        """Return the state at the start of a round with some clients."""
        self._channel.crowd = crowd
        arrays = {
            name: CohortArray.kept(crowd, x)
            if isinstance(x, VectorsOfClients)
            else CohortArray.shared(crowd, x)
            for name, x in self._kept.items()
        }
        return self._state_class(**arrays)

    def _settle(self, state: Any) -> None:
        """Keep the fields of a state after a round; vectors that changed are written."""
        self._state_class, before, crowd = type(state), self._kept, self._channel.crowd
        self._kept = {name: _owned(name, x, before) for name, x in vars(state).items()}
        changed = {
            owner: vars(state)[name].rows
            for name, owner in self._kept.items()
            if isinstance(owner, VectorsOfClients) and _differs(vars(state)[name], owner)
        }
        if not changed:
            return
        if crowd.is_everyone:
            for owner in changed:
                owner.expect_all()
        for owner, rows in changed.items():
            owner.write(crowd.clients, np.broadcast_to(rows, (crowd.size, *rows.shape[1:])))

    def _note(self, positions: NDArray[np.intp], talked: bool = True) -> None:
        if positions.size or talked:
            between = self._live is None
            crowd = self._channel.crowd
            self.now.state = self._view(self._crowd()) if between else self._live
            self._points.note(positions, _Model(self._method), self._problem)  # type: ignore[arg-type]
            self._channel.crowd = crowd

    def _potential(self, potential: RecordedPotential) -> RecordedPotential:
        """Return a Lyapunov function of all clients; between rounds, as it is a sum over them."""
        functions = FunctionsOfAll(self._problem, self._parts)

        def measured(model: Any, state: Any, problem: Problem) -> Array:
            if self._live is not None:
                return np.full(1, np.nan)
            functions.crowd = self._channel.crowd
            x = potential(self._method, state, functions)
            return x.rows if isinstance(x, CohortArray) else x

        return measured

    def _look(self) -> None:
        self._points.look(self._method, self._problem)
        self.now.active = self.now.active[~self._points.closed[self.now.active]]


class CohortCarried(Carried):
    """What a run with cohorts carries; vectors of clients that were never written are not."""

    loop: CohortLoop

    def write(self) -> dict[str, NDArray[Any]]:
        """Return everything as named arrays."""
        self.state = _flat(self.loop.kept, self.active.size)
        return super().write()

    def read(self, written: Arrays) -> None:
        """Take what :meth:`write` gave in place of the start."""
        self.state = _flat(self.loop.kept, 1)
        super().read(written)
        if self.active.size:
            self.loop.kept = _unflattened(vars(self.state), self.loop.n)


@dataclass
class FunctionsOfAll:
    """A problem whose gradients are those of the clients of the crowd."""

    problem: Problem
    parts: CohortParts
    crowd: Crowd = field(init=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.problem, name)

    @property
    def grad_star(self) -> Any:
        """Gradients of all f_i at the solution, (n, d, 1), which are not stored."""
        return self.grad(CohortArray.shared(self.crowd, self.problem.x_star))

    def grad(self, x: Any) -> Any:
        """Gradients of all f_i at points of the clients, (n, d, 1)."""
        if not isinstance(x, CohortArray):
            return self.problem.grad(x)
        rows = self.parts.of(self.crowd.clients).grad(x.rows)
        return CohortArray(self.crowd, rows, None, True)

    def gap(self, x: Any) -> Array:
        """F + g at a point, (1, d, 1), less the infimum: (1,)."""
        return self.problem.gap(x.rows if isinstance(x, CohortArray) else x)


@dataclass(frozen=True)
class _Model:
    """The model of a method as a plain array."""

    method: Method

    def model(self, state: Any) -> Array:
        x = self.method.model(state)
        return x.rows if isinstance(x, CohortArray) else x


def _owned(name: str, x: Any, before: Kept) -> Any:
    """Return where a field is kept: that of the last round, or a new place."""
    if isinstance(x, np.ndarray):
        return x
    if not x.of_clients:
        return x.rows
    last, value = before.get(name), x.others
    if x.crowd.is_everyone and (x.unchanged or x.rows is not x.others):
        if isinstance(last, VectorsOfClients) and last.shape == x.shape:
            return last
        value = np.zeros((1, *x.shape[1:]), x.dtype)
    if isinstance(value, VectorsOfClients):
        return value if value is last else value.copy()
    if value is None:
        raise Refusal(
            f"a round changes {name} of clients outside of the cohort in a way that only they can "
            "compute; run this method without by_cohort"
        )
    return VectorsOfClients(x.crowd.n, value)


def _differs(x: Any, owner: VectorsOfClients) -> bool:
    """Whether the vectors of the cohort are not those that their owner has."""
    if x.unchanged:
        return x.crowd.is_everyone and x.others is not owner
    return x.rows is not x.others


def _flat(kept: Kept, runs: int) -> Any:
    """Return a state of plain arrays (., ., R), with R one or none."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, x in kept.items():
        if isinstance(x, VectorsOfClients):
            arrays |= {f"{name}{_OF}{part}": y for part, y in x.as_arrays().items()}
        else:
            arrays[name] = x
    return make_dataclass("Kept", arrays)(**{name: x[:, :, :runs] for name, x in arrays.items()})


def _unflattened(arrays: dict[str, NDArray[Any]], n: int) -> Kept:
    kept: Kept = {}
    of_clients: dict[str, dict[str, NDArray[Any]]] = {}
    for whole, x in arrays.items():
        name, _, part = whole.partition(_OF)
        if part:
            of_clients.setdefault(name, {})[part] = x
            kept[name] = None
        else:
            kept[name] = x
    made = {name: VectorsOfClients.from_arrays(n, x) for name, x in of_clients.items()}
    return kept | made


_OF = "__of__"
