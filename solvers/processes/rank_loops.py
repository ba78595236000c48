"""The loop of a batch of runs over ranks: rank 0 decides, the others follow.

Rank 0 records and decides as one process does (:class:`~certibit.solvers.runs.points.Points`),
for which it holds the whole problem: f - f* is an observation, not part of the run. What depends on
the clients' own vectors, a checkpoint or the model of some methods, is gathered when it is needed.
A checkpoint is that of a run in one process: it goes on with any number of ranks, or without.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.problem import Problem
from certibit.solvers.method import Method
from certibit.solvers.parts import part_of
from certibit.solvers.processes.rank_world import RankChannel, RankOracle
from certibit.solvers.processes.ranks import Command, Ranks
from certibit.solvers.runs.carried import Carried
from certibit.solvers.runs.checkpoint import Checkpoint
from certibit.solvers.runs.loop import Progress
from certibit.solvers.runs.points import Points, Wishes
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import method_at
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.solvers.state import copied, copy_of, each, merge, narrow, take


class RankRuns:
    """Some runs of a method, as one rank has them.

    ``state`` holds arrays with the rows of the rank's clients; an array (1, d, R) is right at the
    server, and elsewhere if it was broadcast. All ranks call the same methods in the same order;
    ``whole_state``, ``resume`` and ``take_apart`` move data beside the messages of the method.
    """

    def __init__(
        self, ranks: Ranks, experiment: Experiment[Problem], seeds: tuple[int, ...]
    ) -> None:
        self._ranks, self._share = ranks, ranks.share(experiment.n)
        self._method: Method = experiment.method
        channel, oracle = simulated_world(experiment, seeds, wire=True)
        part = part_of(experiment.problem, self._share.clients)
        self._channel = RankChannel(channel, ranks)
        self._oracle = RankOracle(oracle, part, ranks, np.zeros(len(seeds), np.int64))
        self.ledger, self.streams = channel.ledger, channel.streams
        self.noise = oracle.tape.streams if oracle.tape else None
        self._iteration = np.zeros(len(seeds), np.int64)
        self.state = self._plain(
            self._method.start(copy_of(self._channel.template), self._oracle, self._channel)
        )

    def step(self) -> NDArray[np.bool_]:
        """Do an iteration of all runs, and say which of them communicated."""
        self._iteration = self._iteration + 1
        method, oracle, channel = self._method, self._oracle, self._channel
        method = method_at(method, self._iteration)
        state = method.local_step(self._held(copied(self.state)), oracle, channel)
        talking: NDArray[np.bool_] = np.asarray(channel.talking(method.schedule, self._iteration))
        if talking.all():
            state = method.communicate(copied(state), oracle, channel)
        self.state = self._plain(state)
        if talking.any() and not talking.all():
            runs = np.flatnonzero(talking)
            part = narrow(method, runs).communicate(
                self._held(take(self.state, runs)), oracle.at(runs), channel.at(runs)
            )
            self.state = merge(self.state, runs, self._plain(part))
        return talking

    def narrow(self, runs: NDArray[np.intp], with_state: bool = True) -> None:
        """Leave only some of the runs, by their positions."""
        self._method = narrow(self._method, runs)
        self._channel, self._oracle = self._channel.at(runs), self._oracle.at(runs)
        if with_state:
            self.state, self._iteration = take(self.state, runs), self._iteration[runs]

    def whole_state(self) -> Any:
        """Return the state of all clients, at rank 0."""
        n = self._share.n
        return each(lambda x: x if len(x) == 1 else self._ranks.gathered(x, n), self.state)

    def take_apart(self) -> NDArray[np.int64]:
        """Return the gradients that ranks have counted apart since the last time, (R,); rank 0."""
        counted = self._ranks.summed(self._oracle.apart)
        self._oracle.apart[:] = 0
        return counted

    def resume(self, now: Carried | None, told: dict[str, Any]) -> None:
        """Go on with what rank 0 has read; ``told`` says which runs, and what was drawn."""
        active = np.array(told["active"], dtype=np.intp)
        if now is None:
            for streams, drawn in ((self.streams, told["drawn"]), (self.noise, told["noise"])):
                if streams is not None:
                    streams.resume({name: np.array(x, np.int64) for name, x in drawn.items()})
        self.narrow(active, with_state=False)
        self._iteration = np.array(told["iteration"], np.int64)[active]
        read = take(self.state, np.zeros(active.size, np.intp)) if now is None else now.state
        self.state = each(self._resumed, read)

    def _resumed(self, x: NDArray[Any]) -> NDArray[Any]:
        x = np.asarray(x)
        return self._ranks.shared(x) if len(x) == 1 else self._ranks.scattered(x, self._share.n)

    def _held(self, state: Any) -> Any:
        return each(self._share.array, state)

    def _plain(self, state: Any) -> Any:
        return each(self._share.rows, state)


class GatheredCarried(Carried):
    """What runs over ranks carry; the state of the clients is gathered when it is written."""

    gather: Callable[[], None]

    def write(self) -> dict[str, NDArray[Any]]:
        """Return everything as named arrays."""
        self.gather()
        return super().write()


class ServerLoop:
    """The runs of a batch at rank 0; the parameters are those of ``Loop`` after ``ranks``."""

    def __init__(
        self,
        ranks: Ranks,
        experiment: Experiment[Problem],
        seeds: tuple[int, ...],
        wishes: Wishes,
        *,
        wire: bool,
    ) -> None:
        if wishes.catch_up:
            raise Refusal(
                "over processes a broadcast is sent to those that it is for, and counted so; leave "
                "catch_up or --mpi out"
            )
        started = time.perf_counter()
        self._ranks, self._wishes = ranks, wishes
        self._method, self._problem = experiment.method, experiment.problem
        self._runs = runs = RankRuns(ranks, experiment, seeds)
        models = np.full((1, experiment.d, len(seeds)), np.nan)
        self.now = GatheredCarried.at_start(
            self._whole(), models, runs.ledger, runs.streams, runs.noise
        )
        self.now.gather = self._gather
        self._model_needs_clients = _needs_clients(self._method, self.now.state)
        self._points = Points(self.now, wishes, started)
        self._points.watch(self._problem)
        self.now.settle = lambda: self._points.settle(self._method, self._problem)

    def finish(self, progress: Progress, number: int, checkpoint: Checkpoint | None) -> Carried:
        """Go on until no run is left; return what they carry then."""
        now, points = self.now, self._points
        if checkpoint and checkpoint.read(number, now):
            points.closed = now.done >= 1
            self._resume()
        else:
            self._note(np.arange(now.active.size))
            self._look()
        while not points.all_closed:
            self._ranks.tell(Command.STEP)
            talking = self._runs.step()
            now.iteration[now.active] += 1
            now.rounds[now.active[talking]] += 1
            if self._wishes.budget.gradients is not None:
                self._count()
            self._note(points.recordable(talking, self._problem.n), bool(talking.any()))
            if points.is_time():
                self._look()
                progress(float(now.done.min()))
            if checkpoint:
                checkpoint.write_if_due(number, now)
        if checkpoint:
            checkpoint.write(number, now)
        self._ranks.tell(Command.FINISHED)
        return now

    def _note(self, positions: NDArray[np.intp], talked: bool = True) -> None:
        if positions.size or talked:
            self._count()
            if self._model_needs_clients or self._wishes.potential is not None:
                self.now.state = self._whole()
            else:
                self.now.state = self._runs.state
            self._points.note(positions, self._method, self._problem)

    def _look(self) -> None:
        now, points = self.now, self._points
        points.look(self._method, self._problem)
        going = np.flatnonzero(~points.closed[now.active])
        if going.size < now.active.size:
            now.active = now.active[going]
            self._ranks.tell(Command.NARROW, runs=going.tolist())
            self._runs.narrow(going)
            self._narrow(going)
            now.state = self._runs.state

    def _narrow(self, runs: NDArray[np.intp]) -> None:
        self._method, self._problem = narrow(self._method, runs), narrow(self._problem, runs)

    def _resume(self) -> None:
        now = self.now
        told: dict[str, Any] = {
            "active": now.active.tolist(),
            "iteration": now.iteration.tolist(),
            "drawn": {name: x.tolist() for name, x in now.streams.drawn.items()},
            "noise": {name: x.tolist() for name, x in now.noise.drawn.items()} if now.noise else {},
        }
        self._ranks.tell(Command.RESUME, **told)
        self._runs.resume(now, told)
        self._narrow(now.active)

    def _gather(self) -> None:
        self._count()
        self.now.state = self._whole()

    def _whole(self) -> Any:
        self._ranks.tell(Command.STATE)
        return self._runs.whole_state()

    def _count(self) -> None:
        """Add what ranks have counted apart to the ledger."""
        self._ranks.tell(Command.GRADIENTS)
        self.now.ledger.gradients += self._runs.take_apart()


def follow_server(ranks: Ranks, experiment: Experiment[Problem], seeds: tuple[int, ...]) -> bool:
    """Do what rank 0 tells, for one batch of runs; say whether it has finished it."""
    runs = _unless_refused(partial(RankRuns, ranks, experiment, seeds))
    while True:
        command, told = ranks.hear()
        if command == Command.END:
            return False
        if command == Command.FINISHED:
            return True
        if command == Command.STEP:
            _unless_refused(runs.step)
        elif command == Command.NARROW:
            runs.narrow(np.array(told["runs"], dtype=np.intp))
        elif command == Command.STATE:
            runs.whole_state()
        elif command == Command.GRADIENTS:
            runs.take_apart()
        elif command == Command.RESUME:
            runs.resume(None, told)


def _unless_refused(work: Callable[[], Any]) -> Any:
    """Do what all ranks do; rank 0 reports a refusal and ends the others."""
    try:
        return work()
    except Refusal:
        return None


def _needs_clients(method: Any, state: Any) -> bool:
    """Say whether the model depends on what only the clients have."""
    blind = each(
        lambda x: x if len(x) == 1 or x.dtype.kind != "f" else np.full_like(x, np.nan), state
    )
    seen, unseen = np.asarray(method.model(state)), np.asarray(method.model(blind))
    return bool((np.isnan(unseen) & ~np.isnan(seen)).any())
