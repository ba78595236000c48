"""The interface of problems: minimise f + g over x in R^d, f the average of the n clients' f_i.

Two protocols, which need no inheritance: :class:`Problem` has what the engine uses, and
:class:`StronglyConvexProblem` adds what theorems, certificates and exact worst cases use.
Arrays are (n, d, R): clients, features, runs; a point that all clients share is (1, d, R), and
(1, d, 1) if it is the same in all runs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, TypeGuard

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.noise import StochasticGradients


def require_vectors(x: Array, clients: tuple[int, ...], d: int, runs: int) -> None:
    """Refuse what is not an array (n, d, R) with one of some numbers n of clients.

    Raises
    ------
    Refusal
        If the shape is another one.
    """
    shape = getattr(x, "shape", None)
    shapes = [(n, d, runs) for n in clients]
    if shape is None or tuple(shape) not in shapes:
        kind = f"an array of shape {tuple(shape)}" if shape is not None else repr(type(x).__name__)
        raise Refusal(
            f"{kind} in place of one vector for every client and run; give an array (n, d, R) of "
            f"shape {' or '.join(map(str, dict.fromkeys(shapes)))}"
        )


class _StrongConvexity(Protocol):
    """The constant that every problem states."""

    @property
    def mu(self) -> float:
        """Every f_i is mu-strongly convex if mu > 0; else f need not be convex."""


@dataclass(frozen=True, eq=False)
class Constants:
    """The constants of a smooth problem, exact up to rounding.

    Parameters
    ----------
    mu : float
        Every f_i - (mu/2) |x|^2 is convex: f_i is mu-strongly convex for mu > 0, and perhaps not
        convex for mu < 0.
    L_i : array of shape (n,)
        f_i is L_i-smooth.
    L_f : float
        f, the average of the f_i, is L_f-smooth.
    ridge : float
        The modulus of g = (ridge/2) |x|^2, its smoothness and its strong convexity; 0 without g.

    Examples
    --------
    >>> from certibit import Constants, Quadratic
    >>> constants = Quadratic.random(3, 4, mu=1.0, L=[10.0, 5.0, 2.0]).constants
    >>> constants.L, constants.kappa
    (10.0, 10.0)
    """

    mu: float
    L_i: Array
    L_f: float
    ridge: float = 0.0

    @property
    def L(self) -> float:  # noqa: N802
        """The largest L_i."""
        return float(array_namespace(self.L_i).max(self.L_i))

    @property
    def L_tilde(self) -> float:  # noqa: N802
        """The root of the mean of the squared L_i."""
        return math.sqrt(float(array_namespace(self.L_i).mean(self.L_i * self.L_i)))

    @property
    def kappa(self) -> float:
        """The condition number L / mu, infinite for mu <= 0."""
        return self.L / self.mu if self.mu > 0 else math.inf


@dataclass(frozen=True)
class RelaxedConstants:
    """The constants of EPISODE's assumptions; NaN where one is not known.

    Parameters
    ----------
    L0, L1 : float
        Every f_i is (L0, L1)-smooth.
    kappa, rho : float
        |grad f_i(x)| <= kappa + rho |grad f(x)| for all x and i.
    sigma : float
        |g_i(x; sample) - grad f_i(x)| <= sigma almost surely.
    Delta : float
        f(x_0) - inf f.
    """

    L0: float
    L1: float
    kappa: float = math.nan
    rho: float = math.nan
    sigma: float = 0.0
    Delta: float = math.nan

    mu: ClassVar[float] = 0.0
    """Strong convexity is not assumed."""

    @property
    def are_known(self) -> bool:
        """Whether L0, L1, kappa and rho are numbers."""
        return not math.isnan(self.L0 + self.L1 + self.kappa + self.rho)


def smoothness_is_known(problem: "Problem") -> bool:
    """Whether the smoothness constants of a problem are known; those of a network are not."""
    constants = problem.constants
    return not (isinstance(constants, RelaxedConstants) and math.isnan(constants.L0))


class Problem(Protocol):
    """A problem that methods can run on: gradients of the clients, a start and a solution.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Problem, Quadratic
    >>> problem: Problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> problem.grad(problem.x_0).shape, problem.gap(problem.x_star)
    ((3, 4, 1), array([0.]))
    """

    @property
    def name(self) -> str:
        """The name of the problem, such as ``a5a@87``."""

    @property
    def n(self) -> int:
        """Number of clients."""

    @property
    def d(self) -> int:
        """Number of features."""

    @property
    def noise(self) -> StochasticGradients | None:
        """The law of stochastic gradients, if there is any."""

    @property
    def per_run(self) -> tuple[str, ...]:
        """Fields that have the runs on their last axis and may differ between runs."""

    @property
    def constants(self) -> _StrongConvexity:
        """The constants of its assumptions."""

    @property
    def x_0(self) -> Array:
        """The starting point of runs, (1, d, 1) or (1, d, R)."""

    @property
    def x_star(self) -> Array:
        """A minimiser of f + g, (1, d, 1) or (1, d, R); NaN if there is none."""

    @property
    def grad_star(self) -> Array:
        """Gradients of all f_i at x_star, (n, d, 1) or (n, d, R)."""

    @property
    def f_star(self) -> float:
        """The infimum of f + g."""

    @property
    def plain(self) -> Self:
        """The view with g = 0."""

    @property
    def composite(self) -> Self:
        """The view with a strongly convex g, a ridge that all f_i share; refused without one."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what defines the problem."""

    @property
    def specification(self) -> Mapping[str, object]:
        """The definition of the problem and its view, ready for JSON."""

    def grad(self, x: Array) -> Array:
        """Gradients of all f_i, each at its own point (n, d, R) or at one (1, d, R): (n, d, R)."""

    def grad_g(self, y: Array) -> Array:
        """Gradient of g, of the shape of ``y``."""

    def value(self, x: Array) -> Array:
        """f(x) + g(x) of shared points (1, d, R), as an array of shape (R,)."""

    def gap(self, x: Array) -> Array:
        """f(x) + g(x) - infimum of shared points (1, d, R), as an array of shape (R,)."""


class StronglyConvexProblem(Problem, Protocol):
    """A problem with mu > 0: smooth f_i with known constants, and second derivatives.

    Examples
    --------
    >>> from certibit import Quadratic, StronglyConvexProblem
    >>> problem: StronglyConvexProblem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> problem.constants.kappa, problem.hessian(problem.x_star).shape
    (10.0, (4, 4))
    """

    @property
    def constants(self) -> Constants:
        """The constants of this view."""

    @property
    def view(self) -> str:
        """``plain`` or ``composite``."""

    def hessian(self, x: Array) -> Array:
        """Hessian of f + g at one point (1, d, 1), as an array of shape (d, d)."""

    def hessian_product(self, x: Array, v: Array) -> Array:
        """Hessian of f + g at one point (1, d, 1) times the vectors v (1, d, K), as (1, d, K)."""


def is_strongly_convex(problem: Problem) -> TypeGuard[StronglyConvexProblem]:
    """Whether mu > 0, so that the problem is a :class:`StronglyConvexProblem`."""
    return problem.constants.mu > 0
