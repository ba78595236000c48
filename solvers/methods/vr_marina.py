"""VR-MARINA: compressed differences of sampled gradients, with rare exact uncompressed ones."""

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
    """State of VR-MARINA."""

    x: Array  # (1, d, R), the model
    g: Array  # (1, d, R), the gradient estimate of the server


@dataclass(frozen=True)
class VRMARINA(Method):
    """VR-MARINA for min (1/n) sum_i f_i(x) with compressors C_i in U(omega) and samples xi_i.

    Each round::

        x+ = x - gamma g                                             broadcast by the server
        with probability p:  g = mean_i grad f_i(x+)                 sent uncompressed
        otherwise:           g <- g + mean_i C_i(g_i(x+; xi_i) - g_i(x; xi_i))

    At the start g = mean_i grad f_i(x): one uncompressed vector of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    p : float
        Probability of an uncompressed round.

    Notes
    -----
    Source: Gorbunov, Burlachenko, Li, Richtarik, arXiv:2102.07845, Algorithm 2. Without compression
    it is PAGE, and with exact gradients MARINA.

    Examples
    --------
    >>> from certibit import VRMARINA, Budget, compressor, problem, run
    >>> functions, method = problem("breast-cancer@9:nonconvex:batch=8"), VRMARINA(0.05, 0.1)
    >>> trace = run(method, functions, compressor("rand-k:3"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits"), trace.final("gradients")
    (array([2142.]), array([158.]))
    """

    gamma: float
    p: float

    name: ClassVar[str] = "vr-marina"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True, samples=True)

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, mean(channel.send(problem.grad(x))))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g)
        full, xi = channel.coin(self.p), problem.sample(0)
        anew = mean(channel.send(problem.grad(x, active=full), mask=full))
        change = problem.grad(x, ~full, xi) - problem.grad(s.x, ~full, xi)
        step = mean(channel.uplink(change, cohort=~full))
        return State(x, where(full, anew, s.g + step))

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star, mean(problem.grad_star))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
