"""EF21-P with DIANA: compression both ways."""

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
    copies,
    mean,
)


@dataclass(frozen=True)
class State:
    """State of EF21-P with DIANA."""

    x: Array  # (1, d, R), the model, kept by the server
    w: Array  # (1, d, R), what the clients know of it
    h: Array  # (n, d, R), the shift of each client
    h_mean: Array  # (1, d, R), the mean shift, kept by the server


@dataclass(frozen=True)
class EF21PDIANA(Method):
    """EF21-P with DIANA for min (1/n) sum_i f_i(x): C_i in U(omega), C of the server in B(alpha).

    Each round::

        w  <- w + C(x - w)                      C(x - w) broadcast by the server
        m_i = C_i(grad f_i(w) - h_i)            sent by client i
        x  <- x - gamma (h_mean + mean_i m_i)
        h_i <- h_i + beta m_i,   h_mean <- h_mean + beta mean_i m_i

    Parameters
    ----------
    gamma, beta : float
        Step size of the model and of the shifts.

    Notes
    -----
    Source: Gruntkowska, Tyurin, Richtarik, "EF21-P and friends", arXiv:2209.15218. Its round ends
    with the broadcast, here it begins with it; since w = x at the start, the iterates are the same.

    Examples
    --------
    >>> from certibit import EF21PDIANA, Budget, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method, sent = EF21PDIANA(gamma=0.002, beta=0.5), compressor("two-way(rand-k:2;top-k:1)")
    >>> trace = run(method, problem, sent, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits"), trace.final("downlink_bits")
    (array([204.]), array([102.]))
    """

    gamma: float
    beta: float

    name: ClassVar[str] = "ef21p-diana"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", downlink="contractive")

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, w=x, h=copies(0 * x, problem.n), h_mean=0 * x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        w = s.w + channel.downlink(s.x - s.w)
        m = channel.uplink(problem.grad(w) - s.h)
        m_mean = mean(m)
        return State(
            x=s.x - self.gamma * (s.h_mean + m_mean),
            w=w,
            h=s.h + self.beta * m,
            h_mean=s.h_mean + self.beta * m_mean,
        )

    def fixed_point(self, problem: Solution) -> State:
        x, h = problem.x_star, problem.grad_star
        return State(x, x, h, mean(h))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.h_mean - mean(s.h),)
