"""5GCS-CC: local solves of a dual problem, client sampling and compression."""

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
    total,
)
from certibit.solvers.local_solve import gradient_steps, minimise


@dataclass(frozen=True)
class State:
    """State of 5GCS-CC."""

    x: Array  # (1, d, R), the model
    v: Array  # (1, d, R), the sum of the u_i, kept by the server
    u: Array  # (n, d, R), the dual variable of each client
    z: Array  # (n, d, R), y_i - x of the last local solves, where adaptive ones start; else 0


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
    Adaptive steps start at x + z_i, the last point of the client's previous round, with Nesterov's
    momentum. If K steps do not suffice, they start again at x without momentum, from where K steps
    are enough. Every step costs one gradient and the message one more. With the identity as
    compressor and omega = 0 this is 5GCS. Adaptive rounds are not linear in the state: exact worst
    cases are for a fixed K. Certificates use only that the criterion holds, for any start.

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
    Source: Grudzien, Malinovsky, Richtarik, arXiv:2306.03240; without compression
    arXiv:2212.14370. The dual variables start at 0.

    Examples
    --------
    >>> from certibit import Budget, FiveGCSCC, Quadratic, compressor, run
    >>> problem, sent = Quadratic.random(3, 4, mu=1.0, L=10.0), compressor("rand-k:2")
    >>> method = FiveGCSCC(gamma=0.14, tau=0.8, mu=1.0, L_F=3.0, omega=1.0, cohort=3, K=12)
    >>> run(method, problem, sent, seeds=1, budget=Budget(rounds=3)).final("uplink_bits")
    array([204.])
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
    steps_of_a_round: ClassVar[str] = "K"

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        zeros = copies(0 * x, problem.n)
        return State(x, v=0 * x, u=zeros, z=zeros)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        cohort = channel.cohort(self.cohort)
        x = channel.broadcast((s.x - self.gamma * s.v) / (1 + self.gamma * self.mu), cohort)
        z, L = s.z, self.L_F + self.tau
        if self.adaptive:
            z, change = minimise(self._change, z, x, s, cohort, problem, L=L, mu=self.tau,
                                 accuracy=self.tau / (2 * self.L_F), most=self.K)  # fmt: skip
        else:
            z = gradient_steps(lambda z: self._change(x + z, s, cohort, problem) + self.tau * z,
                               z, cohort, problem, step=1 / L, count=self.K)  # fmt: skip
            change = self._change(x + z, s, cohort, problem)
        m = channel.uplink(change, cohort)
        m_total = total(m)
        return State(
            x=x - self.gamma * problem.n / self.cohort * m_total,
            v=s.v + 1 / (1 + self.omega) * m_total,
            u=s.u + 1 / (1 + self.omega) * m,
            z=z if self.adaptive else s.z,
        )

    def _change(self, y: Array, s: State, active: Array, problem: Gradients) -> Array:
        """Evaluate grad F_i(y_i) - u_i."""
        return 1 / problem.n * (problem.grad(y, active=active) - self.mu * y) - s.u

    def fixed_point(self, problem: Solution) -> State:
        u = (problem.grad_star - self.mu * problem.x_star) / problem.n
        return State(problem.x_star, total(u), u, 0 * u)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return (s.v - total(s.u), *(() if self.adaptive else (s.z,)))
