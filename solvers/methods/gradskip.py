"""GradSkip: Scaffnew in which well-conditioned clients skip gradients."""

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
    everyone,
    mean,
    where,
)
from certibit.solvers.method import require_probability


@dataclass(frozen=True)
class State:
    """State of GradSkip."""

    x: Array  # (n, d, R), the local models
    h: Array  # (n, d, R), the control variates
    active: Array  # (n, 1, R) bool, who still moves in this round; the others skip


@dataclass(frozen=True)
class GradSkip(Method):
    """GradSkip for min (1/n) sum_i f_i(x).

    Each iteration::

        with probability 1 - q_i:  h_i <- grad f_i(x_i)       a coin on every client
        x_i <- x_i - gamma (grad f_i(x_i) - h_i)
        with probability p:                                   a coin shared by all
            x_mean = (1/n) sum_i (x_i - (gamma/p) h_i)        terms sent, x_mean broadcast
            h_i <- h_i + (p/gamma) (x_mean - x_i),    x_i <- x_mean

    Once the coin of a client has set h_i = grad f_i(x_i), neither x_i nor h_i changes before the
    next communication: the client evaluates no gradient until then, and none is counted.

    Parameters
    ----------
    gamma : float
        Step size.
    p : float
        Probability of communication.
    q : tuple of n floats
        Probability with which each client continues; q_i = 1 for all is Scaffnew.

    Notes
    -----
    The sum of the h_i is 0 after a communication and not between.
    Source: Maranjyan, Safaryan, Richtarik, arXiv:2210.16402.

    Examples
    --------
    >>> from certibit import Budget, GradSkip, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = GradSkip(gamma=0.04, p=0.3, q=(1.0, 0.9, 0.9))
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    gamma: float
    p: float
    q: tuple[float, ...]

    name: ClassVar[str] = "gradskip"
    needs: ClassVar[Needs] = Needs()

    def __post_init__(self) -> None:
        super().__post_init__()
        different = dict(zip(map(id, self.q), self.q, strict=True))  # of many clients, few
        for q in {*different.values()}:
            require_probability(f"q_i of {self.name}", q)

    @property
    def schedule(self) -> WithProbability:
        return WithProbability(self.p)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        h = copies(0 * x, problem.n)
        return State(copies(x, problem.n), h, active=everyone(h))

    def local_step(self, s: State, problem: Gradients, channel: Messages) -> State:
        gradient = problem.grad(s.x, active=s.active)
        goes_on = channel.client_coins(self.q)
        moves, stops = s.active & goes_on, s.active & ~goes_on
        return State(
            x=where(moves, s.x - self.gamma * (gradient - s.h), s.x),
            h=where(stops, gradient, s.h),
            active=moves,
        )

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x_mean = channel.broadcast(mean(channel.send(s.x - self.gamma / self.p * s.h)))
        return State(
            x=copies(x_mean, problem.n),
            h=s.h + self.p / self.gamma * (x_mean - s.x),
            active=s.active | True,
        )

    def model(self, s: State) -> Array:
        return mean(s.x)

    def fixed_point(self, problem: Solution) -> State:
        x, h = copies(problem.x_star, problem.n), problem.grad_star
        return State(x, h, active=everyone(h))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (where(s.active, 0 * s.h, s.h - problem.grad(s.x)),)
