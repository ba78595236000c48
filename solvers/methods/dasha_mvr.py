"""DASHA-MVR: DASHA with a momentum of sampled gradients that reduces their variance."""

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
)


@dataclass(frozen=True)
class State:
    """State of DASHA-MVR."""

    x: Array  # (1, d, R), the model
    h: Array  # (n, d, R), the estimate of grad f_i(x), kept by each client
    g: Array  # (n, d, R), what the server knows of it
    g_mean: Array  # (1, d, R), its mean, kept by the server


@dataclass(frozen=True)
class DASHAMVR(Method):
    """DASHA-MVR for min (1/n) sum_i f_i(x) with compressors C_i in U(omega) and samples xi_i.

    Each round::

        x+   = x - gamma g_mean                               broadcast by the server
        h_i+ = g_i(x+; xi_i) + (1 - b) (h_i - g_i(x; xi_i))
        m_i  = C_i(h_i+ - h_i - a (g_i - h_i))                sent by client i
        g_i <- g_i + m_i,   g_mean <- g_mean + mean_i m_i

    At the start g_i = h_i = g_i(x; xi_i): one uncompressed vector of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    a : float
        Momentum of the correction, at most 1/(1 + 2 omega).
    b : float
        Weight of the newest sample in the estimate, at most 1.

    Notes
    -----
    Source: Tyurin, Richtarik, arXiv:2202.01268, Algorithm 1, variant MVR. With exact gradients and
    h_i = grad f_i(x) it is DASHA.

    Examples
    --------
    >>> from certibit import DASHAMVR, Budget, compressor, problem, run
    >>> functions = problem("breast-cancer@9:nonconvex:batch=8")
    >>> method = DASHAMVR(gamma=0.01, a=0.05, b=0.1)
    >>> trace = run(method, functions, compressor("rand-k:3"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits"), trace.final("gradients")
    (array([1293.]), array([56.]))
    """

    gamma: float
    a: float
    b: float

    name: ClassVar[str] = "dasha-mvr"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True, samples=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        h = problem.grad(x, sample="initial")
        g = channel.send(h)
        return State(x, h, g, mean(g))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g_mean)
        xi = problem.sample(0)
        new, old = problem.grad(x, sample=xi), problem.grad(s.x, sample=xi)
        h = new + (1 - self.b) * (s.h - old)
        m = channel.uplink(h - s.h - self.a * (s.g - s.h))
        return State(x, h, s.g + m, s.g_mean + mean(m))

    def fixed_point(self, problem: Solution) -> State:
        h = problem.grad_star
        return State(problem.x_star, h, h, mean(h))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.g_mean - mean(s.g),)
