"""EPISODE: episodic clipping with periodic resampled corrections."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, copies, total
from certibit.solvers.clipping import ClippedMethod, ModelState, norm
from certibit.solvers.method import participants


@dataclass(frozen=True)
class EPISODE(ClippedMethod):
    """EPISODE for min (1/n) sum_i f_i(x) with (L0, L1)-smooth f_i.

    Each round, for all clients or for those of a random cohort of size S::

        G_i = g_i(x; control)                         sent by client i
        G = mean_i G_i                                broadcast by the server
        y = x, then I times, with q = g_i(y; sample) - G_i + G:
            y <- y - eta q         if |G| <= gamma/eta
            y <- y - gamma q/|q|   otherwise
        x <- mean_i y_i                               y_i sent by client i, x broadcast

    One decision holds for a whole round and all clients. Clients keep nothing between rounds.

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Length of a step in a clipped round; infinite for EPISODE (unclipped).
    I : int
        Local steps of a round.
    S : int, optional
        Clients of a round; all, as published, if left open.

    Notes
    -----
    Per round and client: 2 d numbers up and 2 d down, two synchronisations, I + 1 gradients.
    Source: Crawshaw, Bao, Liu, "EPISODE: episodic gradient clipping with periodic resampled
    corrections for federated learning with heterogeneous data", ICLR 2023, Algorithm 1, with
    the restart y = x of every round that its analysis uses.

    Examples
    --------
    >>> from certibit import Budget, Quartics, parameters, run
    >>> problem = Quartics.of(H=1)
    >>> method = parameters("episode", problem, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([192.])
    """

    I: int = 1  # noqa: E741  (the paper's symbol)
    S: int | None = None

    name: ClassVar[str] = "episode"

    def communicate(self, s: ModelState, problem: Gradients, channel: Messages) -> ModelState:
        m = participants(self.S, problem.n)
        cohort = channel.cohort(m)
        G_i = channel.send(problem.grad(s.x, active=m, sample="control"), cohort)
        G = channel.broadcast(total(G_i) / m, cohort)
        clipped = norm(G) > self.tau
        y = copies(s.x, problem.n)
        for k in range(self.I):
            q = problem.grad(y, active=m, sample=k) - G_i + G
            y = y - self.step(q, clipped)
        return ModelState(channel.broadcast(total(channel.send(y, cohort)) / m, cohort))
