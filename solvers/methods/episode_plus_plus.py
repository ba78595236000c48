"""EPISODE++: episodic clipping with client sampling and stored corrections."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Array, Functions, Gradients, Messages, copies, mean, total
from certibit.solvers.clipping import ClippedMethod, norm
from certibit.solvers.method import participants


@dataclass(frozen=True)
class State:
    """State of EPISODE++ between two rounds."""

    x: Array  # (1, d, R), the model
    G_i: Array  # (n, d, R), the mean gradient of every client in its last round
    G: Array  # (1, d, R), the server's mean of the G_i


@dataclass(frozen=True)
class EpisodePlusPlus(ClippedMethod):
    """EPISODE++ for min (1/n) sum_i f_i(x) with (L0, L1)-smooth f_i.

    Before the first round all clients send G_i = g_i(x_0). Each round, for the clients of a
    random cohort A of size S::

        y = x, then I times, with h = g_i(y; sample) and q = h - G_i + G:
            y <- y - eta q         if |G| <= gamma/eta
            y <- y - gamma q/|q|   otherwise
        D_i = (mean of the I vectors h) - G_i,   G_i <- G_i + D_i
        x <- (1/S) sum_{i in A} y_i                   y_i sent by client i
        G <- G + (1/n) sum_{i in A} D_i               D_i sent by client i, x and G to the next A

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Length of a step in a clipped round.
    I : int
        Local steps of a round.
    S : int, optional
        Clients of a round; all if left open.

    Notes
    -----
    Per round and participant: 2 d numbers up and 2 d down, one synchronisation, I gradients.
    Invariant: G is the mean of the G_i.
    Source: Crawshaw, Bao, Liu, "Federated learning with client subsampling, data heterogeneity,
    and unbounded smoothness: a new algorithm and lower bounds", NeurIPS 2023, Algorithm 1.

    Examples
    --------
    >>> from certibit import Budget, EpisodePlusPlus, Quartics, run
    >>> problem = Quartics.of(H=1)
    >>> method = EpisodePlusPlus(eta=0.003, gamma=0.05, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([224.])
    """

    I: int = 1  # noqa: E741  (the paper's symbol)
    S: int | None = None

    name: ClassVar[str] = "episode-plus-plus"

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(x)
        G_i = channel.send(problem.grad(x, sample="initial"))
        return State(x, G_i, mean(G_i))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        m = participants(self.S, problem.n)
        cohort = channel.cohort(m)
        x, G = channel.broadcast(s.x, cohort), channel.broadcast(s.G, cohort)
        clipped = norm(G) > self.tau
        y, gradients = copies(x, problem.n), 0 * s.G_i
        for k in range(self.I):
            h = problem.grad(y, active=m, sample=k)
            gradients = gradients + h
            y = y - self.step(h - s.G_i + G, clipped)
        D_i = channel.send(gradients / self.I - s.G_i, cohort)
        return State(total(channel.send(y, cohort)) / m, s.G_i + D_i, G + mean(D_i))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.G - mean(s.G_i),)
