"""SCAFFOLD: local steps corrected by control variates, with client sampling."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from certibit.solvers.authoring import (
    Array,
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Refusal,
    Solution,
    copies,
    masked,
    mean,
    total,
)


@dataclass(frozen=True)
class State:
    """State of SCAFFOLD between two rounds."""

    x: Array  # (1, d, R), the model
    c_i: Array  # (n, d, R), the control variates of the clients
    c: Array  # (1, d, R), the control variate of the server, the mean of the c_i


@dataclass(frozen=True)
class SCAFFOLD(Method):
    """SCAFFOLD for min (1/n) sum_i f_i(x).

    Each round, for the clients i of a uniformly random cohort S of size m::

        y_i <- x, then K times    y_i <- y_i - eta_l (grad f_i(y_i) - c_i + c)
        option I:   dc_i = grad f_i(x) - c_i
        option II:  dc_i = -c + (x - y_i)/(K eta_l)
        x <- x + (eta_g/m) sum_{i in S} (y_i - x)       y_i - x sent by client i, x broadcast
        c <- c + (1/n) sum_{i in S} dc_i                dc_i sent by client i, c broadcast
        c_i <- c_i + dc_i

    The gradient of option I is that of the first local step and not evaluated again.

    Parameters
    ----------
    K : int
        Number of local steps.
    eta_l, eta_g : float
        Step sizes of the local steps and of the server.
    m : int
        Clients in a cohort, m = n being full participation.
    option : "I" or "II"
        The rule for the control variates.
    traffic : "published" or "minimal"
        Published: 2 d numbers up and 2 d down. Minimal, for option II: d up, as the server finds
        dc_i from y_i - x; d down if m = n, as the clients find c from the change of x.

    Notes
    -----
    Source: Karimireddy et al., arXiv:1910.06378. The c_i start at 0.

    Examples
    --------
    >>> from certibit import SCAFFOLD, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = SCAFFOLD(K=5, eta_l=1e-4, eta_g=1.7, m=3)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([768.])
    """

    K: int
    eta_l: float
    eta_g: float
    m: int
    option: Literal["I", "II"] = "II"
    traffic: Literal["published", "minimal"] = "published"

    name: ClassVar[str] = "scaffold"
    needs: ClassVar[Needs] = Needs(nonconvex=True)
    steps_of_a_round: ClassVar[str] = "K"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.option == "I" and self.traffic == "minimal":
            raise Refusal(
                "with option I the server cannot find the control variates of the clients by "
                "itself; choose option II or the published traffic"
            )

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, copies(0 * x, problem.n), 0 * x)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        at_x = problem.grad(s.x, active=self.m)
        y = s.x - self.eta_l * (at_x - s.c_i + s.c)
        for _ in range(self.K - 1):
            y = y - self.eta_l * (problem.grad(y, active=self.m) - s.c_i + s.c)
        cohort = channel.cohort(self.m)
        dy = channel.send(y - s.x, cohort)
        dc = at_x - s.c_i if self.option == "I" else -s.c - dy / (self.K * self.eta_l)
        minimal = self.traffic == "minimal"
        dc = masked(cohort, dc) if minimal else channel.send(dc, cohort)
        c = s.c + mean(dc)
        return State(
            x=channel.broadcast(s.x + self.eta_g * total(dy) / self.m, cohort),
            c_i=s.c_i + dc,
            c=c if minimal and self.m == problem.n else channel.broadcast(c, cohort),
        )

    def fixed_point(self, problem: Solution) -> State:
        c_i = problem.grad_star
        return State(problem.x_star, c_i, mean(c_i))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.c - mean(s.c_i),)
