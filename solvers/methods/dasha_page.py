"""DASHA-PAGE: DASHA with differences of sampled gradients, and rare exact ones."""

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
    """State of DASHA-PAGE."""

    x: Array  # (1, d, R), the model
    h: Array  # (n, d, R), the estimate of grad f_i(x), kept by each client
    g: Array  # (n, d, R), what the server knows of it
    g_mean: Array  # (1, d, R), its mean, kept by the server


@dataclass(frozen=True)
class DASHAPAGE(Method):
    """DASHA-PAGE for min (1/n) sum_i f_i(x) with compressors C_i in U(omega) and samples xi_i.

    Each round::

        x+ = x - gamma g_mean                                 broadcast by the server
        with probability p:  h_i+ = grad f_i(x+)
        otherwise:           h_i+ = h_i + g_i(x+; xi_i) - g_i(x; xi_i)
        m_i = C_i(h_i+ - h_i - a (g_i - h_i))                 sent by client i
        g_i <- g_i + m_i,   g_mean <- g_mean + mean_i m_i

    At the start g_i = h_i = grad f_i(x): one uncompressed vector of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    a : float
        Momentum of the correction, at most 1/(1 + 2 omega).
    p : float
        Probability of exact gradients.

    Notes
    -----
    Source: Tyurin, Richtarik, arXiv:2202.01268, Algorithm 1, variant PAGE. With exact gradients it
    is DASHA.

    Examples
    --------
    >>> from certibit import DASHAPAGE, Budget, compressor, problem, run
    >>> functions = problem("breast-cancer@9:nonconvex:batch=8")
    >>> method = DASHAPAGE(gamma=0.01, a=0.05, p=0.1)
    >>> trace = run(method, functions, compressor("rand-k:3"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits"), trace.final("gradients")
    (array([1293.]), array([158.]))
    """

    gamma: float
    a: float
    p: float

    name: ClassVar[str] = "dasha-page"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True, samples=True)

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        h = problem.grad(x)
        g = channel.send(h)
        return State(x, h, g, mean(g))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g_mean)
        exact, xi = channel.coin(self.p), problem.sample(0)
        anew = problem.grad(x, active=exact)
        change = problem.grad(x, ~exact, xi) - problem.grad(s.x, ~exact, xi)
        h = where(exact, anew, s.h + change)
        m = channel.uplink(h - s.h - self.a * (s.g - s.h))
        return State(x, h, s.g + m, s.g_mean + mean(m))

    def fixed_point(self, problem: Solution) -> State:
        h = problem.grad_star
        return State(problem.x_star, h, h, mean(h))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.g_mean - mean(s.g),)
