"""The runs of a batch on one rank: the state of its own clients, and the steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.problem import Problem
from certibit.solvers.method import Method
from certibit.solvers.parts import part_of
from certibit.solvers.processes.rank_world import RankChannel, RankOracle
from certibit.solvers.processes.ranks import Ranks
from certibit.solvers.runs.carried import Carried
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
