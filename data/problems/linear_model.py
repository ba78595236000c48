"""Generalised linear models over clients that may have unequally many rows; also multinomial."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.files.own_data import Dataset
from certibit.data.files.splits import Division, Shares
from certibit.data.losses.base import Loss, WeightedLosses
from certibit.data.problem import Constants
from certibit.data.problems.ridge_problem import (
    RidgeProblem,
    cached_solution,
    minimiser,
    strong_convexity,
)
from certibit.data.problems.rows import Rows, largest_eigenvalue, require_possible, stored

Weighting = Literal["rows", "clients"]
"""Equal weights in f: of all rows, or of all clients."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LinearModel(WeightedLosses, RidgeProblem):
    """h_i(x) = sum_s w_is phi(a_is' x; b_is) for a loss phi, with ridge 2 mu in all.

    The weights w_is make f the mean over all rows, w_is = n/N, or the mean over the clients of
    their means, w_is = 1/m_i; for clients of equal size these are the same. Clients with fewer
    rows than others are filled up with empty rows of weight 0.

    Parameters
    ----------
    loss : Loss
        phi.
    rows : DenseRows or SparseRows
        The rows a_is of all clients, n blocks (m, d), m being the rows of the largest client.
    targets : array of shape (n, m, 1)
        The b_is.
    weights : array of shape (n, m, 1)
        The w_is.
    division : Division
        The number of rows of each class at each client.
    split : str
        The rule of the split.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import problem
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> problem(X, [1.0, 2.0, 4.0], clients=["a", "a", "b"], loss="least-squares", mu=0.1)
    LinearModel('own data@2', n=2, d=2, kappa=27.67, loss='least-squares')
    """

    loss: Loss
    rows: Rows
    targets: Array
    weights: Array
    division: Division
    split: str

    @classmethod
    def from_shares(
        cls,
        dataset: Dataset,
        shares: Shares,
        loss: Any,
        *,
        mu: float | None = None,
        kappa: float | None = None,
        weighting: Weighting = "rows",
        split: str = "given",
        seed: int = 0,
        storage: str | None = None,
    ) -> Self:
        """Make the problem of a data set whose rows are dealt already, in the composite view.

        Parameters
        ----------
        dataset : Dataset
            Rows and targets as the loss takes them.
        shares : sequence of arrays
            The positions of every client's rows.
        loss : Loss
            phi.
        mu, kappa : float
            Exactly one of the two, as for logistic regression: L_i = smoothness x
            lambda_max(sum_s w_is a_is a_is') + mu and kappa = max_i L_i / mu.
        weighting : {"rows", "clients"}
            What counts alike.
        split, seed : str, int
            By which rule the rows were dealt.
        storage : {"dense", "sparse"}, optional
            How the rows are stored; by default dense from 15 % of entries on.

        Raises
        ------
        Refusal
            If the targets do not fit the loss, not exactly one of mu > 0 and kappa > 1 is given,
            the loss is not the one of its name at the solution, or is seen to be less smooth.
        """
        if isinstance(loss, Loss) and loss.weak_convexity:
            raise Refusal(
                f"the loss {loss.name} is not convex, which no ridge repairs; give the problem as "
                "a nonconvex one"
            )
        with threadpool_limits(1):  # several threads lose on matrices of this size
            dealt = weighted_rows(dataset, shares, loss, weighting)
            ridge = strong_convexity(float(dealt.bare.L_i.max()), mu, kappa)
            asked = (None if value is None else float(value) for value in (mu, kappa))
            problem = cls(
                name=f"{dataset.name}@{dealt.n}",
                seed=seed,
                fingerprint=dealt.fingerprint(cls.__qualname__, *asked),
                bare=dealt.bare,
                ridge=2 * ridge,
                ridge_g=ridge,
                x_star=np.zeros((1, dealt.matrix.shape[1] * loss.outputs, 1)),
                loss=loss,
                rows=stored(dealt.matrix, dealt.n, storage),
                targets=dealt.targets,
                weights=dealt.weights,
                division=dealt.division,
                split=split,
            )
            problem = replace(problem, x_star=cached_solution(problem, minimiser))
        fault = loss.holds_at(problem.predictions)
        if fault:
            raise Refusal(fault)
        return problem

    @property
    def specification(self) -> dict[str, object]:
        """The definition of the problem and its view, ready for JSON."""
        return super().specification | {"loss": repr(self.loss), "split": self.split}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, loss={self.loss.name!r})"

    def hessian_product(self, x: Array, v: Array) -> Array:
        """Hessian of f + g at a point (1, d, 1) times the vectors v (1, d, K), as (1, d, K)."""
        products = self.rows.backward(self._curvature(x) * self.rows.forward(v))
        return array_namespace(x).sum(products, axis=0, keepdims=True) + self.ridge * v

    def _bare_grad(self, x: Array, ridge: float) -> Array:
        return self.rows.backward(self.row_slopes(x), ridge, x)

    def _bare_value(self, x: Array) -> Array:
        return self._mean(self.loss.value(self._predict(x), self.targets))

    def _bare_gap(self, step: Array) -> Array:
        moved = self._predict(step)
        return self._mean(self.loss.divergence(self.predictions, moved, self.targets))

    @cached_property
    def predictions(self) -> Array:
        """Products a' x_star of all rows, (n, m, 1)."""
        return self._predict(self.x_star)

    def _bare_hessian(self, x: Array) -> Array:
        return self.rows.gram(self._curvature(x))

    def _curvature(self, x: Array) -> Array:
        """Second derivatives of all losses, weighted, over n: (n, m, 1), at a point (1, d, 1)."""
        return self.weights / self.n * self.loss.curvature(self._predict(x), self.targets)

    def _mean(self, losses: Array) -> Array:
        """Mean over the clients of the weighted sum over their rows: (n, m, R) to (R,)."""
        return array_namespace(losses).sum(self.weights * losses, axis=(0, 1)) / self.n


