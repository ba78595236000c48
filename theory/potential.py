"""Potentials, that is Lyapunov functions, as sums of terms."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from certibit.data.arrays import Array
from certibit.solvers.backend import squared_norm, total


@dataclass(frozen=True)
class Squares:
    """A term weight * sum_i |v_i|^2 of a Lyapunov function.

    Attributes
    ----------
    weight : float
        At least 0.
    vectors : array (n, d, R) or (1, d, R)
        Linear in the deviation of the state from the fixed point.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Squares
    >>> Squares(2.0, np.ones((3, 4, 1))).weight
    2.0
    """

    weight: float
    vectors: Array


@dataclass(frozen=True)
class Gap:
    """A term weight * (f(x) - f*) of a Lyapunov function.

    Attributes
    ----------
    weight : float
        At least 0, but in a form that was searched for.
    point : array (1, d, R)
        Where f is evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Gap
    >>> Gap(1.0, np.zeros((1, 4, 1))).point.shape
    (1, 4, 1)
    """

    weight: float
    point: Array


Terms = tuple[Squares | Gap, ...]


class ClassConstants(Protocol):
    """The constants that a potential may depend on, besides the parameters of the method."""

    @property
    def n(self) -> int:
        """Number of clients."""

    @property
    def has_solution(self) -> bool:
        """Whether the functions are convex and have a solution."""

    @property
    def mu(self) -> float:
        """Strong convexity of every f_i."""

    @property
    def L(self) -> float:  # noqa: N802  (the paper's symbol)
        """Smoothness of every f_i."""

    @property
    def omega(self) -> float:
        """Relative variance of the compressors."""

    @property
    def omega_av(self) -> float:
        """Relative variance of the mean of n compressed vectors."""

    @property
    def independent(self) -> bool:
        """Whether the clients draw independently."""

    @property
    def alpha(self) -> float | None:
        """Contraction of the compressors; None if they are not known to contract."""

    @property
    def bias_and_variance(self) -> tuple[float, float, float]:
        """The eta, omega and omega_av of the compressors about their mean."""

    @property
    def expected(self) -> float:
        """Expected smoothness A of convex samples; 0 of exact gradients."""

    @property
    def omega_down(self) -> float:
        """Relative variance of the server's compressor; 0 if it broadcasts uncompressed vectors."""


class Potential(Protocol):
    """An object with a Lyapunov function: a theorem, or a potential that was searched for."""

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms at a state.

        Parameters
        ----------
        m, s : Method, State
            The method with its parameters, and a state of it.
        star : State
            Its fixed point.
        setting : Setting or FunctionClass
            The constants.
        problem : Gradients
            For gradients at points of the state.
        """


@dataclass(frozen=True)
class Region:
    """The region in which a local certificate holds.

    Attributes
    ----------
    where, psi : str
        In words; and Psi as a formula.
    level : float
        The region contains all states with Psi at most ``level``.
    """

    where: str
    psi: str
    level: float


@runtime_checkable
class LocalPotential(Potential, Protocol):
    """A potential of a method that is certified in a region only."""

    def region(self, m: Any, functions: Any, weights: tuple[float, ...]) -> Region:
        """Return the region, for a method, a function class and the weights of the terms."""

    def accuracy(self, functions: Any, weights: tuple[float, ...]) -> float:
        """Return c with f(x) - f* <= c Psi at the model x of every state."""


def value(terms: Terms, problem: Any) -> Array:
    """Evaluate a Lyapunov function from its terms: (R,)."""
    result: Array = 0.0
    for term in terms:
        if isinstance(term, Gap):
            result = result + term.weight * problem.gap(term.point)
        else:
            result = result + term.weight * total(squared_norm(term.vectors))[0, 0, :]
    return result
