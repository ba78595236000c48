"""The clipping framework: a mixture of a clipped momentum step and a clipped gradient step."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Array, Gradients, Messages, mean
from certibit.solvers.clipping import ClippedMethod, norm


@dataclass(frozen=True)
class State:
    """State of the clipping framework."""

    x: Array  # (1, d, R), the model
    m: Array  # (1, d, R), the momentum


@dataclass(frozen=True)
class MomentumClipping(ClippedMethod):
    """The clipping framework for min f(x), on one machine that holds all f_i.

    Each iteration, with g = (1/n) sum_i g_i(x; sample)::

        m <- beta m + (1 - beta) g,   m_0 = 0
        x <- x - nu min(eta, gamma/|m|) m - (1 - nu) min(eta, gamma/|g|) g

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Largest length of a step.
    I : int
        Iterations that are counted as one round.
    beta : float
        Memory of the momentum, 0 <= beta < 1.
    nu : float
        Weight of the momentum step, 0 <= nu <= 1.
    soft : bool
        Take eta/(1 + eta |v|/gamma) in place of min(eta, gamma/|v|), as the public code does;
        it is between half of and all of it.

    Notes
    -----
    Nothing is communicated. nu = 0 or beta = 0 gives clipped SGD.
    Source: Zhang, Jin, Fang, Wang, "Improved analysis of clipping algorithms for non-convex
    optimization", NeurIPS 2020.

    Examples
    --------
    >>> from certibit import Budget, MomentumClipping, Quartics, run
    >>> problem = Quartics.of(H=1)
    >>> method = MomentumClipping(eta=0.003, gamma=0.05, I=4, beta=0.9)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("gap").round(2)
    array([6.73])
    """

    I: int = 1  # noqa: E741  (as for the other methods)
    beta: float = 0.999
    nu: float = 0.7
    soft: bool = False

    name: ClassVar[str] = "momentum-clipping"

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, 0 * x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x, m = s.x, s.m
        for k in range(self.I):
            g = mean(problem.grad(x, sample=k))
            m = self.beta * m + (1 - self.beta) * g
            x = x - self.nu * self._clip(m) - (1 - self.nu) * self._clip(g)
        return State(x, m)

    def _clip(self, v: Array) -> Array:
        return self.eta * v / (1 + norm(v) / self.tau) if self.soft else self.clip(v)
