"""EControl: error feedback with a controlled share of the error."""

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
    """State of EControl."""

    x: Array  # (1, d, R), the model
    h: Array  # (n, d, R), the gradient estimate of each client
    h_mean: Array  # (1, d, R), the mean estimate, kept by the server
    e: Array  # (n, d, R), the error of each client: what it wanted to send and did not


@dataclass(frozen=True)
class EControl(Method):
    """EControl for min (1/n) sum_i f_i(x) with contractive compressors C_i in B(alpha).

    Each round::

        x   <- x - gamma h_mean                  broadcast by the server
        c_i = C_i(b e_i + grad f_i(x) - h_i)     sent by client i
        e_i <- e_i + grad f_i(x) - h_i - c_i
        h_i <- h_i + c_i,   h_mean <- h_mean + mean_i c_i

    At the start h_i = C_i(grad f_i(x)): one more message of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Step size.
    b : float
        Share of the error that is sent again; with 0 this is EF21.

    Notes
    -----
    Source: Gao, Islamov, Stich, "EControl: fast distributed optimization with compression and
    error control", arXiv:2311.05645, where b is eta. It is designed for stochastic gradients; with
    exact gradients b > 0 is not faster than EF21. The published round ends with the broadcast; here
    it begins with it, as in EF21.

    Examples
    --------
    >>> from certibit import Budget, EControl, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = EControl(gamma=0.001, b=0.01)
    >>> trace = run(method, problem, compressor("top-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([272.])
    """

    gamma: float
    b: float

    name: ClassVar[str] = "econtrol"
    needs: ClassVar[Needs] = Needs(compressor="contractive", nonconvex=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        gradient = problem.grad(x)
        h = channel.uplink(gradient)
        return State(x, h, mean(h), e=gradient - h)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.h_mean)
        change = problem.grad(x) - s.h
        c = channel.uplink(self.b * s.e + change)
        return State(x, s.h + c, s.h_mean + mean(c), s.e + change - c)

    def fixed_point(self, problem: Solution) -> State:
        h = problem.grad_star
        return State(problem.x_star, h, mean(h), 0 * h)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.h_mean - mean(s.h),)
