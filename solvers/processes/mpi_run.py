"""One run over the processes of MPI, with encoded messages between them.

Each rank computes the gradients of its own clients, from their rows, and holds the state of these
clients alone. Rank 0 is the server, too: it receives every encoded message, decodes it, and sums
the vectors in the order of the clients, so that the trajectory is that of one process with
``wire=True`` on plain arrays. The other ranks have NaN in place of vectors that the
server has not broadcast, so that a method that uses them is noticed at once.

What travels is exactly the encoded message of every client. Its bytes are counted where they
arrive and compared with the bits of the ledger, rounded up per message; the clients' messages of
rank 0 go through MPI as well. A broadcast travels once to every rank.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from certibit.data.errors import Refusal
from certibit.data.problem import Problem
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.processes.rank_loops import ServerLoop, follow_server
from certibit.solvers.processes.ranks import Command, Ranks
from certibit.solvers.runs.engine import batches_of_runs, simulate
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment

T = TypeVar("T")


@dataclass(frozen=True)
class MPIRun:
    """One run over some ranks."""

    ranks: Ranks

    def simulated(
        self,
        experiment: Experiment[Problem],
        work: Callable[[Callable[..., Trace]], T],
        *,
        seeds: int | Sequence[int] = 5,
    ) -> T | None:
        """Call ``work`` at rank 0 with what simulates over all ranks; None at the others.

        Parameters
        ----------
        experiment : Experiment
            Made on every rank.
        work : callable
            Called with a function like :func:`~certibit.solvers.runs.engine.simulate`; it may call
            it or, if it has the trace already, not.
        seeds : int or sequence of int
            As for ``simulate``.
        """
        return _together(self.ranks, experiment, work, seeds)

    @property
    def moved(self) -> dict[str, int]:
        """The number of processes, and the bytes of the messages that rank 0 has received."""
        return {"processes": self.ranks.size, **asdict(self.ranks.traffic)}

    @property
    def sentence(self) -> str:
        """The same in words."""
        up, down = self.ranks.traffic.uplink_bytes, self.ranks.traffic.downlink_bytes
        return (
            f"{self.ranks.size} processes: {up:,} bytes of messages have reached the server, and "
            f"{down:,} each process."
        )


def processes_of_mpi() -> MPIRun:
    """Return the processes that ``mpirun`` has started; from here on only the first prints."""
    ranks = Ranks.start()
    ranks.silence()
    return MPIRun(ranks)


def _together(
    ranks: Ranks,
    experiment: Experiment[Problem],
    work: Callable[[Callable[..., Trace]], T],
    seeds: int | Sequence[int],
) -> T | None:
    ranks.share(experiment.n)
    try:
        if ranks.rank == 0:
            return _served(ranks, experiment, work, seeds)
        _follow_all(ranks, experiment, seeds)
    except Refusal:
        raise
    except BaseException as error:  # the other ranks wait for this one
        if not isinstance(error, KeyboardInterrupt):
            traceback.print_exception(error, file=sys.__stderr__)
        ranks.abort(130 if isinstance(error, KeyboardInterrupt) else 1)
        raise
    return None


def _served(
    ranks: Ranks,
    experiment: Experiment[Problem],
    work: Callable[[Callable[..., Trace]], T],
    seeds: Any,
) -> T:
    def simulated(given: Experiment[Problem], **options: Any) -> Trace:
        ranks.tell(Command.RUN)
        given_seeds = {"seeds": seeds, "wire": True, "library": "numpy"}
        return simulate(given, loop=partial(ServerLoop, ranks), **(options | given_seeds))

    try:
        result = work(simulated)
    except Refusal:
        ranks.tell(Command.END)
        raise
    ranks.tell(Command.END)
    return result


def _follow_all(ranks: Ranks, experiment: Experiment[Problem], seeds: Any) -> None:
    """Do what rank 0 tells until it has ended."""
    while ranks.hear()[0] == Command.RUN:
        with quiet_machine():
            for _, part, some in batches_of_runs(experiment, seeds, "numpy", "float64"):
                if not follow_server(ranks, part, some):
                    return
