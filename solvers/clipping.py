"""The base of the clipping methods: clipped and unclipped steps, cohorts, recorded quantities.

Conventions: a vector is clipped iff its norm exceeds the threshold tau = gamma/eta strictly; the
direction of the zero vector is zero; gamma = inf means no clipping.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from certibit.data.arrays import Array
from certibit.solvers.backend import squared_norm, where
from certibit.solvers.method import Gradients, Messages, Method, Needs, require_positive


def norm(v: Array) -> Array:
    """Euclidean norm over the features: (n, d, R) to (n, 1, R)."""
    return squared_norm(v) ** 0.5


def unit(v: Array) -> Array:
    """Return the direction v/|v| of every vector, zero for the zero vector; (n, d, R)."""
    length = norm(v)
    return v / where(length > 0, length, 1 + 0 * length)


@dataclass(frozen=True)
class ModelState:
    """State of a method that keeps its model only: x, (1, d, R)."""

    x: Array


@dataclass(frozen=True)
class ClippedMethod(Method):
    """Base of the methods for nonconvex (L0, L1)-smooth functions, with the clipping parameters.

    A call of ``communicate`` is a round. The theorems bound |grad f(x)| at the model, which a trace
    records.

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Length of a clipped step; the threshold of the gradient norm is tau = gamma/eta.

    Raises
    ------
    Refusal
        If eta, gamma or the number I of local steps is not positive.
    """

    eta: float
    gamma: float

    needs: ClassVar[Needs] = Needs(strongly_convex=False, samples=True)
    steps_of_a_round: ClassVar[str] = "I"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "eta", "gamma", "I")

    @property
    def tau(self) -> float:
        """The threshold of the gradient norm, gamma/eta."""
        return self.gamma / self.eta

    def clip(self, q: Array) -> Array:
        """Return the step min(eta, gamma/|q|) q for every vector q; (n, d, R)."""
        return self.step(q, norm(q) > self.tau)

    def step(self, q: Array, clipped: Array) -> Array:
        """Return the step gamma q/|q| where ``clipped`` holds and eta q elsewhere; (n, d, R)."""
        return where(clipped, self.gamma * unit(q), self.eta * q)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> Any:
        """Return the state that holds x only."""
        return ModelState(x)


UNCLIPPED = math.inf
"""The gamma of a method without clipping."""
