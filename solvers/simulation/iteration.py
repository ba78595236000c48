"""The simulated world, and one iteration in any world: a local step, then possibly a round."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import array_namespace, is_numpy
from certibit.data.problem import Problem
from certibit.solvers.backend import where
from certibit.solvers.compressors.composition import downward
from certibit.solvers.method import Every, Method, Varying
from certibit.solvers.registry import registered
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.ledger import Turn, ledger_of
from certibit.solvers.simulation.oracle import Oracle, Tape
from certibit.solvers.simulation.randomness import streams_of
from certibit.solvers.state import Dataclass, copied, each, merge, narrow, take


def simulated_world(
    experiment: Experiment[Problem], seeds: Sequence[int] = (0,), wire: bool = False
) -> tuple[Channel, Oracle]:
    """Return channel and gradients of runs with some seeds; the channel's template is x_0.

    Parameters
    ----------
    experiment : Experiment
        The method with its problem, of any array library, and compressor.
    seeds : sequence of int
        One for each run.
    wire : bool
        Whether every message goes through its bytes.
    """
    problem, x_0 = experiment.problem, experiment.problem.x_0
    xp = array_namespace(x_0)
    start = x_0 + xp.zeros((1, 1, len(seeds)), dtype=x_0.dtype, device=device(x_0))
    method = experiment.method
    alike = isinstance(method.schedule, Every)
    tape = Tape.of(problem.noise, seeds, start, alike) if problem.noise else None
    streams = streams_of(seeds, start)
    runs = streams.everyone
    ledger = ledger_of(runs)
    channel = Channel(problem.n, experiment.compressor, runs, streams, ledger, start, wire)
    if not is_numpy(start):  # not in the middle of a run
        for sent in (experiment.compressor, downward(experiment.compressor)):
            channel.message_bits(sent, problem.d)
    return channel, Oracle(problem, runs, ledger, tape, method.needs.samples)


S = TypeVar("S", bound=Dataclass)


class Extension(Protocol):
    """The interface of a registered extension."""

    def world(self, channel: Channel, oracle: Oracle) -> tuple[Channel, Oracle] | None:
        """Return a channel and an oracle that do the same as these; None if it has none."""


def method_at(method: Method, iteration: int | NDArray[np.int64]) -> Method:
    """Return the method of an iteration, counted from 1, or of those of the runs, (R,).

    Parameters that change are numbers if all runs are at the same iteration, else (1, 1, R).
    """
    if not isinstance(method, Varying):
        return method
    steps = np.unique(iteration) - 1
    return method.at(int(steps[0]) if steps.size == 1 else np.reshape(iteration, (1, 1, -1)) - 1)


def advance(
    method: Method, s: S, problem: Any, channel: Any, iteration: int | NDArray[np.int64] = 1
) -> tuple[S, NDArray[np.bool_]]:
    """Do one iteration: a local step on every client, then a round in the runs whose turn it is.

    The method gets copies of the arrays of the state, and may write into them.

    Parameters
    ----------
    method, s
        The method, and its state of R runs.
    problem, channel
        The world. Where only some of the runs communicate, both are narrowed by their ``at``.
    iteration : int or (R,) int
        Its number, counted from 1.

    Returns
    -------
    state, talking
        The state after it, and which runs communicated: (R,), or (1,) for all alike.
    """
    return _advance(method_at(method, iteration), s, problem, channel, iteration)


def _advance(
    method: Method, s: S, problem: Any, channel: Any, iteration: int | NDArray[np.int64]
) -> tuple[S, NDArray[np.bool_]]:
    if type(method).local_step is not Method.local_step:
        s = method.local_step(copied(s), problem, channel)
    turn = channel.talking(method.schedule, iteration)
    talking: NDArray[np.bool_] = np.asarray(turn)
    if not talking.any():
        return s, talking
    if talking.all():
        return method.communicate(copied(s), problem, channel), talking
    if isinstance(turn, Turn):
        whole = method.communicate(copied(s), problem.at(turn), channel.at(turn))
        return each(lambda new, old: where(turn.mask, new, old), whole, s), talking
    runs = np.flatnonzero(talking)
    method, problem, channel = narrow(method, runs), problem.at(runs), channel.at(runs)
    return merge(s, runs, method.communicate(take(s, runs), problem, channel)), talking


def world_of_runs(channel: Channel, oracle: Oracle) -> tuple[Channel, Oracle]:
    """Return the channel and the oracle of runs: those of an extension, or else these."""
    for module in registered():
        extension: Any = module
        found: tuple[Channel, Oracle] | None = extension.world(channel, oracle)
        if found is not None:
            return found
    return channel, oracle


def theorem_step(method: Method, s: S, problem: Any, channel: Any, number: int | None = None) -> S:
    """Do one step in the sense of the theorems: an iteration, or a round with K local steps.

    ``number`` is that of the step, counted from 0; it is needed if parameters change.

    Raises
    ------
    Refusal
        If the parameters of the method change from step to step, and no number is given.
    """
    schedule = method.schedule
    steps = schedule.iterations if isinstance(schedule, Every) else 1
    for iteration in range(1, 1 + steps):
        step = method if number is None else method_at(method, number * steps + iteration)
        s, _ = _advance(step, s, problem, channel, iteration)
    return s
