"""Clip21: clients send clipped differences to an estimate of their gradient."""

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
from certibit.solvers.clipping import norm, unit
from certibit.solvers.method import require_positive


@dataclass(frozen=True)
class State:
    """State of Clip21."""

    x: Array  # (1, d, R), the model
    g: Array  # (n, d, R), the gradient estimate of each client
    g_mean: Array  # (1, d, R), the mean estimate, kept by the server


@dataclass(frozen=True)
class Clip21(Method):
    """Clip21 for min (1/n) sum_i f_i(x), without a bound on the heterogeneity of the clients.

    Each round, with clip(v) = min(1, tau/|v|) v::

        c_i = clip(grad f_i(x) - g_i)            sent by client i
        g_i <- g_i + c_i,   g_mean <- g_mean + mean_i c_i
        x <- x - gamma g_mean                    broadcast by the server

    Parameters
    ----------
    gamma : float
        Step size.
    tau : float
        Largest length of a message; infinite for gradient descent.

    Notes
    -----
    The g_i start at 0. With clipped gradients the solution is no fixed point if the clients differ;
    these messages tend to 0 there, and after finitely many rounds none is clipped. Source:
    Khirirat, Gorbunov, Horvath, Islamov, Karray, Richtarik, "Clip21: error feedback for gradient
    clipping", arXiv:2305.18929, without noise.

    Examples
    --------
    >>> from certibit import Budget, Clip21, Quartics, run
    >>> trace = run(Clip21(gamma=0.01, tau=1.0), Quartics.of(H=1), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([96.])
    """

    gamma: float
    tau: float

    name: ClassVar[str] = "clip21"
    needs: ClassVar[Needs] = Needs(strongly_convex=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "gamma", "tau")

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, g=copies(0 * x, problem.n), g_mean=0 * x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        c = self.send_clipped(problem.grad(s.x) - s.g, channel)
        g_mean = s.g_mean + mean(c)
        return State(channel.broadcast(s.x - self.gamma * g_mean), s.g + c, g_mean)

    def send_clipped(self, v: Array, channel: Messages) -> Array:
        """Send clip(v_i) from every client; what is received, (n, d, R)."""
        return channel.send(where(norm(v) > self.tau, self.tau * unit(v), v))

    def fixed_point(self, problem: Solution) -> State:
        g = problem.grad_star
        return State(problem.x_star, g, mean(g))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.g_mean - mean(s.g),)
