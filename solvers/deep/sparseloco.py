"""SparseLoCo: local steps of AdamW, and error feedback in place of the momentum of the server."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Array, Gradients, Messages, Needs, copies, mean
from certibit.solvers.deep.local_adamw import LocalAdamW


@dataclass(frozen=True)
class State:
    """State of SparseLoCo."""

    x: Array  # (1, d, R), the model
    e: Array  # (n, d, R), what each client has not sent yet
    m: Array  # (n, d, R), the first moment of each client
    v: Array  # (n, d, R), the second one
    t: Array  # (1, 1, R), local steps so far


@dataclass(frozen=True)
class SparseLoCo(LocalAdamW):
    """SparseLoCo for min (1/n) sum_i f_i(x), with contractive compressors C_i in B(alpha).

    Each round::

        y_i = x, then H steps of AdamW               on every client
        e_i <- beta e_i + x - y_i
        c_i = C_i(e_i)                               sent by client i
        e_i <- e_i - c_i
        x <- x - alpha mean_i c_i                    broadcast by the server

    Parameters
    ----------
    eta, H, beta_1, beta_2, weight_decay, epsilon
        Of the local steps of AdamW; see :class:`LocalAdamW`.
    alpha : float
        Step size of the server.
    beta : float
        What is kept of the error in a round.

    Notes
    -----
    The paper sends the k largest entries of every chunk with 2 bits each: ``chunked:4096(top-k:64+
    2-bit)`` is such a compressor, whose two sizes are those of the least error, not the paper's
    table. No theorem is known for it here. With gradient steps in place of AdamW, H = 1 and
    beta = 1 it would be EF. Source: Sarfi, Therien, Lidin, Belilovsky, "Communication efficient
    LLM pre-training with SparseLoCo", arXiv:2508.15706.

    Examples
    --------
    >>> from certibit import Budget, Quartics, run
    >>> from certibit.solvers.deep.sparseloco import SparseLoCo
    >>> method = SparseLoCo(eta=0.01, H=5)
    >>> trace = run(method, Quartics.of(H=1), "top-k:1", seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([96.])
    """

    alpha: float = 1.0
    beta: float = 0.95

    name: ClassVar[str] = "sparseloco"
    needs: ClassVar[Needs] = Needs(compressor="contractive", strongly_convex=False, samples=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        zeros = copies(0 * x, problem.n)
        return State(x, e=zeros, m=zeros, v=zeros, t=0 * x[:, :1, :])

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        y, m, v, t = self.local_steps(s, problem)
        e = self.beta * s.e + s.x - y
        c = channel.uplink(e)
        x = channel.broadcast(s.x - self.alpha * mean(c))
        return State(x, e - c, m, v, t)
