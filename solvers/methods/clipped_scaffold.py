"""SCAFFOLD (clipped): control variates, and clipping on every client at every step."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from certibit.solvers.authoring import Array, Functions, Gradients, Messages, copies, mean, total
from certibit.solvers.clipping import ClippedMethod
from certibit.solvers.method import participants


@dataclass(frozen=True)
class State:
    """State of SCAFFOLD between two rounds."""

    x: Array  # (1, d, R), the model
    c_i: Array  # (n, d, R), the control variates of the clients
    c: Array  # (1, d, R), the mean of the c_i


@dataclass(frozen=True)
class ClippedSCAFFOLD(ClippedMethod):
    """SCAFFOLD as the baseline of EPISODE, with server step 1; for min (1/n) sum_i f_i(x).

    Each round, for all clients or for those of a random cohort A of size S::

        y = x, then I times, with h = g_i(y; sample) and q = h - c_i + c:
            y <- y - min(eta, gamma/|q|) q
        option I:  D_i = g_i(x; control) - c_i,   option II:  D_i = (mean of the h) - c_i
        x <- (1/S) sum_{i in A} y_i                   y_i sent by client i
        c_i <- c_i + D_i,   c <- c + (1/n) sum_{i in A} D_i       D_i sent by client i

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Largest length of a step; infinite for SCAFFOLD.
    I : int
        Local steps of a round.
    S : int, optional
        Clients of a round; all if left open.
    option : "I" or "II"
        The rule for the control variates.
    informed : bool
        Whether the c_i start at g_i(x_0), sent by all clients, as in the experiments of
        EPISODE++; else they start at 0, as in those of EPISODE.

    Notes
    -----
    Per round and participant: 2 d numbers up and 2 d down, one synchronisation, I gradients,
    with option I one more. Without clipping, option II is (x - y_i)/(I eta) - c_i + c.
    Source: Karimireddy et al., arXiv:1910.06378; the clipping is that of the baseline of
    Crawshaw, Bao, Liu, ICLR 2023.

    Examples
    --------
    >>> from certibit import Budget, ClippedSCAFFOLD, Quartics, run
    >>> problem = Quartics.of(H=1)
    >>> method = ClippedSCAFFOLD(eta=0.003, gamma=0.05, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([192.])
    """

    I: int = 1  # noqa: E741  (the paper's symbol)
    S: int | None = None
    option: Literal["I", "II"] = "II"
    informed: bool = False

    name: ClassVar[str] = "clipped-scaffold"

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        if not self.informed:
            return State(x, copies(0 * x, problem.n), 0 * x)
        c_i = channel.send(problem.grad(channel.broadcast(x), sample="initial"))
        return State(x, c_i, mean(c_i))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        m = participants(self.S, problem.n)
        cohort = channel.cohort(m)
        x, c = channel.broadcast(s.x, cohort), channel.broadcast(s.c, cohort)
        y, gradients = copies(x, problem.n), 0 * s.c_i
        for k in range(self.I):
            h = problem.grad(y, active=m, sample=k)
            gradients = gradients + h
            y = y - self.clip(h - s.c_i + c)
        if self.option == "I":
            new = problem.grad(x, active=m, sample="control")
        else:
            new = gradients / self.I
        D_i = channel.send(new - s.c_i, cohort)
        return State(total(channel.send(y, cohort)) / m, s.c_i + D_i, c + mean(D_i))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.c - mean(s.c_i),)
