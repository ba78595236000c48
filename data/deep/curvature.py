"""The largest curvature of the losses of a network at a point, by Hessian-vector products."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.deep.module_gradients import Tensor
from certibit.data.deep.neural_problem import NeuralProblem
from certibit.data.deep.torch_library import torch_library

_TOLERANCE, _PRODUCTS = 1e-2, 30
_FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class CurvatureAt:
    """Gradients and curvature of a problem at one point.

    Attributes
    ----------
    slope : float
        |grad f|.
    slopes : (n,)
        |grad f_i|.
    curvature : float
        |Hess f|, the largest absolute eigenvalue, from below.
    curvatures : (n,)
        |Hess f_i|.
    """

    slope: float
    slopes: _FloatArray
    curvature: float
    curvatures: _FloatArray


def hessian_products(
    problem: NeuralProblem, x: Array
) -> tuple[Callable[[_FloatArray], _FloatArray], ...]:
    """Return for every client the map from v to Hess f_i(x) v, (d,) each, at a point (1, d, 1)."""
    torch = torch_library()
    point = problem.model.points(x)[0, 0]

    def product(inputs: Tensor, labels: Tensor) -> Callable[[_FloatArray], _FloatArray]:
        def along(at: Tensor, v: Tensor) -> Tensor:
            return torch.dot(torch.func.grad(problem.model.client_loss)(at, inputs, labels), v)

        def of(v: _FloatArray) -> _FloatArray:
            direction = torch.from_numpy(np.ascontiguousarray(v.ravel())).to(point)
            found: _FloatArray = torch.func.grad(along)(point, direction).double().numpy()
            return found

        return of

    return tuple(map(product, problem.inputs, problem.labels))


def curvature_at(problem: NeuralProblem, x: Array) -> CurvatureAt:
    """Measure |grad|, and |Hess| by Lanczos' method, of f and of all f_i at a point (1, d, 1).

    A measured norm is that of the Hessian on a subspace, so it is at most the true one, and within
    about 1 % of it where the method has converged.
    """
    gradients = problem.grad(x)[..., 0]
    products = hessian_products(problem, x)

    def of_mean(v: _FloatArray) -> _FloatArray:
        found: _FloatArray = np.mean([product(v) for product in products], axis=0)
        return found

    return CurvatureAt(
        float(np.linalg.norm(gradients.mean(axis=0))),
        np.linalg.norm(gradients, axis=1),
        spectral_norm(of_mean, problem.d),
        np.array([spectral_norm(product, problem.d) for product in products]),
    )


def spectral_norm(product: Callable[[_FloatArray], _FloatArray], d: int) -> float:
    """Return the largest absolute eigenvalue of a symmetric map of R^d, from products with it."""
    operator = scipy.sparse.linalg.LinearOperator((d, d), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(d)
    if not product(start).any():
        return 0.0
    found: Any
    try:
        found = scipy.sparse.linalg.eigsh(
            operator, 1, which="LM", tol=_TOLERANCE, v0=start, ncv=min(d, 8), maxiter=_PRODUCTS,
            return_eigenvectors=False,
        )  # fmt: skip
    except scipy.sparse.linalg.ArpackNoConvergence as stopped:
        found = stopped.eigenvalues if stopped.eigenvalues.size else np.array([np.nan])
    return float(np.abs(found).max())
