"""5GCS-CC: local solves of a dual problem, client sampling and compression."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from bitbound.solvers.backend import Array, copies, host, squared_norm, total, where
from bitbound.solvers.local_solve import until_done
from bitbound.solvers.method import (
    Every,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    Squares,
    Terms,
)


@dataclass(frozen=True)
class State:
    """State of 5GCS-CC."""

    x: Array  # (1, d, R), the model
    v: Array  # (1, d, R), the sum of the u_i, kept by the server
    u: Array  # (n, d, R), the dual variable of each client
    z: Array  # (n, d, R), y_i - x of the last local solves, where adaptive ones start; else 0


@dataclass(frozen=True)
class Local:
    """The local solutions of a round, on their way."""

    z: Array  # (n, d, R), y_i - x
    before: Array  # (n, d, R), the same before momentum was added
    change: Array  # (n, d, R), grad F_i(y_i) - u_i


@dataclass(frozen=True)
class Given:
    """What the subproblems of a round are made of."""

    x: Array  # (1, d, R), the model
    u: Array  # (n, d, R), the dual variable of each client


@dataclass(frozen=True)
class FiveGCSCC(Method):
    """5GCS-CC for min (1/n) sum_i f_i(x) with independent compressors C_i in U(omega).

    With F_i(x) = (1/n) (f_i(x) - (mu/2) |x|^2), each round::

        x <- (x - gamma v)/(1 + gamma mu)        broadcast to a random cohort of C clients
        every client i of the cohort:
            y_i = x, then some steps  y_i <- y_i - (grad F_i(y_i) - u_i + tau (y_i - x))/(L_F + tau)
            m_i = C_i(grad F_i(y_i) - u_i)       sent by client i
            u_i <- u_i + m_i/(1 + omega)
        v <- v + sum_i m_i/(1 + omega),   x <- x - gamma (n/C) sum_i m_i

    The local steps are K, or with ``adaptive`` as few as make, on each client,
    |grad psi_i(y_i)|^2 <= (tau/(2 L_F)) |grad F_i(y_i) - u_i|^2; grad psi_i is the bracket above.
    Adaptive steps start where the last ones of the client have led, x + z_i, and have Nesterov's
    momentum; after K of them the client starts once more at x, without momentum, from where K
    are enough. Every step costs one gradient and the message one more. With the identity as
    compressor and omega = 0 this is 5GCS. What an adaptive round does is not linear in the state,
    so exact worst cases and symbols are for a fixed K.

    Parameters
    ----------
    gamma, tau : float
        Primal and dual step size.
    mu : float
        Strong convexity that is taken out of the f_i.
    L_F : float
        Smoothness of every F_i, (L - mu)/n.
    omega : float
        Relative variance of the compressors.
    cohort : int
        Number C of clients that take part in a round, at most n.
    K : int
        Number of local steps; with ``adaptive``, how many there are at most from one start.
    adaptive : bool
        Whether a client stops as soon as the criterion holds.

    Notes
    -----
    Lyapunov function ``(1/gamma) |x - x*|^2
    + (n/C) (1 + omega) (1/tau + 1/L_F) sum_i |u_i - u_i*|^2`` with u_i* = grad F_i(x*).
    Source: Grudzien, Malinovsky, Richtarik, arXiv:2306.03240; without compression
    arXiv:2212.14370. The dual variables start at 0.
    """

    gamma: float
    tau: float
    mu: float
    L_F: float
    omega: float
    cohort: int
    K: int
    adaptive: bool = False

    name: ClassVar[str] = "5gcs-cc"
    needs: ClassVar[Needs] = Needs(compressor="unbiased")
    schedule: ClassVar[Every] = Every()

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        zeros = copies(0 * x, problem.n)
        return State(x, v=0 * x, u=zeros, z=zeros)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        cohort = channel.cohort(self.cohort)
        x = channel.broadcast((s.x - self.gamma * s.v) / (1 + self.gamma * self.mu), cohort)
        solved = self._solve(x, s, cohort, problem)
        m = channel.uplink(solved.change, cohort)
        m_total = total(m)
        return State(
            x=x - self.gamma * problem.n / self.cohort * m_total,
            v=s.v + m_total / (1 + self.omega),
            u=s.u + m / (1 + self.omega),
            z=solved.z if self.adaptive else 0 * s.z,
        )

    def _solve(self, x: Array, s: State, cohort: Array, problem: Gradients) -> Local:
        """Solve the subproblems of a cohort."""
        given = Given(x, s.u)
        local = Local(s.z, s.z, 0 * s.u)
        local, active = self._evaluate(local, given, cohort, problem)
        if not self.adaptive:
            for _ in range(self.K):
                local, _ = self._descend(local, given, cohort, problem)
            return local
        root = math.sqrt(self.tau / (self.L_F + self.tau))
        hasty = partial(self._descend, momentum=(1 - root) / (1 + root))
        local, active = until_done(hasty, local, given, active, problem, self.K)
        if host(active).any():
            z = where(active, 0 * local.z, local.z)
            local, active = self._evaluate(replace(local, z=z), given, active, problem)
            local, _ = until_done(self._descend, local, given, active, problem, self.K)
        return local

    def _descend(
        self, s: Local, given: Given, active: Array, problem: Gradients, momentum: float = 0.0
    ) -> tuple[Local, Array]:
        """Step on active clients, evaluate their gradients there, and ask who goes on."""
        slope = s.change + self.tau * s.z
        before = where(active, s.z - slope / (self.L_F + self.tau), s.before)
        z = where(active, before + momentum * (before - s.before), s.z)
        return self._evaluate(Local(z, before, s.change), given, active, problem)

    def _evaluate(
        self, s: Local, given: Given, active: Array, problem: Gradients
    ) -> tuple[Local, Array]:
        y = given.x + s.z
        change = (problem.grad(y, active=active) - self.mu * y) / problem.n - given.u
        change = where(active, change, s.change)
        if self.adaptive:
            enough = self.tau / (2 * self.L_F) * squared_norm(change)
            active = active & (squared_norm(change + self.tau * s.z) > enough)
        return replace(s, change=change), active

    def model(self, s: State) -> Array:
        return s.x

    def fixed_point(self, problem: Solution) -> State:
        x = problem.x_star[None, :, None]
        u = (problem.grad_star[:, :, None] - self.mu * x) / problem.n
        return State(x, total(u), u, 0 * u)

    def lyapunov(self, s: State, star: State, problem: Gradients) -> Terms:
        dual = problem.n / self.cohort * (1 + self.omega) * (1 / self.tau + 1 / self.L_F)
        return Squares(1 / self.gamma, s.x - star.x), Squares(dual, s.u - star.u)

    def invariants(self, s: State, problem: Gradients) -> tuple[Array, ...]:
        return (s.v - total(s.u), *(() if self.adaptive else (s.z,)))
