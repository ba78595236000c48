"""Local work that each client ends by itself, without waiting for the slowest in vain."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from array_api_compat import is_numpy_array

from bitbound.solvers.backend import Array, host
from bitbound.solvers.method import Gradients
from bitbound.solvers.state import clients_of, put_clients

S = TypeVar("S")


def until_done(
    step: Callable[[S, Array, Gradients], tuple[S, Array]],
    state: S,
    active: Array,
    problem: Gradients,
    most: int,
) -> tuple[S, Array]:
    """Repeat a step on all clients at once, on each until it has ended there.

    On the host, clients that are done in all runs are left out of what is computed, once they are
    the majority. What is counted does not depend on it.

    Parameters
    ----------
    step : callable
        Given a state, the active clients (n, 1, R) and the problem, it gives the next state, in
        which nothing has changed but for active clients, and who is still active.
    state : dataclass
        Arrays (n, d, R), or (1, d, R) for what all clients share.
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
        if is_numpy_array(active) and 4 * clients.size <= len(active):
            part, still = until_done(
                step,
                clients_of(state, len(active), clients),
                active[clients],
                problem.of(clients),
                most - number,
            )
            active = active.copy()
            active[clients] = still
            return put_clients(state, clients, part), active
        state, active = step(state, active, problem)
    return state, active
