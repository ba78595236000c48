"""Multinomial logistic regression over clients."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from certibit.data.arrays import Array, array_namespace
from certibit.data.problems.linear_model import LinearModel


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MultinomialRegression(LinearModel):
    """A linear model with K predictions a row; x holds d K numbers, those of a feature together.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certibit import problem
    >>> X, y = load_iris(return_X_y=True)
    >>> problem(X, y, clients=3, loss="multinomial", kappa=1e3)
    MultinomialRegression('own data@3', n=3, d=12, kappa=1000, loss='multinomial')
    """

    loss: Any

    def hessian_product(self, x: Array, v: Array) -> Array:
        """Hessian of f + g at a point (1, d, 1) times the vectors v (1, d, K), as (1, d, K)."""
        xp = array_namespace(x)
        p, moved = self.loss.probabilities(self._predict(x)), self._predict(v)
        turned = p * (moved - xp.sum(p * moved, axis=2, keepdims=True))
        products = self._collect(self.weights[..., None] / self.n * turned)
        return xp.sum(products, axis=0, keepdims=True) + self.ridge * v

    def row_slopes(self, x: Array) -> Array:
        """Gradients of w_is phi in the predictions, at (n, d K, R) or (1, d K, R): (n, m, K, R)."""
        return self.weights[..., None] * self.loss.slope(self._predict(x), self.targets)

    def _bare_grad(self, x: Array, ridge: float) -> Array:
        return self._collect(self.row_slopes(x)) + ridge * x

    def _bare_value(self, x: Array) -> Array:
        return self._mean(self.loss.value(self._predict(x), self.targets))

    def _bare_gap(self, step: Array) -> Array:
        return self._mean(self.loss.divergence(self.predictions, self._predict(step)))

    def _bare_hessian(self, x: Array) -> Array:
        p, K = self.loss.probabilities(self._predict(x))[..., 0], self.loss.outputs
        hessian = np.zeros((self.d, self.d))
        for j in range(K):
            for k in range(j, K):
                curvature = p[:, :, j] * ((j == k) - p[:, :, k])
                block = self.rows.gram(self.weights / self.n * curvature[:, :, None])
                hessian[j::K, k::K] = hessian[k::K, j::K] = block
        return hessian

    def _predict(self, x: Array) -> Array:
        """Predictions at points (n, d K, R), or (1, d K, R): (n, m, K, R)."""
        xp, K, runs = array_namespace(x), self.loss.outputs, x.shape[2]
        z = self.rows.forward(xp.reshape(x, (x.shape[0], -1, K * runs)))
        return xp.reshape(z, (*z.shape[:2], K, runs))

    def _collect(self, s: Array) -> Array:
        """Products of all rows with numbers (n, m, K, R): (n, d K, R)."""
        xp, (n, m, K, runs) = array_namespace(s), s.shape
        products = self.rows.backward(xp.reshape(s, (n, m, K * runs)))
        return xp.reshape(products, (n, -1, runs))
