"""LoCoDL with a compressed broadcast: local training and compression both ways."""

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
    """State of LoCoDL with a compressed broadcast; y and v are the same everywhere."""

    x: Array  # (n, d, R), the local models
    y: Array  # (1, d, R), the common model
    u: Array  # (n, d, R), the control variates of the x_i
    v: Array  # (1, d, R), the control variate of y
    e: Array  # (1, d, R), their error mean_i u_i + v, kept by the server


@dataclass(frozen=True)
class LoCoDLBothWays(Method):
    """LoCoDL whose server compresses as well, for C_i in U(omega) and C of the server in U(omega').

    Each iteration::

        x_i <- x_i - gamma grad f_i(x_i) + gamma u_i
        y   <- y - gamma grad g(y) + gamma v
        with probability p:
            d_i = C_i(x_i - y)                                  sent by client i
            z = C((1/(2n)) sum_i d_i - (gamma/(2 p rho)) e)     broadcast by the server
            x_i <- (1 - rho) x_i + rho (y + z),    y <- y + rho z
            u_i <- u_i + lambda (z - d_i),    v <- v + lambda z
            e   <- e + lambda (2 z - (1/n) sum_i d_i)

    with lambda = p chi/(gamma (1 + 2 omega)). Without compression of the broadcast e = 0, and this
    is LoCoDL. With it, only this term drives e to 0: the server knows e and subtracts the distance
    that e moves the models between two rounds.

    Parameters
    ----------
    gamma : float
        Step size, 0 < gamma < 2/L.
    chi, rho : float
        Dual and primal relaxation.
    p : float
        Probability of communication.
    omega : float
        Relative variance of the compressors of the clients.

    Notes
    -----
    Source: found here, by certificates. Condat, Maranjyan, Richtarik, arXiv:2403.04348, is LoCoDL;
    arXiv:2601.12400, BiCoLoR, has local training and compression both ways too, and is not this
    method as far as we know.

    Examples
    --------
    >>> from certibit import Budget, LoCoDLBothWays, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = LoCoDLBothWays(gamma=0.1, chi=0.6, rho=0.6, p=0.6, omega=1.0)
    >>> sent = compressor("two-way(rand-k:2;natural)")
    >>> trace = run(method, problem, sent, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits"), trace.final("downlink_bits")
    (array([204.]), array([108.]))
    """

    gamma: float
    chi: float
    rho: float
    p: float
    omega: float

    name: ClassVar[str] = "locodl-both-ways"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", downlink="unbiased", composite=True)

    @property
    def schedule(self) -> WithProbability:
        return WithProbability(self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(copies(x, problem.n), x, copies(0 * x, problem.n), v=0 * x, e=0 * x)

    def local_step(self, s: State, problem: Gradients, channel: Messages) -> State:
        return State(
            x=s.x - self.gamma * (problem.grad(s.x) - s.u),
            y=s.y - self.gamma * (problem.grad_g(s.y) - s.v),
            u=s.u,
            v=s.v,
            e=s.e,
        )

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        d = channel.uplink(s.x - s.y)
        d_mean = mean(d) / 2
        z = channel.downlink(d_mean - self.gamma / (2 * self.p * self.rho) * s.e)
        dual = self.p * self.chi / (self.gamma * (1 + 2 * self.omega))
        return State(
            x=(1 - self.rho) * s.x + self.rho * (s.y + z),
            y=s.y + self.rho * z,
            u=s.u + dual * (z - d),
            v=s.v + dual * z,
            e=s.e + 2 * dual * (z - d_mean),
        )

    def model(self, s: State) -> Array:
        return s.y

    def fixed_point(self, problem: Solution) -> State:
        x, u = problem.x_star, problem.grad_star
        return State(copies(x, problem.n), x, u, v=-mean(u), e=0 * x)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (mean(s.u) + s.v - s.e,)
