"""LoCoDL: local training and compression of the difference to a common model."""

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
    WithProbability,
    copies,
    mean,
)


@dataclass(frozen=True)
class State:
    """State of LoCoDL; y and v are the same on all clients and the server."""

    x: Array  # (n, d, R), the local models
    y: Array  # (1, d, R), the common model
    u: Array  # (n, d, R), the control variates of the x_i
    v: Array  # (1, d, R), the control variate of y; mean_i u_i + v = 0


@dataclass(frozen=True)
class LoCoDL(Method):
    """LoCoDL, Algorithm 1, for min (1/n) sum_i f_i(x) + g(x) with compressors C_i in U(omega).

    Each iteration::

        x_i <- x_i - gamma grad f_i(x_i) + gamma u_i
        y   <- y - gamma grad g(y) + gamma v
        with probability p:
            d_i = C_i(x_i - y)                                  sent by client i
            d_mean = (1/(2n)) sum_i d_i                         broadcast by the server
            x_i <- (1 - rho) x_i + rho (y + d_mean),    y <- y + rho d_mean
            u_i <- u_i + (p chi/(gamma (1 + 2 omega))) (d_mean - d_i)
            v   <- v + (p chi/(gamma (1 + 2 omega))) d_mean

    Parameters
    ----------
    gamma : float
        Step size, 0 < gamma < 2/L.
    chi, rho : float
        Dual and primal relaxation, 2 rho - rho^2 (1 + omega_av) - chi >= 0.
    p : float
        Probability of communication.
    omega : float
        Relative variance of the compressors.

    Notes
    -----
    Without g (section 3.1): the composite view of a problem has f_i - (mu/4) |.|^2 and
    g = (mu/4) |.|^2, so that y <- (1 - gamma mu/2) y + gamma v, and constants L - mu/2 and mu/2.
    Source: Condat, Maranjyan, Richtarik, "LoCoDL: communication-efficient distributed learning
    with local training and compression", arXiv:2403.04348, Algorithm 1.

    Examples
    --------
    >>> from certibit import Budget, LoCoDL, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = LoCoDL(gamma=0.1, chi=0.75, rho=0.75, p=0.4, omega=1.0)
    >>> trace = run(method, problem, compressor("rand-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([204.])
    """

    gamma: float
    chi: float
    rho: float
    p: float
    omega: float

    name: ClassVar[str] = "locodl"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", composite=True)

    @property
    def schedule(self) -> WithProbability:
        return WithProbability(self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(copies(x, problem.n), x, copies(0 * x, problem.n), 0 * x)

    def local_step(self, s: State, problem: Gradients, channel: Messages) -> State:
        return State(
            x=s.x - self.gamma * (problem.grad(s.x) - s.u),
            y=s.y - self.gamma * (problem.grad_g(s.y) - s.v),
            u=s.u,
            v=s.v,
        )

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        d = channel.uplink(s.x - s.y)
        d_mean = channel.broadcast(mean(d) / 2)
        dual = self.p * self.chi / (self.gamma * (1 + 2 * self.omega))
        return State(
            x=(1 - self.rho) * s.x + self.rho * (s.y + d_mean),
            y=s.y + self.rho * d_mean,
            u=s.u + dual * (d_mean - d),
            v=s.v + dual * d_mean,
        )

    def model(self, s: State) -> Array:
        return s.y

    def fixed_point(self, problem: Solution) -> State:
        x, u = problem.x_star, problem.grad_star
        return State(copies(x, problem.n), x, u, -mean(u))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (mean(s.u) + s.v,)