@dataclass(frozen=True, eq=False)
class _WeightedRows:
    """The rows of all clients with targets and weights, and the constants of the mean losses.

    Attributes
    ----------
    loss : Loss
        phi.
    matrix : sparse matrix of shape (n m, d)
        All rows, one client after the other.
    targets, weights : arrays of shape (n, m, 1)
        The b_is and w_is.
    division : Division
        The number of rows of each class at each client.
    bare : Constants
        Of h_i(x) = sum_s w_is phi(a_is' x; b_is) and their average.
    """

    loss: Any
    matrix: "scipy.sparse.csr_array"
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]
    division: Division
    bare: Constants

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.targets)

    def fingerprint(self, kind: str, *asked: Any) -> str:
        """SHA-256 of the rows, the loss, and what else was asked for."""
        digest = hashlib.sha256(repr([kind, self.loss, self.n, self.matrix.shape, *asked]).encode())
        rows = (self.matrix.indptr, self.matrix.indices, self.matrix.data)
        for array in (*rows, self.targets, self.weights):
            digest.update(array.astype("<i8" if array.dtype.kind == "i" else "<f8").tobytes())
        return digest.hexdigest()


def weighted_rows(
    dataset: Dataset, shares: Shares, loss: Any, weighting: Weighting = "rows"
) -> _WeightedRows:
    """Fill up the clients' rows to equal numbers, and compute the constants of their losses.

    Raises
    ------
    Refusal
        If the targets do not fit the loss, the loss is seen to be less smooth than it states, or
        the numbers or the memory do not suffice.
    """
    require_possible(dataset, len(shares), loss.outputs)
    expected = loss.accepts(dataset.b)
    if expected:
        raise Refusal(f"the targets do not fit the loss {loss.name}; expected {expected}")
    weak = 0.0
    if isinstance(loss, Loss):
        loss.require_smooth(dataset.b)
        weak = loss.weak_convexity
    n, m, scales = len(shares), max(map(len, shares)), _scales(shares, weighting)
    matrix, targets, weights = _filled(dataset, shares, scales)
    blocks = [matrix[i * m : (i + 1) * m] for i in range(n)]
    largest = scales * np.array([largest_eigenvalue(each) for each in blocks])
    weighted = scipy.sparse.csr_array(scipy.sparse.diags_array(np.sqrt(weights)) @ matrix)
    return _WeightedRows(
        loss,
        matrix,
        targets.reshape(n, m, 1),
        weights.reshape(n, m, 1),
        Division.of(dataset.b, shares, dataset.labels),
        Constants(
            -weak * float(largest.max()) if weak else 0.0,
            loss.smoothness * largest,
            loss.smoothness * largest_eigenvalue(weighted) / n,
        ),
    )


def _scales(shares: Shares, weighting: str) -> NDArray[np.float64]:
    """Return the weight of a row of every client, (n,)."""
    sizes = np.array([len(share) for share in shares], dtype=np.float64)
    if weighting == "rows":
        return np.full(sizes.shape, len(sizes) / sizes.sum())
    if weighting == "clients":
        return 1.0 / sizes
    raise Refusal(
        f"the weighting {weighting!r} is unknown; choose rows (every row counts alike) or clients"
    )


def _filled(
    dataset: Dataset, shares: Shares, scales: NDArray[np.float64]
) -> tuple["scipy.sparse.csr_array", NDArray[np.float64], NDArray[np.float64]]:
    """Return rows (n m, d), targets and weights (n m,), clients filled up with empty rows."""
    n, m = len(shares), max(map(len, shares))
    chosen = np.concatenate(shares)
    filled = np.concatenate([i * m + np.arange(len(share)) for i, share in enumerate(shares)])
    place = scipy.sparse.csr_array(
        (np.ones(len(chosen)), (filled, chosen)), shape=(n * m, dataset.A.shape[0])
    )
    matrix = scipy.sparse.csr_array(place @ dataset.A)
    matrix.sort_indices()
    targets, weights = np.zeros(n * m), np.zeros(n * m)
    targets[filled] = dataset.b[chosen]
    weights[filled] = np.repeat(scales, [len(share) for share in shares])
    return matrix, targets, weights


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
