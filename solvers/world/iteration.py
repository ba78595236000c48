"""Local steps, then a round: what one iteration of a method is, in every world."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bitbound.solvers.backend import where
from bitbound.solvers.method import Every, Method
from bitbound.solvers.state import Dataclass, each, merge, narrow, settled, take, unevaluated
from bitbound.solvers.world.device import Turn

S = TypeVar("S", bound=Dataclass)


def advance(
    method: Method, s: S, problem: Any, channel: Any, iteration: int = 1
) -> tuple[S, NDArray[np.bool_]]:
    """Do one iteration: a local step on every client, then a round in the runs whose turn it is.

    Parameters
    ----------
    method, s
        The method, and its state of R runs.
    problem, channel
        The world. Where only some of the runs communicate, both are narrowed by their ``at``.
    iteration : int
        Its number, counted from 1.

    Returns
    -------
    state, talking
        The state after it, and which runs communicated: (R,), or (1,) for all alike.
    """
    stepped = method.local_step(s, problem, channel)
    s = settled(stepped)
    turn = channel.talking(method.schedule, iteration)
    talking: NDArray[np.bool_] = np.asarray(turn)
    if talking.all():
        return settled(method.communicate(s, problem, channel)), talking
    if talking.any() and isinstance(turn, Turn):
        whole = method.communicate(s, problem.at(turn), channel.at(turn))
        s = each(lambda new, old: where(turn.mask, new, old), whole, s)
    elif talking.any():
        runs = np.flatnonzero(talking)
        part = narrow(method, runs).communicate(take(s, runs), problem.at(runs), channel.at(runs))
        s = merge(s, runs, settled(part), unevaluated(stepped))
    return s, talking


def theorem_step(method: Method, s: S, problem: Any, channel: Any) -> S:
    """Do what the theorems call one step: an iteration, or a whole round of K local steps."""
    schedule = method.schedule
    for iteration in range(1, 1 + (schedule.iterations if isinstance(schedule, Every) else 1)):
        s, _ = advance(method, s, problem, channel, iteration)
    return s
