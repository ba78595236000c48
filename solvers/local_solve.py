"""Local solves: local work that each client ends by a criterion."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from certibit.data.arrays import Array, is_numpy
from certibit.data.errors import Refusal
from certibit.solvers.backend import squared_norm, where
from certibit.solvers.libraries import host
from certibit.solvers.method import Gradients
from certibit.solvers.state import Dataclass, S

_UNSEEN = 16
"""Steps on a device between two tests whether all clients are done."""

G = TypeVar("G", bound=Dataclass)


@dataclass(frozen=True)
class Local:
    """Local solutions, on their way."""

    z: Array  # (n, d, R), where the gradients are evaluated, less the centre
    before: Array  # (n, d, R), the same before momentum was added
    change: Array  # (n, d, R), the gradients there
    slope: Array  # (n, d, R), change + mu z, which both the test and the next step need


def gradient_steps(
    slope: Callable[[Array], Array],
    start: Array,
    active: Array,
    problem: Gradients,
    *,
    step: float,
    count: int,
) -> Array:
    """Do gradient steps on every client that is active, and return where they end: (n, d, R).

    A problem of unknown functions knows this without the steps.

    Parameters
    ----------
    slope : callable
        The gradients (n, d, R) of the clients at their points.
    start : (n, d, R)
        Where the steps begin.
    count : int
        Number of steps, at least 0.

    Raises
    ------
    Refusal
        If the count is negative.
    """
    _require_steps(count)
    shortened = getattr(problem, "gradient_steps", None)
    z = None if shortened is None else shortened(slope, start, active, step, count)
    if z is not None:
        return z
    for _ in range(count):
        start = start - step * slope(start)
    return start


def minimise(
    gradient: Callable[[Array, G, Array, Gradients], Array],
    start: Array,
    centre: Array,
    given: G,
    active: Array,
    problem: Gradients,
    *,
    accuracy: float,
    L: float,
    mu: float,
    most: int,
) -> tuple[Array, Array]:
    """Minimise a function plus (mu/2) |y - centre|^2 on every client, up to an accuracy.

    A client is done when the squared gradient of the sum is at most ``accuracy`` times that of the
    function.
    Gradient steps with Nesterov's momentum (1 - q)/(1 + q), q = sqrt(mu/L), begin at the start.
    Clients that are not done after ``most`` steps start again at the centre, without momentum, in
    case the start was bad. Source of the momentum: Nesterov, Lectures on convex optimization, 2018,
    section 2.2.

    Parameters
    ----------
    gradient : callable
        Called with y, given, the active clients and the problem, it gives the gradients (n, d, R)
        of the functions.
    start : (n, d, R)
        Where y - centre begins.
    centre : (1, d, R)
        The same for all clients.
    given : dataclass
        What does not change: arrays (n, d, R), or (1, d, R) for what all clients share.
    active : (n, 1, R) bool
        Who takes part.
    problem : Gradients
        The gradients of the n clients.
    accuracy : float
        When a client is done.
    L, mu : float
        Smoothness and strong convexity of the sums.
    most : int
        Number of steps at most, from each of the two starts.

    Returns
    -------
    z, change : (n, d, R)
        Where y - centre has ended on every client, and the gradient of its function there.

    Raises
    ------
    Refusal
        If gradients are stochastic, or the number of steps is negative.
    """
    _require_steps(most)
    if getattr(problem, "always_new", False):
        raise Refusal(
            "local problems are solved up to an accuracy, which stochastic gradients do not show; "
            "give a number of local steps, such as adaptive=False, or a problem without noise and "
            "batch"
        )
    options = {"accuracy": accuracy, "L": L, "mu": mu, "most": most}
    shortened = getattr(type(problem), "minimise", None)  # of symbols, which know it without steps
    found = shortened and shortened(problem, gradient, start, centre, given, active, **options)
    if found:
        z, change = found
        return z, change

    def evaluate(s: Local, active: Array) -> tuple[Local, Array]:
        change = where(active, gradient(centre + s.z, given, active, problem), s.change)
        slope = change + mu * s.z
        enough = squared_norm(slope) <= accuracy * squared_norm(change)
        return Local(s.z, s.before, change, slope), active & ~enough

    def step(s: Local, active: Array, momentum: float = 0.0) -> tuple[Local, Array]:
        before = where(active, s.z - 1 / L * s.slope, s.before)
        z = where(active, before + momentum * (before - s.before), s.z)
        return evaluate(Local(z, before, s.change, s.slope), active)

    q = math.sqrt(mu / L)
    hasty = partial(step, momentum=(1 - q) / (1 + q))
    s, active = evaluate(Local(start, start, 0 * start, 0 * start), active)
    s, active = until_done(hasty, s, active, most)
    if host(active).any():
        s, active = evaluate(replace(s, z=where(active, 0 * start, s.z)), active)
        s, _ = until_done(step, s, active, most)
    return s.z, s.change


def _require_steps(count: int) -> None:
    if count < 0:
        raise Refusal(f"{count} local steps cannot be done; give a number of at least 0")


def until_done(
    step: Callable[[S, Array], tuple[S, Array]], state: S, active: Array, most: int
) -> tuple[S, Array]:
    """Repeat a step on all clients at once, until every client is done.

    On a device the end is tested only after every few steps.

    Parameters
    ----------
    step : callable
        Called with the state and the active clients (n, 1, R), it returns the next state, changed
        for active clients only, and the clients that remain active.
    state : dataclass
        Arrays (n, d, R).
    active : (n, 1, R) bool
        Who takes part.
    most : int
        Number of steps at most.

    Returns
    -------
    state, active
        After the last step; active are those that have not ended.
    """
    for number in range(most):
        if (is_numpy(active) or number % _UNSEEN == 0) and not host(active).any():
            break
        state, active = step(state, active)
    return state, active
