"""Clipped SGD on a single machine; without noise, clipped gradient descent."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, mean
from certibit.solvers.clipping import ClippedMethod, ModelState


@dataclass(frozen=True)
class ClippedSGD(ClippedMethod):
    """Clipped SGD for min f(x), on one machine that holds all f_i, f = (1/n) sum_i f_i.

    Each iteration, with g = (1/n) sum_i g_i(x; sample)::

        x <- x - min(eta, gamma/|g|) g

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Largest length of a step.
    I : int
        Iterations that are counted as one round.

    Notes
    -----
    Nothing is communicated; an iteration takes the gradients of all f_i. If f is
    (L0, L1)-smooth and gradients are exact, f decreases at every iteration for eta and gamma
    small enough. With the threshold tau = gamma/eta a step is min(eta, eta tau/|g|) g.
    Source: Zhang, He, Sra, Jadbabaie, "Why gradient clipping accelerates training", ICLR 2020.

    Examples
    --------
    >>> from certibit import Budget, ClippedSGD, Quartics, run
    >>> problem = Quartics.of(H=1)
    >>> method = ClippedSGD(eta=0.003, gamma=0.05, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("gap").round(2)
    array([6.23])
    """

    I: int = 1  # noqa: E741  (as for the other methods)

    name: ClassVar[str] = "clipped-sgd"

    def communicate(self, s: ModelState, problem: Gradients, channel: Messages) -> ModelState:
        x = s.x
        for k in range(self.I):
            x = x - self.clip(mean(problem.grad(x, sample=k)))
        return ModelState(x)
