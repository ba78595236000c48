"""Local work that each client ends by itself, without waiting for the slowest in vain."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bitbound.data.arrays import is_numpy
from bitbound.solvers.backend import Array, host
from bitbound.solvers.method import Gradients
from bitbound.solvers.state import clients_of, put_clients

S = TypeVar("S")
G = TypeVar("G")


def until_done(
    step: Callable[[S, G, Array, Gradients], tuple[S, Array]],
    state: S,
    given: G,
    active: Array,
    problem: Gradients,
    most: int,
) -> tuple[S, Array]:
    """Repeat a step on all clients at once, on each until it has ended there.

    On the host, clients that are done in all runs are left out of what is computed, once a quarter
    is left at most. What is counted does not depend on it.

    Parameters
    ----------
    step : callable
        Called with state, given, the active clients (n, 1, R) and the problem, it gives the next
        state, in which nothing has changed but for active clients, and who is still active.
    state : dataclass
        Arrays (n, d, R).
    given : dataclass
        What does not change: arrays (n, d, R), or (1, d, R) for what all clients share.
    active : (n, 1, R) bool
        Who takes part.
    problem : Gradients
        The gradients of the n clients.
    most : int
        Number of steps at most.

    Returns
    -------
    state, active
        After the last step; active are those that have not ended.
    """
    for number in range(most):
        clients = np.flatnonzero(host(active).any(axis=(1, 2)))
        if not clients.size:
            break
        n = len(active)
        if is_numpy(active) and 4 * clients.size <= n:
            part, still = until_done(
                step,
                clients_of(state, n, clients),
                clients_of(given, n, clients),
                active[clients],
                problem.of(clients),
                most - number,
            )
            active = active.copy()
            active[clients] = still
            return put_clients(state, clients, part), active
        state, active = step(state, given, active, problem)
    return state, active
