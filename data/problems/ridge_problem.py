"""Problems with a ridge: strongly convex, with exact constants and a solution.

Every f_i and g hold a ridge. Moving ridge between them changes the view, not the problem: the
*plain* view has g = 0, the *composite* view has g = (mu/4) |x|^2 with the mu of the plain one.

The solution is computed once to rounding level and kept in the user's cache. Rounding is measured
against the summands of a gradient, not against their sum: where the rows of balanced data cancel,
the sum is itself rounding.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from certibit.data.arrays import Array, array_namespace, fetched
from certibit.data.errors import DamagedFileError, Refusal
from certibit.data.files.archive import load_arrays, load_or_set_aside, save_arrays
from certibit.data.files.cache import cache_folder
from certibit.data.files.own_data import own_numbers
from certibit.data.mini_batch import MiniBatch
from certibit.data.numbers import require_possible_kappa
from certibit.data.own.description import state
from certibit.data.problem import Constants


@dataclass(frozen=True, eq=False, kw_only=True)
class RidgeProblem(ABC):
    """Minimise f(x) + g(x) with f = (1/n) sum_i f_i.

    Here f_i = h_i + (ridge_f/2) |x|^2 and g = (ridge_g/2) |x|^2. A family of problems defines the
    bare functions h_i; the ridges and the two views are here.
    Arrays are (n, d, R): clients, features, runs; a point that all clients share is (1, d, R).

    Parameters
    ----------
    name : str
        The selector that makes the problem, such as ``a5a@87``.
    seed : int
        The seed of the split or of the random data.
    fingerprint : str
        SHA-256 of what defines f + g and its division over the clients. The two views have the
        same fingerprint; how the arrays are stored does not enter.
    bare : Constants
        The constants of the bare functions h_i.
    ridge : float
        ridge_f + ridge_g, the same in both views.
    ridge_g : float
        The modulus of g.
    x_star : array of shape (1, d, 1)
        The minimiser of f + g.
    start : array of shape (1, d, 1), optional
        Where runs start; by default, the origin.
    noise : MiniBatch, optional
        The law of stochastic gradients.
    """

    name: str
    seed: int
    fingerprint: str
    bare: Constants
    ridge: float
    ridge_g: float
    x_star: Array
    start: Array | None = None
    noise: MiniBatch | None = None

    per_run: ClassVar[tuple[str, ...]] = ()

    __getstate__ = state  # pickled without what is computed from it

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.bare.L_i.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.x_star.shape[1])

    @property
    def x_0(self) -> Array:
        """The start x_0 of runs, (1, d, 1)."""
        return 0 * self.x_star if self.start is None else self.start

    def started_at(self, x_0: ArrayLike) -> Self:
        """Return the problem with another start, d finite numbers.

        Raises
        ------
        Refusal
            If they are others.
        """
        given = own_numbers(x_0, "the numbers of the start")
        if given.size != self.d:
            raise Refusal(
                f"a start of shape {given.shape} for {self.d} features; "
                f"give {self.d} finite numbers"
            )
        return replace(self, start=given.reshape(1, self.d, 1))

    @property
    def ridge_f(self) -> float:
        """The ridge that every f_i holds beside its bare function; it may be negative."""
        return self.ridge - self.ridge_g

    @cached_property
    def constants(self) -> Constants:
        """The constants of this view: those of the bare functions, shifted by the ridge."""
        shift = self.ridge_f
        bare = self.bare
        return Constants(bare.mu + shift, bare.L_i + shift, bare.L_f + shift, self.ridge_g)

    def _view(self, ridge_g: float) -> Self:
        return self if ridge_g == self.ridge_g else replace(self, ridge_g=ridge_g)

    @cached_property
    def plain(self) -> Self:
        """The view with everything in the f_i and g = 0."""
        return self._view(0.0)

    @cached_property
    def composite(self) -> Self:
        """The view with g = (mu/4) |x|^2 taken out of every f_i, mu being that of the plain view.

        Then f_i and g have the modulus mu/2 each, and L_i is smaller by mu/2 (LoCoDL, section 3.1).
        """
        return self._view((self.bare.mu + self.ridge) / 2)

    @property
    def stated(self) -> Self:
        """The view that L, mu and kappa refer to: for data, the composite one."""
        return self.composite

    @property
    def kappa(self) -> float:
        """The condition number that the user has chosen, independent of the view.

        That of this view is ``constants.kappa``: for data, (kappa + 1)/2 in the plain view.
        """
        return self.stated.constants.kappa

    @property
    def view(self) -> str:
        """``plain`` or ``composite``."""
        return "composite" if self.ridge_g else "plain"

    def grad(self, x: Array) -> Array:
        """Gradients of all f_i, each at its own point (n, d, R) or at one point (1, d, R).

        Returns an array of shape (n, d, R).
        """
        return self._bare_grad(x, self.ridge_f)

    def mean_grad(self, x: Array) -> Array:
        """Gradient of f at shared points (1, d, R), of the same shape."""
        return self.grad(x).mean(axis=0, keepdims=True)

    def grad_g(self, y: Array) -> Array:
        """Gradient of g, of the shape of ``y``."""
        return self.ridge_g * y

    def value(self, x: Array) -> Array:
        """f(x) + g(x) of shared points (1, d, R), as an array of shape (R,)."""
        return self._bare_value(x) + self._ridge_value(x)

    def gap(self, x: Array) -> Array:
        """f(x) + g(x) - minimum of shared points (1, d, R), as an array of shape (R,).

        The gradient of f + g vanishes at x_star, so the difference is the Bregman divergence
        D(x, x_star). It is a mean of non-negative terms, each evaluated without cancellation:
        the relative error stays small however small the gap is.
        """
        step = x - self.x_star
        return self._bare_gap(step) + self._ridge_value(step)

    def hessian(self, x: Array) -> Array:
        """Hessian of f + g at one point (1, d, 1), as an array of shape (d, d)."""
        bare = self._bare_hessian(x)
        return bare + self.ridge * array_namespace(bare).eye(self.d, dtype=bare.dtype)

    def hessian_product(self, x: Array, v: Array) -> Array:
        """Hessian of f + g at one point (1, d, 1) times the vectors v (1, d, K), as (1, d, K)."""
        return self.hessian(x) @ v

    @cached_property
    def f_star(self) -> float:
        """The minimum of f + g."""
        return float(self.value(self.x_star)[0])

    @cached_property
    def x_star_error(self) -> float:
        """An estimate of the distance between x_star and the minimiser.

        By strong convexity it is at most |gradient of f + g at x_star| over the modulus of f + g;
        what rounding hides of the gradient is estimated as 2^-52 L_f |x_star| and added.
        """
        gradient, x = fetched(mean_gradient(self, self.x_star)), fetched(self.x_star)
        hidden = np.finfo(np.float64).eps * self.constants.L_f * np.linalg.norm(x)
        return float((np.linalg.norm(gradient) + hidden) / (self.bare.mu + self.ridge))

    @cached_property
    def grad_star(self) -> Array:
        """Gradients of all f_i at the solution, of shape (n, d, 1)."""
        return self.grad(self.x_star)

    @property
    def specification(self) -> dict[str, object]:
        """The definition of the problem and its view, ready for JSON."""
        return {
            "name": self.name,
            "n": self.n,
            "d": self.d,
            "seed": self.seed,
            "mu": self.stated.constants.mu,
            "kappa": self.kappa,
            "fingerprint": self.fingerprint,
            "view": self.view,
            **({} if self.start is None else {"x_0": self.start.ravel().tolist()}),
            **({} if self.noise is None else {"noise": asdict(self.noise)}),
        }

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"{kind}({self.name!r}, n={self.n}, d={self.d}, kappa={self.kappa:.4g})"

    def _ridge_value(self, x: Array) -> Array:
        return (self.ridge / 2) * array_namespace(x).sum(x * x, axis=(0, 1))

    @abstractmethod
    def _bare_grad(self, x: Array, ridge: float) -> Array:
        """Gradients of the h_i plus ridge x, (n, d, R), at points (n, d, R) or (1, d, R)."""

    @abstractmethod
    def _bare_value(self, x: Array) -> Array:
        """Average of the h_i at shared points (1, d, R), as an array of shape (R,)."""

    @abstractmethod
    def _bare_gap(self, step: Array) -> Array:
        """Average of the D_{h_i}(x_star + step, x_star), (1, d, R) to (R,), no cancellation."""

    @abstractmethod
    def _bare_hessian(self, x: Array) -> Array:
        """Hessian of the average of the h_i at one point (1, d, 1), as an array of shape (d, d)."""


def mean_gradient(problem: RidgeProblem, x: Array) -> Array:
    """Gradient of f + g at shared points (1, d, R), of the same shape."""
    return problem.mean_grad(x) + problem.grad_g(x)


def strong_convexity(smoothness: float, mu: float | None, kappa: float | None) -> float:
    """Return the mu of (11), as asked for or chosen for kappa = (smoothness + mu) / mu."""
    if (mu is None) == (kappa is None):
        raise Refusal(f"mu = {mu} and kappa = {kappa}; give exactly one of the two")
    if kappa is not None:
        if not (kappa > 1 and math.isfinite(kappa)):
            raise Refusal(f"kappa = {kappa:g}; expected a finite number larger than 1")
        if smoothness == 0:
            raise Refusal("all rows are empty, so no mu makes the kappa asked for; give mu")
        mu = smoothness / (kappa - 1)
    require_possible_kappa(smoothness / mu if mu else 1.0)
    if mu is None or not (mu > 0 and math.isfinite(mu)):
        raise Refusal(f"mu = {mu}; expected a finite number larger than 0")
    return mu


Point = NDArray[np.float64]
"""A point (1, d, 1)."""

_DENSE_FEATURES = 2000
"""Up to this many features Newton's method factorises the Hessian; beyond, conjugate gradients."""

