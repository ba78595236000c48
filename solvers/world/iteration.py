"""One iteration of a method in every world: a local step, then possibly a round."""

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.backend import where
from certibit.solvers.method import Every, Method
from certibit.solvers.state import (
    Dataclass,
    each,
    lent,
    merge,
    narrow,
    number_of_runs,
    returned,
    settled,
    take,
)
from certibit.solvers.world.device import Turn

S = TypeVar("S", bound=Dataclass)


class StepsAtOnce(Protocol):
    """Local steps of some runs that are done without the method."""

    @property
    def gradients(self) -> int:
        """What all clients together are to pay for in each."""

    def after(self, iterations: NDArray[np.int64], state: S) -> S:
        """Return the state after so many of them, (R,)."""


def advance(
    method: Method,
    s: S,
    problem: Any,
    channel: Any,
    iteration: int | NDArray[np.int64] = 1,
    *,
    use_up: bool = False,
) -> tuple[S, NDArray[np.bool_]]:
    """Do one iteration: a local step on every client, then a round in the runs whose turn it is.

    Parameters
    ----------
    method, s
        The method, and its state of R runs.
    problem, channel
        The world. Where only some of the runs communicate, both are narrowed by their ``at``.
    iteration : int or (R,) int
        Its number, counted from 1.
    use_up : bool
        Whether the large arrays of the state may be written over, as nobody else has them.

    Returns
    -------
    state, talking
        The state after it, and which runs communicated: (R,), or (1,) for all alike.
    """
    s = settled(method.local_step(s, problem, channel))
    turn = channel.talking(method.schedule, iteration)
    return _round(method, s, problem, channel, turn, use_up)


def leap(
    method: Method,
    s: S,
    problem: Any,
    channel: Any,
    steps: StepsAtOnce,
    iteration: NDArray[np.int64],
    last: int,
    *,
    use_up: bool = False,
) -> tuple[S, NDArray[np.bool_], NDArray[np.int64]]:
    """Do all local steps until the next round of each run, and then that round.

    Parameters
    ----------
    method, s, problem, channel, use_up
        As for :func:`advance`.
    steps : StepsAtOnce
        The local steps of the method.
    iteration : (R,) int
        What each run has done.
    last : int
        The last iteration of all runs; one that comes there before a round does none.

    Returns
    -------
    state, talking, iteration
        The state, which runs communicated, (R,), and the iteration each has done then.
    """
    count, talking = channel.steps_to_round(method.schedule, iteration, last)
    problem.count(steps.gradients * count)
    s = steps.after(count, s)
    return *_round(method, s, problem, channel, talking, use_up), iteration + count


def _round(
    method: Method, s: S, problem: Any, channel: Any, turn: Any, use_up: bool
) -> tuple[S, NDArray[np.bool_]]:
    """Let the runs communicate whose turn it is."""
    talking: NDArray[np.bool_] = np.asarray(turn)
    if not talking.any():
        return s, talking
    if isinstance(turn, Turn) and not talking.all():
        whole = method.communicate(s, problem.at(turn), channel.at(turn))
        return each(lambda new, old: where(turn.mask, new, old), whole, s), talking
    everyone = bool(talking.all())
    if everyone and not use_up:
        return settled(method.communicate(s, problem, channel)), talking
    runs = np.arange(number_of_runs(s)) if everyone else np.flatnonzero(talking)
    if not everyone:
        method, problem, channel = narrow(method, runs), problem.at(runs), channel.at(runs)
    loan = lent(s, runs) if use_up else None
    if loan is not None:
        return returned(s, runs, method.communicate(loan, problem, channel)), talking
    if everyone:
        return settled(method.communicate(s, problem, channel)), talking
    part = settled(method.communicate(take(s, runs), problem, channel))
    return merge(s, runs, part), talking


def theorem_step(method: Method, s: S, problem: Any, channel: Any) -> S:
    """Do one step in the sense of the theorems: an iteration, or a round with K local steps."""
    schedule = method.schedule
    for iteration in range(1, 1 + (schedule.iterations if isinstance(schedule, Every) else 1)):
        s, _ = advance(method, s, problem, channel, iteration)
    return s
