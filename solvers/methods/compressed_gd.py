"""Gradient descent with compressed gradients, without error feedback."""

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
    """State of compressed gradient descent: the model x, (1, d, R)."""

    x: Array


@dataclass(frozen=True)
class CompressedGD(Method):
    """Gradient descent for min (1/n) sum_i f_i(x) with contractive compressors C_i in B(alpha).

    Each round::

        c_i = C_i(grad f_i(x))                   sent by client i
        x   <- x - gamma mean_i c_i              broadcast by the server

    Parameters
    ----------
    gamma : float
        Step size.

    Notes
    -----
    It converges for one client. With more clients it may diverge even if all f_i have the same
    minimiser: the errors need not be small where the mean gradient is, and the messages may cancel
    if sqrt(1 - alpha) >= 2 sqrt(mu L)/(L + mu). Source: Alistarh et al., arXiv:1610.02132; for
    contractions Beznosikov, Horvath, Richtarik, Safaryan, arXiv:2002.12410.

    Examples
    --------
    >>> from certibit import Budget, CompressedGD, Quadratic, compressor, run
    >>> problem = Quadratic.random(1, 4, mu=1.0, L=10.0)
    >>> method = CompressedGD(gamma=0.1)
    >>> trace = run(method, problem, compressor("top-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([204.])
    """

    gamma: float

    name: ClassVar[str] = "compressed-gd"
    needs: ClassVar[Needs] = Needs(compressor="contractive", shared_minimiser=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        c = channel.uplink(problem.grad(s.x))
        return State(channel.broadcast(s.x - self.gamma * mean(c)))

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
