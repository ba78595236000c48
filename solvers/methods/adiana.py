"""ADIANA: DIANA with Nesterov's acceleration."""

from dataclasses import dataclass
from typing import ClassVar, Literal

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
    where,
)
from certibit.solvers.method import require_probability


@dataclass(frozen=True)
class State:
    """State of ADIANA; y, z and w are the same on all clients and the server."""

    y: Array  # (1, d, R), the model
    z: Array  # (1, d, R), the model that gathers momentum
    w: Array  # (1, d, R), the reference point of the shifts
    h: Array  # (n, d, R), the shift of each client
    h_mean: Array  # (1, d, R), the mean shift, kept by the server
    gradient: Array  # (n, d, R), grad f_i(w), kept by each client


@dataclass(frozen=True)
class ADIANA(Method):
    """ADIANA for min (1/n) sum_i f_i(x) with compressors C_i, C_i' in U(omega).

    Each round, with two messages from every client::

        x = theta_1 z + theta_2 w + (1 - theta_1 - theta_2) y
        m_i = C_i(grad f_i(x) - h_i),   c_i = C_i'(grad f_i(w) - h_i)     sent by client i
        g = h_mean + mean_i m_i                                         broadcast by the server
        h_i <- h_i + alpha c_i,   h_mean <- h_mean + alpha mean_i c_i
        y+ = x - eta g
        z <- beta z + (1 - beta) x - gamma g
        w <- y (variant I) or y+ (variant II), with probability p

    Parameters
    ----------
    theta_1, theta_2 : float
        Weights of z and w, theta_1 > 0 and theta_1 + theta_2 <= 1.
    eta, gamma : float
        Step sizes of y and z.
    alpha : float
        Step size of the shifts, at most 1/(1 + omega).
    beta : float
        Momentum of z, 1 - gamma mu.
    p : float
        Probability that the reference point moves.
    variant : "I" or "II"
        Where the reference point moves to: the y before the step (the original) or after it.

    Notes
    -----
    The gradient at w is evaluated only when w moves: 1 + p gradients per client and round.
    Source: Li, Kovalev, Qian, Richtarik, arXiv:2002.11364. The shifts start at 0, for free.

    Examples
    --------
    >>> from certibit import Budget, Quadratic, compressor, parameters, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> sent = compressor("rand-k:2")
    >>> method = parameters("adiana", problem, sent)
    >>> trace = run(method, problem, sent, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([408.])
    """

    theta_1: float
    theta_2: float
    eta: float
    gamma: float
    alpha: float
    beta: float
    p: float
    variant: Literal["I", "II"] = "I"

    name: ClassVar[str] = "adiana"
    needs: ClassVar[Needs] = Needs(compressor="unbiased")

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, x, x, copies(0 * x, problem.n), 0 * x, problem.grad(x))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = self.theta_1 * s.z + self.theta_2 * s.w + (1 - self.theta_1 - self.theta_2) * s.y
        m = channel.uplink(problem.grad(x) - s.h)
        c = channel.uplink(s.gradient - s.h)
        g = channel.broadcast(s.h_mean + mean(m))
        y = x - self.eta * g
        moves = channel.coin(self.p)
        w = where(moves, s.y if self.variant == "I" else y, s.w)
        return State(
            y=y,
            z=self.beta * s.z + (1 - self.beta) * x - self.gamma * g,
            w=w,
            h=s.h + self.alpha * c,
            h_mean=s.h_mean + self.alpha * mean(c),
            gradient=where(moves, problem.grad(w, active=moves), s.gradient),
        )

    def model(self, s: State) -> Array:
        return s.y

    def fixed_point(self, problem: Solution) -> State:
        x, h = problem.x_star, problem.grad_star
        return State(x, x, x, h, mean(h), h)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return s.h_mean - mean(s.h), s.gradient - problem.grad(s.w)
