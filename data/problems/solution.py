"""The solution of a problem, computed once to rounding level and kept in the user's cache.

Rounding is measured against the summands of a gradient, not against their sum: where the rows of
balanced data cancel, the sum is itself rounding.
"""

import math
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import DamagedFileError, Refusal
from certibit.data.files.archive import load_arrays, load_or_set_aside, save_arrays
from certibit.data.files.cache import cache_folder
from certibit.data.problems.ridge_problem import RidgeProblem, mean_gradient

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