_ITERATIONS = 200
_SOLVED = 1e-13
"""The gradient at a solution, in relation to its summands, is at most this, or rounding."""

P = TypeVar("P", bound=RidgeProblem)


def minimiser(problem: RidgeProblem) -> Point:
    """Minimise f + g by Newton's method, until rounding stops the gradient from shrinking.

    Steps are halved until the value decreases enough, as long as the decrease promised is above
    the rounding of the value; then full steps are taken while the gradient norm halves. The
    solution is 0 where the gradient at 0 is a rounding error.

    Parameters
    ----------
    problem : RidgeProblem
        A strongly convex problem on numpy arrays.

    Returns
    -------
    array of shape (1, d, 1)

    Raises
    ------
    Refusal
        If the gradient does not get down to rounding level.
    """
    x = np.zeros((1, problem.d, 1))
    gradient = mean_gradient(problem, x)
    if np.linalg.norm(gradient) <= _rounding(problem) * _summands(problem, x):
        return x
    for _ in range(_ITERATIONS):
        step = _newton_step(problem, x, gradient)
        descent = float(-np.vdot(gradient, step))
        value = _value(problem, x)
        if descent <= 1e-9 * abs(value):
            break
        length = 1.0
        while _value(problem, x + length * step) > value - 1e-4 * length * descent:
            length /= 2
        x = x + length * step
        gradient = mean_gradient(problem, x)
    x = _refined(problem, x)
    if not _is_solution(problem, x):
        norm = np.linalg.norm(mean_gradient(problem, x))
        raise Refusal(
            f"Newton's method stopped at the gradient norm {norm:.1e} on {problem.name}, above the "
            f"rounding of its summands, {_summands(problem, x):.1e}; scale its features, or "
            "correct the slope of a loss of your own"
        )
    return x


