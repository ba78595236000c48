"""EF21-SGDM: error feedback with momentum for stochastic gradients."""

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
    """State of EF21-SGDM."""

    x: Array  # (1, d, R), the model
    v: Array  # (n, d, R), the momentum of each client
    g: Array  # (n, d, R), the estimate of each client's momentum
    g_mean: Array  # (1, d, R), the mean estimate, kept by the server


@dataclass(frozen=True)
class EF21SGDM(Method):
    """EF21-SGDM for min (1/n) sum_i f_i(x) with contractive compressors C_i in B(alpha).

    Each round::

        x   <- x - gamma g_mean                  broadcast by the server
        v_i <- (1 - eta) v_i + eta g_i(x; sample)
        c_i = C_i(v_i - g_i)                     sent by client i
        g_i <- g_i + c_i,   g_mean <- g_mean + mean_i c_i

    At the start v_i = g_i(x; sample) and g_i = C_i(v_i): one more message of every client, and its
    bits.

    Parameters
    ----------
    gamma : float
        Step size.
    eta : float
        Weight of the newest sample in the momentum; with 1 and without noise this is EF21.

    Notes
    -----
    Source: Fatkhullin, Tyurin, Richtarik, "Momentum provably improves error feedback!",
    arXiv:2305.15155, Algorithm 1.

    Examples
    --------
    >>> from certibit import EF21SGDM, Budget, compressor, problem, run
    >>> functions = problem("quadratic:d=4@3:nonconvex:noise=0.1")
    >>> method = EF21SGDM(gamma=0.1, eta=0.2)
    >>> trace = run(method, functions, compressor("top-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([272.])
    """

    gamma: float
    eta: float

    name: ClassVar[str] = "ef21-sgdm"
    needs: ClassVar[Needs] = Needs(compressor="contractive", nonconvex=True, samples=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        v = problem.grad(x, sample="initial")
        g = channel.uplink(v)
        return State(x, v, g, mean(g))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g_mean)
        v = (1 - self.eta) * s.v + self.eta * problem.grad(x, sample=0)
        c = channel.uplink(v - s.g)
        return State(x, v, s.g + c, s.g_mean + mean(c))

    def fixed_point(self, problem: Solution) -> State:
        v = problem.grad_star
        return State(problem.x_star, v, v, mean(v))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.g_mean - mean(s.g),)
