"""The largest curvature of the losses of a network at a point, by Hessian-vector products."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.deep.module_gradients import Tensor, plain_attention
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


@dataclass(frozen=True, eq=False)
class HessianProducts:
    """Products with the Hessians of the f_i at a point (1, d, 1).

    Parameters
    ----------
    problem : NeuralProblem
    x : array (1, d, 1)
    """

    problem: NeuralProblem
    x: Array

    def of_client(self, client: int, v: _FloatArray) -> _FloatArray:
        """Return Hess f_i(x) v, (d,)."""
        examples = (each[client] for each in self.problem.examples)
        with plain_attention():
            found = torch_library().func.grad(self._along)(self._point, self._put(v), *examples)
        return _numpy(found)

    def of_mean(self, v: _FloatArray) -> _FloatArray:
        """Return Hess f(x) v, (d,)."""
        func, n = torch_library().func, self.problem.n
        points, vectors = (u.expand(n, -1) for u in (self._point, self._put(v)))
        with plain_attention():
            found = func.vmap(func.grad(self._along))(points, vectors, *self.problem.examples)
        return _numpy(found.mean(dim=0))

    @property
    def _point(self) -> Tensor:
        return self.problem.model.points(self.x)[0, 0]

    def _put(self, v: _FloatArray) -> Tensor:
        return torch_library().from_numpy(np.ascontiguousarray(v.ravel())).to(self._point)

    def _along(self, at: Tensor, v: Tensor, *examples: Tensor) -> Tensor:
        torch = torch_library()
        return torch.dot(torch.func.grad(self.problem.model.client_loss)(at, *examples), v)


def _numpy(values: Tensor) -> _FloatArray:
    found: _FloatArray = values.detach().double().numpy()
    return found


def curvature_at(problem: NeuralProblem, x: Array) -> CurvatureAt:
    """Measure |grad|, and |Hess| by Lanczos' method, of f and of all f_i at a point (1, d, 1).

    A measured norm is that of the Hessian on a subspace, so it is at most the true one, and within
    about 1 % of it where the method has converged.
    """
    gradients, products = problem.grad(x)[..., 0], HessianProducts(problem, x)
    norms = [spectral_norm(partial(products.of_client, i), problem.d) for i in range(problem.n)]
    return CurvatureAt(
        float(np.linalg.norm(gradients.mean(axis=0))),
        np.linalg.norm(gradients, axis=1),
        spectral_norm(products.of_mean, problem.d),
        np.array(norms),
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