def cached_solution(problem: P, solve: Callable[[P], Point]) -> Point:
    """Return the solution from the cache, or solve and put it there.

    The file is named by the fingerprint of the problem. Its point is accepted only if the gradient
    there is at rounding level; Newton steps refine it. A file that is damaged, or that holds
    another point, is renamed with a warning, and the solution is computed again. A folder that
    cannot be written causes a warning.
    """
    path = cache_folder() / "solutions" / f"{problem.fingerprint}.npz"
    kept = load_or_set_aside(path, partial(_load, problem))
    if kept is not None:
        return kept
    x_star = solve(problem)
    try:
        save_arrays(path, {"x_star": x_star.ravel()})
    except OSError as error:
        warnings.warn(f"the solution is not kept in the cache: {error}", stacklevel=2)
    return x_star


def _load(problem: RidgeProblem, path: Path) -> Point:
    x_star = load_arrays(path).get("x_star", np.array(()))
    if x_star.shape != (problem.d,) or x_star.dtype != np.float64:
        raise DamagedFileError(f"{path} is damaged (it holds no {problem.d} 64-bit numbers)")
    point = x_star.reshape(1, -1, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        solved = _is_solution(problem, point)
    if not solved:
        raise DamagedFileError(f"{path} is damaged (the gradient at its point is not zero)")
    return _refined(problem, point)


def _refined(problem: RidgeProblem, x: Point) -> Point:
    """Take Newton steps from a point near the solution, as long as the gradient norm halves."""
    gradient = mean_gradient(problem, x)
    for _ in range(_ITERATIONS):
        candidate = x + _newton_step(problem, x, gradient)
        new = mean_gradient(problem, candidate)
        if not np.linalg.norm(new) < np.linalg.norm(gradient) / 2:
            break
        x, gradient = candidate, new
    return x


def _is_solution(problem: RidgeProblem, x: Point) -> bool:
    """Whether the gradient is at rounding level, beside its summands."""
    level = max(_SOLVED, _rounding(problem)) * _summands(problem, x)
    return bool(np.linalg.norm(mean_gradient(problem, x)) <= level < np.inf)


def _summands(problem: Any, x: Point) -> float:
    """Return the sum of the norms of the rows' gradients at 0, and of what x adds to them.

    A row's is w |phi'(0; b)| |a|, divided by n; with several predictions, |phi'| is summed. Without
    rows it is that of a client.
    """
    zero = np.zeros_like(x)
    if hasattr(problem, "rows"):
        slopes = np.abs(problem.row_slopes(zero))
        slopes = slopes.reshape(*slopes.shape[:2], -1).sum(axis=2, keepdims=True)
        norms = slopes * np.sqrt(problem.rows.squared_norms)
    else:
        norms = np.linalg.norm(problem.grad(zero), axis=1)
    return float(norms.sum() / problem.n + problem.constants.L_f * np.linalg.norm(x))


def _rounding(problem: Any) -> float:
    """Return the relative error of a sum of so many rows of either sign."""
    rows = math.prod(problem.rows.shape[:2]) if hasattr(problem, "rows") else problem.n
    return float(np.finfo(np.float64).eps * max(8.0, math.sqrt(rows)))


def _value(problem: RidgeProblem, x: Point) -> float:
    return float(problem.value(x)[0])


def _newton_step(problem: RidgeProblem, x: Point, gradient: Point) -> Point:
    right = -gradient.ravel()
    if problem.d <= _DENSE_FEATURES:
        factor = scipy.linalg.cho_factor(problem.hessian(x))
        step = scipy.linalg.cho_solve(factor, right)
    else:
        operator = scipy.sparse.linalg.LinearOperator(
            (problem.d, problem.d),
            matvec=lambda v: problem.hessian_product(x, v.reshape(1, -1, 1)).ravel(),
            dtype=np.float64,
        )
        step, _ = scipy.sparse.linalg.cg(operator, right, rtol=1e-6, maxiter=10 * problem.d)
    return step.reshape(x.shape)
