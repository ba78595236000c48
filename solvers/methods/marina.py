"""MARINA: compressed gradient differences with rare uncompressed rounds."""

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
    """State of MARINA."""

    x: Array  # (1, d, R), the model
    g: Array  # (1, d, R), the gradient estimate of the server
    gradient: Array  # (n, d, R), grad f_i(x), kept by each client


@dataclass(frozen=True)
class MARINA(Method):
    """MARINA for min (1/n) sum_i f_i(x) with compressors C_i in U(omega).

    Each round::

        x+ = x - gamma g                                             broadcast by the server
        with probability p:  g = mean_i grad f_i(x+)                 sent uncompressed
        otherwise:           g <- g + mean_i C_i(grad f_i(x+) - grad f_i(x))

    At the start g = mean_i grad f_i(x): one uncompressed vector of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    p : float
        Probability of an uncompressed round.

    Notes
    -----
    Source: Gorbunov, Burlachenko, Li, Richtarik, arXiv:2102.07845.

    Examples
    --------
    >>> from certibit import MARINA, Budget, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = MARINA(gamma=0.06, p=0.5)
    >>> trace = run(method, problem, compressor("rand-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([512.])
    """

    gamma: float
    p: float

    name: ClassVar[str] = "marina"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True)

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        gradient = problem.grad(x)
        return State(x, mean(channel.send(gradient)), gradient)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g)
        gradient = problem.grad(x)
        full = channel.coin(self.p)
        anew = mean(channel.send(gradient, mask=full))
        step = mean(channel.uplink(gradient - s.gradient, cohort=~full))
        return State(x, where(full, anew, s.g + step), gradient)

    def fixed_point(self, problem: Solution) -> State:
        gradient = problem.grad_star
        return State(problem.x_star, mean(gradient), gradient)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.gradient - problem.grad(s.x),)
