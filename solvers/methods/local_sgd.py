"""Local SGD, also called FedAvg: several stochastic steps of every client between two rounds."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.data.errors import Refusal
from certibit.solvers.authoring import (
    Array,
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    copies,
    mean,
)


@dataclass(frozen=True)
class State:
    """State of local SGD: the model x, (1, d, R)."""

    x: Array


@dataclass(frozen=True)
class LocalSGD(Method):
    """Local SGD for min (1/n) sum_i f_i(x).

    Each round::

        y_i = x, then I times    y_i <- y_i - gamma g_i(y_i; sample)
        x+  = mean_i y_i                        y_i sent by client i, x+ broadcast by the server

    Parameters
    ----------
    gamma : float
        Step size.
    I : int
        Local steps of a round; with one it is SGD.

    Notes
    -----
    Source: McMahan, Moore, Ramage, Hampson, Aguera y Arcas, arXiv:1602.05629; Stich,
    arXiv:1805.09767. With more than one step, a run ends near a solution only if clients are alike.

    Examples
    --------
    >>> from certibit import Budget, LocalSGD, problem, run
    >>> functions = problem("quadratic:d=4@3:nonconvex:noise=0.1")
    >>> trace = run(LocalSGD(gamma=0.02, I=4), functions, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits"), trace.final("gradients")
    (array([384.]), array([12.]))
    """

    gamma: float
    I: int  # noqa: E741  (the paper's symbol)

    name: ClassVar[str] = "local-sgd"
    needs: ClassVar[Needs] = Needs(nonconvex=True, shared_minimiser=True, samples=True)

    def __post_init__(self) -> None:
        if not (isinstance(self.I, int) and self.I >= 1):
            raise Refusal(f"I = {self.I!r} is no number of local steps; give a whole number from 1")

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        y = copies(s.x, problem.n)
        for k in range(self.I):
            y = y - self.gamma * problem.grad(y, sample=k)
        return State(channel.broadcast(mean(channel.send(y))))

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
