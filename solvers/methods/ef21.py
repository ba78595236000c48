"""EF21: error feedback for biased compressors."""

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
    """State of EF21."""

    x: Array  # (1, d, R), the model
    g: Array  # (n, d, R), the gradient estimate of each client
    g_mean: Array  # (1, d, R), the mean estimate, kept by the server


@dataclass(frozen=True)
class EF21(Method):
    """EF21 for min (1/n) sum_i f_i(x) with contractive compressors C_i in B(alpha).

    Each round::

        x <- x - gamma g_mean                    broadcast by the server
        c_i = C_i(grad f_i(x) - g_i)             sent by client i
        g_i <- g_i + c_i,   g_mean <- g_mean + mean_i c_i

    At the start g_i = C_i(grad f_i(x)): one more message of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.

    Notes
    -----
    Source: Richtarik, Sokolov, Fatkhullin, arXiv:2106.05203.

    Examples
    --------
    >>> from certibit import EF21, Budget, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = EF21(gamma=0.02)
    >>> trace = run(method, problem, compressor("top-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([272.])
    """

    gamma: float

    name: ClassVar[str] = "ef21"
    needs: ClassVar[Needs] = Needs(compressor="contractive", nonconvex=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        g = channel.uplink(problem.grad(x))
        return State(x, g, mean(g))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g_mean)
        c = channel.uplink(problem.grad(x) - s.g)
        return State(x, s.g + c, s.g_mean + mean(c))

    def fixed_point(self, problem: Solution) -> State:
        g = problem.grad_star
        return State(problem.x_star, g, mean(g))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.g_mean - mean(s.g),)
