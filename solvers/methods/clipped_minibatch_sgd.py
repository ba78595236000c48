"""Clipped minibatch SGD: one clipped step per round with many gradients at one point."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, total
from certibit.solvers.clipping import ClippedMethod, ModelState
from certibit.solvers.method import participants


@dataclass(frozen=True)
class ClippedMinibatchSGD(ClippedMethod):
    """Clipped minibatch SGD for min (1/n) sum_i f_i(x).

    Each round, for all clients or for those of a random cohort A of size S::

        h_i = (1/I) sum_{k < I} g_i(x; sample k)      sent by client i
        g = (1/S) sum_{i in A} h_i
        x <- x - min(eta, gamma/|g|) g                broadcast by the server

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Largest length of a step.
    I : int
        Gradients of every client in a round.
    S : int, optional
        Clients of a round; all if left open.

    Notes
    -----
    Per round and participant: d numbers up and d down, one synchronisation, I gradients.
    Source: the baseline of the lower bound of Crawshaw, Bao, Liu, NeurIPS 2023 (EPISODE++).

    Examples
    --------
    >>> from certibit import Budget, ClippedMinibatchSGD, Quartics, run
    >>> problem = Quartics.of(H=1)
    >>> method = ClippedMinibatchSGD(eta=0.003, gamma=0.05, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([96.])
    """

    I: int = 1  # noqa: E741  (the paper's symbol)
    S: int | None = None

    name: ClassVar[str] = "clipped-minibatch-sgd"

    def communicate(self, s: ModelState, problem: Gradients, channel: Messages) -> ModelState:
        m = participants(self.S, problem.n)
        h = problem.grad(s.x, active=m, sample=0)
        for k in range(1, self.I):
            h = h + problem.grad(s.x, active=m, sample=k)
        cohort = channel.cohort(m)
        g = total(channel.send(h / self.I, cohort)) / m
        return ModelState(channel.broadcast(s.x - self.clip(g), cohort))
