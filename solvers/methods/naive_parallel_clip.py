"""NaiveParallelClip: the gradients are averaged, then clipped, at every iteration."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, total
from certibit.solvers.clipping import ClippedMethod, ModelState
from certibit.solvers.method import participants


@dataclass(frozen=True)
class NaiveParallelClip(ClippedMethod):
    """Parallel SGD with clipping for min (1/n) sum_i f_i(x).

    Each round is I iterations of all clients, or of those of a random cohort of size S::

        g = mean_i g_i(x; sample)                     g_i sent by client i
        x <- x - min(eta, gamma/|g|) g                broadcast by the server

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Largest length of a step.
    I : int
        Iterations that are counted as one round, to compare with methods of I local steps.
    S : int, optional
        Clients of a round; all if left open.

    Notes
    -----
    Per round and client: I d numbers up and down, I synchronisations, I gradients.
    Source: the baseline of that name of Crawshaw, Bao, Liu, ICLR 2023, section 5.

    Examples
    --------
    >>> from certibit import Budget, NaiveParallelClip, Quartics, run
    >>> problem = Quartics.of(H=1)
    >>> method = NaiveParallelClip(eta=0.003, gamma=0.05, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    I: int = 1  # noqa: E741  (the paper's symbol)
    S: int | None = None

    name: ClassVar[str] = "naive-parallel-clip"

    def communicate(self, s: ModelState, problem: Gradients, channel: Messages) -> ModelState:
        m = participants(self.S, problem.n)
        cohort, x = channel.cohort(m), s.x
        for k in range(self.I):
            g = total(channel.send(problem.grad(x, active=m, sample=k), cohort)) / m
            x = channel.broadcast(x - self.clip(g), cohort)
        return ModelState(x)
