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
from bitbound.data.problems.problem import Problem, mean_gradient

Vector = NDArray[np.float64]

_DENSE_FEATURES = 2000
"""Up to this many features Newton's method factorises the Hessian; beyond, conjugate gradients."""

_ITERATIONS = 200

P = TypeVar("P", bound=Problem)


def minimiser(problem: Problem) -> Vector:
    """Minimise f + g by Newton's method, until rounding stops the gradient from shrinking.

    Steps are halved until the value decreases enough, as long as the decrease promised is above
    the rounding of the value; then full steps are taken while the gradient norm halves.

    Parameters
    ----------
    problem : Problem
        A strongly convex problem on numpy arrays.

    Returns
    -------
    array of shape (d,)

    Raises
    ------
    ArithmeticError
        If the gradient does not get down to rounding level.
    """
    x = np.zeros(problem.d)
    gradient = mean_gradient(problem, x)
    start = float(np.linalg.norm(gradient))
    for _ in range(_ITERATIONS):
        step = _newton_step(problem, x, gradient)
        descent = float(-gradient @ step)
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


def cached(problem: P, solve: Callable[[P], Vector]) -> Vector:
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
        write_atomically(path, lambda file: np.savez(file, x_star=x_star))
    except OSError as error:
        warnings.warn(f"the solution is not kept in the cache: {error}", stacklevel=2)
    return x_star


def _read(path: Path, d: int) -> Vector:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
        x_star: Vector = content["x_star"]
    if x_star.shape != (d,) or x_star.dtype != np.float64 or not np.isfinite(x_star).all():
        raise ValueError(f"it holds no {d} finite numbers")
    return x_star


def _value(problem: Problem, x: Vector) -> float:
    return float(problem.value(x[None, :, None])[0])


def _newton_step(problem: Problem, x: Vector, gradient: Vector) -> Vector:
    point = x[None, :, None]
    if problem.d <= _DENSE_FEATURES:
        factor = scipy.linalg.cho_factor(problem.hessian(point))
        step: Vector = scipy.linalg.cho_solve(factor, -gradient)
        return step

    def product(v: Vector) -> Vector:
        result: Vector = problem.hessian_product(point, v.reshape(1, -1, 1))[0, :, 0]
        return result

    operator = LinearOperator((problem.d, problem.d), matvec=product, dtype=np.float64)
    solution, _ = cg(operator, -gradient, rtol=1e-6, maxiter=10 * problem.d)
    return solution
