"""DiLoCo: local steps of AdamW, and Nesterov momentum at the server."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Array, Gradients, Messages, Needs, copies, mean
from certibit.solvers.deep.local_adamw import LocalAdamW


@dataclass(frozen=True)
class State:
    """State of DiLoCo."""

    x: Array  # (1, d, R), the model
    u: Array  # (1, d, R), the momentum of the server
    m: Array  # (n, d, R), the first moment of each client
    v: Array  # (n, d, R), the second one
    t: Array  # (1, 1, R), local steps so far


@dataclass(frozen=True)
class DiLoCo(LocalAdamW):
    """DiLoCo for min (1/n) sum_i f_i(x), such as the losses of a network on the data of n clients.

    Each round::

        y_i = x, then H steps of AdamW               on every client
        delta = mean_i (x - y_i)                     x - y_i sent by client i
        u <- beta u + delta
        x <- x - alpha (delta + beta u)              broadcast by the server

    Parameters
    ----------
    eta, H, beta_1, beta_2, weight_decay, epsilon
        Of the local steps of AdamW; see :class:`LocalAdamW`.
    alpha : float
        Step size of the server.
    beta : float
        Momentum of the server; with alpha = 1 and beta = 0 this is local AdamW.

    Notes
    -----
    Per round and client: d numbers up and down, H gradients. No theorem is known for it here:
    AdamW divides by moments, so that a step is not linear in its state. Source: Douillard et al.,
    "DiLoCo: distributed low-communication training of language models", arXiv:2311.08105,
    Algorithm 1.

    Examples
    --------
    >>> from certibit import Budget, Quartics, run
    >>> from certibit.solvers.deep.diloco import DiLoCo
    >>> method = DiLoCo(eta=0.01, H=5)
    >>> trace = run(method, Quartics.of(H=1), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([96.])
    """

    alpha: float = 0.7
    beta: float = 0.9

    name: ClassVar[str] = "diloco"
    needs: ClassVar[Needs] = Needs(strongly_convex=False, samples=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        zeros = copies(0 * x, problem.n)
        return State(x, u=0 * x, m=zeros, v=zeros, t=0 * x[:, :1, :])

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        y, m, v, t = self.local_steps(s, problem)
        delta = mean(channel.send(s.x - y))
        u = self.beta * s.u + delta
        x = channel.broadcast(s.x - self.alpha * (delta + self.beta * u))
        return State(x, u, m, v, t)
