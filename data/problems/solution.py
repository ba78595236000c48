"""The solution of a problem, computed once to rounding level and kept in the user's cache."""

import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

from bitbound.data.files.cache import cache_folder, write_atomically
from bitbound.data.problems.ridge_problem import RidgeProblem, mean_gradient

Point = NDArray[np.float64]
"""A point (1, d, 1)."""

_DENSE_FEATURES = 2000
"""Up to this many features Newton's method factorises the Hessian; beyond, conjugate gradients."""

_ITERATIONS = 200

P = TypeVar("P", bound=RidgeProblem)


def minimiser(problem: RidgeProblem) -> Point:
    """Minimise f + g by Newton's method, until rounding stops the gradient from shrinking.

    Steps are halved until the value decreases enough, as long as the decrease promised is above
    the rounding of the value; then full steps are taken while the gradient norm halves.

    Parameters
    ----------
    problem : RidgeProblem
        A strongly convex problem on numpy arrays.

    Returns
    -------
    array of shape (1, d, 1)

    Raises
    ------
    ArithmeticError
        If the gradient does not get down to rounding level.
    """
    x = np.zeros((1, problem.d, 1))
    gradient = mean_gradient(problem, x)
    start = float(np.linalg.norm(gradient))
    for _ in range(_ITERATIONS):
        step = _newton_step(problem, x, gradient)
        descent = float(-np.vdot(gradient, step))
        value = _value(problem, x)
        if descent > 1e-9 * abs(value):
            length = 1.0
            while _value(problem, x + length * step) > value - 1e-4 * length * descent:
                length /= 2
            x = x + length * step
            gradient = mean_gradient(problem, x)
            continue
        candidate = x + step
        new = mean_gradient(problem, candidate)
        if not np.linalg.norm(new) < np.linalg.norm(gradient) / 2:
            break
        x, gradient = candidate, new
    scale = start + problem.constants.L_f * float(np.linalg.norm(x))
    if not np.linalg.norm(gradient) <= 1e-13 * scale:
        raise ArithmeticError(
            f"Newton's method stopped at the gradient norm {np.linalg.norm(gradient):.1e} on"
            f" {problem.name}, far above rounding; scale its features"
        )
    return x


def cached_solution(problem: P, solve: Callable[[P], Point]) -> Point:
    """Return the solution from the cache, or solve and put it there.

    The file is named by the fingerprint of the problem. One that cannot be read, or does not hold
    a solution of this problem, is told in a warning and computed again; so is a folder that cannot
    be written.
    """
    path = cache_folder() / "solutions" / f"{problem.fingerprint}.npz"
    if path.exists():
        try:
            return _read(path, problem.d)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            warnings.warn(
                f"the cached solution {path} cannot be used ({error}); it is computed again",
                stacklevel=2,
            )
    x_star = solve(problem)
    try:
        write_atomically(path, lambda file: np.savez(file, x_star=x_star.ravel()))
    except OSError as error:
        warnings.warn(f"the solution is not kept in the cache: {error}", stacklevel=2)
    return x_star


def _read(path: Path, d: int) -> Point:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
        x_star: Point = content["x_star"]
    if x_star.shape != (d,) or x_star.dtype != np.float64 or not np.isfinite(x_star).all():
        raise ValueError(f"it holds no {d} finite numbers")
    return x_star.reshape(1, d, 1)


def _value(problem: RidgeProblem, x: Point) -> float:
    return float(problem.value(x)[0])


def _newton_step(problem: RidgeProblem, x: Point, gradient: Point) -> Point:
    right = -gradient.ravel()
    if problem.d <= _DENSE_FEATURES:
        factor = scipy.linalg.cho_factor(problem.hessian(x))
        step = scipy.linalg.cho_solve(factor, right)
    else:
        operator = LinearOperator(
            (problem.d, problem.d),
            matvec=lambda v: problem.hessian_product(x, v.reshape(1, -1, 1)).ravel(),
            dtype=np.float64,
        )
        step, _ = cg(operator, right, rtol=1e-6, maxiter=10 * problem.d)
    return step.reshape(x.shape)
