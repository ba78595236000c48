"""DeMo: decoupled momentum, of which the largest cosine coefficients are sent."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.data.arrays import array_namespace
from certibit.solvers.authoring import (
    Array,
    Gradients,
    Messages,
    Method,
    Needs,
    copies,
    mean,
)
from certibit.solvers.method import require_positive


@dataclass(frozen=True)
class State:
    """State of DeMo."""

    x: Array  # (1, d, R), the model
    m: Array  # (n, d, R), the momentum of each client


@dataclass(frozen=True)
class DeMo(Method):
    """DeMo for min (1/n) sum_i f_i(x), with contractive compressors C_i in B(alpha).

    Each round, with stochastic gradients g_i::

        m_i <- beta m_i + g_i(x; sample)
        c_i = C_i(m_i)                               sent by client i
        m_i <- m_i - c_i
        x <- (1 - eta weight_decay) x - eta sign(mean_i c_i)     broadcast by the server

    Parameters
    ----------
    eta : float
        Step size, and the length of a step in every entry.
    beta : float
        What is kept of the momentum in a round.
    weight_decay : float
        Decay of the model.

    Raises
    ------
    Refusal
        If eta is not positive.

    Notes
    -----
    C_i keeps the k largest coefficients of a discrete cosine transform in every chunk, as
    ``chunked:64(dct(top-k:4))`` does: over the vector of parameters, where the paper transforms
    matrices in two dimensions. What the paper's program multiplies by the step size is not here: a
    sign does not see it. No theorem is known for it here: without the sign and with beta = 1 it
    would be EF. Source: Peng, Chen, Su, Quesnelle, Kingma, Liu, "DeMo: decoupled momentum
    optimization", arXiv:2411.19870.

    Examples
    --------
    >>> from certibit import Budget, Quartics, run
    >>> from certibit.solvers.deep.demo import DeMo
    >>> trace = run(DeMo(eta=0.01), Quartics.of(H=1), "top-k:1", seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([96.])
    """

    eta: float
    beta: float = 0.999
    weight_decay: float = 0.0

    name: ClassVar[str] = "demo"
    needs: ClassVar[Needs] = Needs(compressor="contractive", strongly_convex=False, samples=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "eta")

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, m=copies(0 * x, problem.n))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        m = self.beta * s.m + problem.grad(s.x, sample=0)
        c = channel.uplink(m)
        step = array_namespace(c).sign(mean(c))
        x = channel.broadcast((1 - self.eta * self.weight_decay) * s.x - self.eta * step)
        return State(x, m - c)
