"""L-SVRG: variance reduction about a reference point that a coin moves."""

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
    """State of L-SVRG."""

    x: Array  # (1, d, R), the model
    w: Array  # (1, d, R), the reference point
    gradient: Array  # (1, d, R), grad f(w), kept by the server


@dataclass(frozen=True)
class LSVRG(Method):
    """L-SVRG for min (1/n) sum_i f_i(x), with samples xi_i of every client.

    Each round::

        g  = mean_i (g_i(x; xi_i) - g_i(w; xi_i)) + grad f(w)
        x+ = x - gamma g                                            broadcast by the server
        with probability p:  w = x, and clients send grad f_i(x)

    At the start w = x: one exact gradient of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    p : float
        Probability of a new reference point.

    Notes
    -----
    Source: Kovalev, Horvath, Richtarik, "Don't jump through hoops and remove those loops: SVRG and
    Katyusha are better without the outer loop", arXiv:1901.08689, Algorithm 1, for n = 1.

    Examples
    --------
    >>> from certibit import LSVRG, Budget, problem, run
    >>> functions = problem("breast-cancer@9:batch=8", kappa=100)
    >>> trace = run(LSVRG(gamma=0.01, p=0.1), functions, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([4800.])
    """

    gamma: float
    p: float

    name: ClassVar[str] = "l-svrg"
    needs: ClassVar[Needs] = Needs(nonconvex=True, samples=True)

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, x, mean(channel.send(problem.grad(x))))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        anew, xi = channel.coin(self.p), problem.sample(0)
        change = problem.grad(s.x, sample=xi) - problem.grad(s.w, sample=xi)
        x = channel.broadcast(s.x - self.gamma * (mean(channel.send(change)) + s.gradient))
        exact = mean(channel.send(problem.grad(s.x, active=anew), mask=anew))
        return State(x, where(anew, s.x, s.w), where(anew, exact, s.gradient))

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star, problem.x_star, mean(problem.grad_star))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.gradient - mean(problem.grad(s.w)),)
