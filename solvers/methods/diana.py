"""DIANA: compressed gradient differences with learned shifts."""

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
    """State of DIANA."""

    x: Array  # (1, d, R), the model
    h: Array  # (n, d, R), the shift of each client
    h_mean: Array  # (1, d, R), the mean shift, kept by the server


@dataclass(frozen=True)
class DIANA(Method):
    """DIANA for min (1/n) sum_i f_i(x) with compressors C_i in U(omega).

    Each round::

        m_i = C_i(grad f_i(x) - h_i)          sent by client i
        x  <- x - gamma (h_mean + mean_i m_i)   broadcast by the server
        h_i <- h_i + alpha m_i,   h_mean <- h_mean + alpha mean_i m_i

    Parameters
    ----------
    gamma, alpha : float
        Step size of the model and of the shifts.

    Notes
    -----
    Source: Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269; Horvath et al.,
    arXiv:1904.05115. The shifts start at 0, which costs no communication.

    Examples
    --------
    >>> from certibit import DIANA, Budget, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = DIANA(gamma=0.05, alpha=0.5)
    >>> trace = run(method, problem, compressor("rand-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([204.])
    """

    gamma: float
    alpha: float

    name: ClassVar[str] = "diana"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, h=copies(0 * x, problem.n), h_mean=0 * x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        m = channel.uplink(problem.grad(s.x) - s.h)
        m_mean = mean(m)
        return State(
            x=channel.broadcast(s.x - self.gamma * (s.h_mean + m_mean)),
            h=s.h + self.alpha * m,
            h_mean=s.h_mean + self.alpha * m_mean,
        )

    def fixed_point(self, problem: Solution) -> State:
        h = problem.grad_star
        return State(problem.x_star, h, mean(h))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.h_mean - mean(s.h),)
