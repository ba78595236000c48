"""VR-DIANA: DIANA with sampled gradients whose variance a reference point reduces."""

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
    where,
)
from certibit.solvers.method import require_probability


@dataclass(frozen=True)
class State:
    """State of VR-DIANA."""

    x: Array  # (1, d, R), the model
    w: Array  # (1, d, R), the reference point
    gradient: Array  # (n, d, R), grad f_i(w), kept by each client
    h: Array  # (n, d, R), the shift of each client
    h_mean: Array  # (1, d, R), the mean shift, kept by the server


@dataclass(frozen=True)
class VRDIANA(Method):
    """VR-DIANA for min (1/n) sum_i f_i(x) with compressors C_i in U(omega) and samples xi_i.

    Each round::

        m_i = C_i(g_i(x; xi_i) - g_i(w; xi_i) + grad f_i(w) - h_i)    sent by client i
        x+  = x - gamma (h_mean + mean_i m_i)                         broadcast by the server
        h_i <- h_i + alpha m_i,   h_mean <- h_mean + alpha mean_i m_i
        with probability p:  w = x

    At the start w = x, of which every client evaluates its exact gradient; h_i = 0.

    Parameters
    ----------
    gamma, alpha : float
        Step size of the model and of the shifts.
    p : float
        Probability of a new reference point.

    Notes
    -----
    Source: Horvath, Kovalev, Mishchenko, Stich, Richtarik, "Stochastic distributed learning with
    gradient quantization and variance reduction", arXiv:1904.05115, Algorithm 2, its L-SVRG
    variant. With exact gradients it is DIANA, and without compression L-SVRG.

    Examples
    --------
    >>> from certibit import VRDIANA, Budget, compressor, problem, run
    >>> functions = problem("breast-cancer@9:batch=8", kappa=100)
    >>> method = VRDIANA(gamma=0.002, alpha=0.1, p=0.1)
    >>> trace = run(method, functions, compressor("rand-k:3"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([333.])
    """

    gamma: float
    alpha: float
    p: float

    name: ClassVar[str] = "vr-diana"
    needs: ClassVar[Needs] = Needs(compressor="unbiased", nonconvex=True, samples=True)

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, x, problem.grad(x), h=copies(0 * x, problem.n), h_mean=0 * x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        anew, xi = channel.coin(self.p), problem.sample(0)
        change = problem.grad(s.x, sample=xi) - problem.grad(s.w, sample=xi)
        m = channel.uplink(change + s.gradient - s.h)
        return State(
            x=channel.broadcast(s.x - self.gamma * (s.h_mean + mean(m))),
            w=where(anew, s.x, s.w),
            gradient=where(anew, problem.grad(s.x, active=anew), s.gradient),
            h=s.h + self.alpha * m,
            h_mean=s.h_mean + self.alpha * mean(m),
        )

    def fixed_point(self, problem: Solution) -> State:
        star, h = problem.x_star, problem.grad_star
        return State(star, star, h, h, mean(h))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return s.h_mean - mean(s.h), s.gradient - problem.grad(s.w)
