"""FedCOMGATE: local steps with gradient tracking and compressed differences."""

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
    masked,
    mean,
    total,
)
from certibit.solvers.method import participants


@dataclass(frozen=True)
class State:
    """State of FedCOMGATE between two rounds."""

    x: Array  # (1, d, R), the model
    delta: Array  # (n, d, R), the gradient tracking of each client; their sum is 0


@dataclass(frozen=True)
class FedCOMGATE(Method):
    """FedCOMGATE for min (1/n) sum_i f_i(x) with compressors C_i in U(omega).

    Each round, for all clients or for those of a random cohort of size S::

        y_i <- x, then K times    y_i <- y_i - eta (grad f_i(y_i) - delta_i)
        m_i = C_i((x - y_i)/eta)                              sent by client i
        m_mean = (1/S) sum_i m_i                              broadcast by the server
        x <- x - eta gamma_s m_mean
        delta_i <- delta_i + (alpha/K) (m_i - m_mean)

    If S < n, the server first sends x to the cohort; else all clients have it.

    Parameters
    ----------
    K : int
        Number of local steps.
    eta, gamma_s : float
        Step size of the local steps and factor of the server's.
    alpha : float
        Damping of the tracking. The published method has alpha = 1, with which delta_i diverges
        for omega > 1: its error is multiplied by about omega. alpha <= 1/(1 + omega) converges.
    S : int, optional
        Clients of a round, at least two of several; all, as published, if left open.

    Notes
    -----
    Source: Haddadpour, Kamani, Mokhtari, Mahdavi, arXiv:2007.01154; damping and cohorts are
    ours.

    Examples
    --------
    >>> from certibit import Budget, FedCOMGATE, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = FedCOMGATE(K=5, eta=0.002, gamma_s=1.0, alpha=0.5)
    >>> trace = run(method, problem, compressor("rand-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([204.])
    """

    K: int
    eta: float
    gamma_s: float
    alpha: float
    S: int | None = None

    name: ClassVar[str] = "fedcomgate"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True)
    steps_of_a_round: ClassVar[str] = "K"

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, copies(0 * x, problem.n))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        size = participants(self.S, problem.n)
        cohort = channel.cohort(size)
        x = s.x if size == problem.n else channel.broadcast(s.x, cohort)
        y = x
        for _ in range(self.K):
            y = y - self.eta * (problem.grad(y, active=size) - s.delta)
        m = channel.uplink((x - y) / self.eta, cohort)
        m_mean = channel.broadcast(total(m) / size, cohort)
        return State(
            x=x - self.eta * self.gamma_s * m_mean,
            delta=s.delta + self.alpha / self.K * masked(cohort, m - m_mean),
        )

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star, problem.grad_star)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (mean(s.delta),)
