"""Local steps of AdamW, between two rounds of low-communication training."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from certibit.solvers.authoring import Array, Gradients, Method, copies
from certibit.solvers.method import require_positive

Moments = tuple[Array, Array, Array, Array]
"""Models y and moments m and v of the clients, (n, d, R), and the number t of steps, (1, 1, R)."""


@dataclass(frozen=True)
class LocalAdamW(Method):
    """Base of methods whose clients do H steps of AdamW in a round.

    A step, with a stochastic gradient g_i::

        m_i <- beta_1 m_i + (1 - beta_1) g_i
        v_i <- beta_2 v_i + (1 - beta_2) g_i^2
        y_i <- (1 - eta weight_decay) y_i
               - eta (m_i/(1 - beta_1^t)) / (sqrt(v_i/(1 - beta_2^t)) + epsilon)

    Every client keeps its moments, which are not sent, and t counts its steps over all rounds.

    Parameters
    ----------
    eta : float
        Step size of AdamW.
    H : int
        Local steps of a round.
    beta_1, beta_2, weight_decay, epsilon : float
        Of AdamW.

    Raises
    ------
    Refusal
        If eta, H or epsilon is not positive.

    Notes
    -----
    Source: Loshchilov, Hutter, "Decoupled weight decay regularization", arXiv:1711.05101,
    Algorithm 2, with the decay multiplied by the step size.
    """

    eta: float
    H: int
    beta_1: float = field(default=0.9, kw_only=True)
    beta_2: float = field(default=0.999, kw_only=True)
    weight_decay: float = field(default=0.0, kw_only=True)
    epsilon: float = field(default=1e-8, kw_only=True)

    steps_of_a_round: ClassVar[str] = "H"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "eta", "H", "epsilon")

    def local_steps(self, s: Any, problem: Gradients) -> Moments:
        """Do the H steps of every client from the model of a state."""
        y, m, v, t = copies(s.x, problem.n), s.m, s.v, s.t
        for k in range(self.H):
            g = problem.grad(y, sample=k)
            t = t + 1
            m = self.beta_1 * m + (1 - self.beta_1) * g
            v = self.beta_2 * v + (1 - self.beta_2) * g**2
            scale = (v / (1 - self.beta_2**t)) ** 0.5 + self.epsilon
            y = (1 - self.eta * self.weight_decay) * y
            y = y - self.eta / (1 - self.beta_1**t) * m / scale
        return y, m, v, t
