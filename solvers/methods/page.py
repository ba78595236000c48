"""PAGE: variance reduction by differences of sampled gradients, with rare exact ones."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import (
    Array,
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    mean,
    where,
)
from certibit.solvers.method import require_probability


@dataclass(frozen=True)
class State:
    """State of PAGE."""

    x: Array  # (1, d, R), the model
    g: Array  # (1, d, R), the gradient estimate


@dataclass(frozen=True)
class PAGE(Method):
    """PAGE for min (1/n) sum_i f_i(x), with samples xi_i of every client.

    Each round::

        x+ = x - gamma g                                                    broadcast
        with probability p:  g = mean_i grad f_i(x+)
        otherwise:           g <- g + mean_i (g_i(x+; xi_i) - g_i(x; xi_i))

    At the start g = mean_i grad f_i(x): one vector of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    p : float
        Probability of exact gradients.

    Notes
    -----
    Source: Li, Bao, Zhang, Richtarik, "PAGE: a simple and optimal probabilistic gradient estimator
    for nonconvex optimization", arXiv:2008.10898, Algorithm 1, for n = 1; for n clients it is
    VR-MARINA, arXiv:2102.07845, without compression.

    Examples
    --------
    >>> from certibit import PAGE, Budget, problem, run
    >>> functions = problem("breast-cancer@9:nonconvex:batch=8")
    >>> trace = run(PAGE(gamma=0.1, p=0.1), functions, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("gradients")
    array([158.])
    """

    gamma: float
    p: float

    name: ClassVar[str] = "page"
    needs: ClassVar[Needs] = Needs(nonconvex=True, samples=True)

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, mean(channel.send(problem.grad(x))))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g)
        exact, xi = channel.coin(self.p), problem.sample(0)
        anew = problem.grad(x, active=exact)
        change = problem.grad(x, ~exact, xi) - problem.grad(s.x, ~exact, xi)
        sent = mean(channel.send(where(exact, anew, change)))
        return State(x, where(exact, sent, s.g + sent))

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star, mean(problem.grad_star))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
