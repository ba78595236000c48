"""DASHA: compressed gradient differences with a momentum that corrects the estimates."""

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
    """State of DASHA."""

    x: Array  # (1, d, R), the model
    g: Array  # (n, d, R), the gradient estimate of each client
    g_mean: Array  # (1, d, R), the mean estimate, kept by the server
    gradient: Array  # (n, d, R), grad f_i(x), kept by each client


@dataclass(frozen=True)
class DASHA(Method):
    """DASHA with full gradients for min (1/n) sum_i f_i(x) with compressors C_i in U(omega).

    Each round::

        x+ = x - gamma g_mean                                        broadcast by the server
        m_i = C_i(grad f_i(x+) - grad f_i(x) - a (g_i - grad f_i(x)))     sent by client i
        g_i <- g_i + m_i,   g_mean <- g_mean + mean_i m_i

    At the start g_i = grad f_i(x): one uncompressed vector of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    a : float
        Momentum of the correction, at most 1/(1 + 2 omega).

    Notes
    -----
    Source: Tyurin, Richtarik, arXiv:2202.01268.

    Examples
    --------
    >>> from certibit import DASHA, Budget, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = DASHA(gamma=0.02, a=0.3)
    >>> trace = run(method, problem, compressor("rand-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([332.])
    """

    gamma: float
    a: float

    name: ClassVar[str] = "dasha"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        gradient = problem.grad(x)
        g = channel.send(gradient)
        return State(x, g, mean(g), gradient)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g_mean)
        gradient = problem.grad(x)
        m = channel.uplink(gradient - s.gradient - self.a * (s.g - s.gradient))
        return State(x, s.g + m, s.g_mean + mean(m), gradient)

    def fixed_point(self, problem: Solution) -> State:
        g = problem.grad_star
        return State(problem.x_star, g, mean(g), g)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return s.g_mean - mean(s.g), s.gradient - problem.grad(s.x)
