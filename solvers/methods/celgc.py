"""CELGC: local SGD with clipping on every client; without clipping, FedAvg."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, copies, total
from certibit.solvers.clipping import ClippedMethod, ModelState
from certibit.solvers.method import participants


@dataclass(frozen=True)
class CELGC(ClippedMethod):
    """Communication-efficient local gradient clipping for min (1/n) sum_i f_i(x).

    Each round, for all clients or for those of a random cohort of size S::

        y = x, then I times    y <- y - min(eta, gamma/|q|) q   with q = g_i(y; sample)
        x <- mean_i y_i                               y_i sent by client i, x broadcast

    Every client clips by its own gradient. With gamma infinite it is FedAvg, or local SGD.

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Largest length of a step; infinite for FedAvg.
    I : int
        Local steps of a round.
    S : int, optional
        Clients of a round; all if left open.

    Notes
    -----
    Per round and client: d numbers up and d down, one synchronisation, I gradients.
    Source: Liu, Zhuang, Lei, Liao, "A communication-efficient distributed gradient clipping
    algorithm for training deep neural networks", NeurIPS 2022.

    Examples
    --------
    >>> from certibit import CELGC, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 2, mu=1.0, L=10.0)
    >>> method = CELGC(eta=0.003, gamma=0.05, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([192.])
    """

    I: int = 1  # noqa: E741  (the paper's symbol)
    S: int | None = None

    name: ClassVar[str] = "celgc"

    def communicate(self, s: ModelState, problem: Gradients, channel: Messages) -> ModelState:
        m = participants(self.S, problem.n)
        y = copies(s.x, problem.n)
        for k in range(self.I):
            y = y - self.clip(problem.grad(y, active=m, sample=k))
        cohort = channel.cohort(m)
        return ModelState(channel.broadcast(total(channel.send(y, cohort)) / m, cohort))
