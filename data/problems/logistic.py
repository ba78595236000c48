"""Regularised logistic regression over clients, formula (11) of the LoCoDL paper."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy
from array_api_compat import device
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from certibit.data.arrays import Array, array_namespace
from certibit.data.batch_rows import BatchRows
from certibit.data.files.own_data import Dataset
from certibit.data.files.splits import Division, split as deal
from certibit.data.losses.losses import (
    Logistic,
    exponent_limit,
    logistic_divergence,
    sigmoid,
)
from certibit.data.problem import Constants
from certibit.data.problems.ridge_problem import (
    RidgeProblem,
    cached_solution,
    minimiser,
    strong_convexity,
)
from certibit.data.problems.rows import (
    DenseRows,
    Rows,
    largest_eigenvalue,
    require_possible,
    stored,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticRegression(RidgeProblem):
    """h_i(x) = (1/m) sum_s log(1 + exp(-b_is a_is' x)), with ridge 2 mu in all.

    In the composite view f_i and g hold the ridge mu each: formula (11) of LoCoDL with
    g = (mu/2) |x|^2. In the plain view every f_i holds both.

    Source: LoCoDL (Condat, Maranjyan, Richtarik, 2024), section 4, formula (11).

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows b_is a_is' of all clients, n blocks (m, d).
    split : str
        The rule by which the rows of the data set were dealt over the clients.
    division : Division
        The number of rows of each class at each client.

    Examples
    --------
    >>> from certibit import LogisticRegression, load
    >>> LogisticRegression.from_data(load("breast-cancer"), n=9, kappa=1e3)
    LogisticRegression('breast-cancer@9', n=9, d=30, kappa=1000, storage='dense')
    """

    rows: Rows
    split: str
    division: Division

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        n: int,
        *,
        mu: float | None = None,
        kappa: float | None = None,
        split: str = "shuffled",
        seed: int = 0,
        storage: str | None = None,
    ) -> Self:
        """Split a data set over n clients and make the problem, in the composite view (11).

        Parameters
        ----------
        dataset : Dataset
            Rows and labels -1, +1.
        n : int
            Number of clients; each gets m = floor(N/n) rows, the rest is discarded.
        mu, kappa : float
            Exactly one of the two, both as in (11): L_i = lambda_max(A_i'A_i)/(4m) + mu, and
            kappa = L/mu, so mu = max_i (L_i - mu) / (kappa - 1).
        split : str
            ``shuffled`` or ``similarity:<percent>``.
        seed : int
            Seed of the split.
        storage : {"dense", "sparse"}, optional
            How the rows are stored; by default dense from 15 % of entries on.

        Raises
        ------
        Refusal
            If not exactly one of mu > 0 and kappa > 1 is given, if all rows are empty and kappa is
            given, if the split or the storage is refused, or if the machine has not the memory.
        """
        with threadpool_limits(1):  # several threads lose on matrices of this size
            indices = deal(dataset.b, n, split, seed)
            m = indices.shape[1]
            require_possible(dataset, n)
            chosen = indices.reshape(-1)
            signs = scipy.sparse.diags_array(dataset.b[chosen])
            matrix = scipy.sparse.csr_array(signs @ dataset.A[chosen])
            matrix.sort_indices()
            L_i = np.array(
                [largest_eigenvalue(matrix[i * m : (i + 1) * m]) / (4 * m) for i in range(n)]
            )
            ridge = strong_convexity(float(L_i.max()), mu, kappa)
            problem = cls(
                name=f"{dataset.name}@{n}",
                seed=seed,
                fingerprint=_fingerprint(matrix, n, mu, kappa),
                bare=Constants(0.0, L_i, largest_eigenvalue(matrix) / (4 * m * n)),
                ridge=2 * ridge,
                ridge_g=ridge,
                x_star=np.zeros((1, matrix.shape[1], 1)),
                rows=stored(matrix, n, storage),
                split=split,
                division=Division.of(dataset.b, indices, dataset.labels),
            )
            return replace(problem, x_star=cached_solution(problem, minimiser))

    @property
    def m(self) -> int:
        """Number of rows of every client."""
        return self.rows.shape[1]

    @property
    def storage(self) -> str:
        """``dense`` or ``sparse``."""
        return "dense" if isinstance(self.rows, DenseRows) else "sparse"

    @property
    def specification(self) -> dict[str, object]:
        """The definition of the problem and its view, ready for JSON."""
        return super().specification | {"m": self.m, "split": self.split}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, storage={self.storage!r})"

    def hessian_product(self, x: Array, v: Array) -> Array:
        """Hessian of f + g at a point (1, d, 1) times the vectors v (1, d, K), as (1, d, K)."""
        xp = array_namespace(x)
        products = self.rows.backward(self._curvature(x) * self.rows.forward(v))
        return xp.sum(products, axis=0, keepdims=True) + self.ridge * v

    def _bare_grad(self, x: Array, ridge: float) -> Array:
        return self.rows.backward(self.row_slopes(x), ridge, x)

    @property
    def row_weights(self) -> Array:
        """1/m for every row, (n, m, 1)."""
        n, m, _ = self.rows.shape
        return self._of_rows((n, m, 1), 1 / m)

    @property
    def row_loss(self) -> Logistic:
        """The logistic loss of b_is = 1, as the rows hold the labels."""
        return Logistic()

    def row_slopes(self, x: Array) -> Array:
        """-(1/m)/(1 + exp(z)) at points (n, d, R) or (1, d, R), z = b_is a_is' x; (n, m, R)."""
        z = self.rows.forward(x)
        xp = array_namespace(z)
        z = xp.exp(xp.minimum(z, exponent_limit(z)))
        z += 1.0  # in place: the temporary is our own
        return (-1.0 / self.m) / z

    @property
    def row_counts(self) -> Array:
        """The number m of the rows of every client, (n, 1, 1)."""
        n, m, _ = self.rows.shape
        return self._of_rows((n, 1, 1), m)

    def _of_rows(self, shape: tuple[int, ...], number: float) -> Array:
        like = self.x_star
        return array_namespace(like).full(shape, number, dtype=like.dtype, device=device(like))

    def of_batch(self, rows: BatchRows) -> Self:
        """Return the problem whose f_i are those of a mini-batch."""
        changes: Any = {"rows": rows}
        return replace(self, **changes)

    def _bare_value(self, x: Array) -> Array:
        z = self.rows.forward(x)
        xp = array_namespace(z)
        losses = xp.log1p(xp.exp(-xp.abs(z))) - xp.minimum(z, 0.0)
        return xp.mean(losses, axis=(0, 1))

    def _bare_gap(self, step: Array) -> Array:
        divergences = logistic_divergence(self._margins, self.rows.forward(step))
        return array_namespace(step).mean(divergences, axis=(0, 1))

    @cached_property
    def _margins(self) -> Array:
        """The products b a' x_star of all rows, (n, m, 1)."""
        return self.rows.forward(self.x_star)

    def _bare_hessian(self, x: Array) -> Array:
        return self.rows.gram(self._curvature(x))

    def _curvature(self, x: Array) -> Array:
        """Second derivatives of all losses over n m, (n, m, 1), at a point (1, d, 1)."""
        z = self.rows.forward(x)
        return sigmoid(z) * sigmoid(-z) / (z.shape[0] * z.shape[1])


def _fingerprint(
    matrix: "scipy.sparse.csr_array", n: int, mu: float | None, kappa: float | None
) -> str:
    """SHA-256 of what was asked for; a derived mu would differ in its last bit between machines."""
    asked = [None if value is None else float(value) for value in (mu, kappa)]
    digest = hashlib.sha256(repr((n, matrix.shape, asked)).encode())
    arrays: list[NDArray[np.generic]] = [
        matrix.indptr.astype("<i8"),
        matrix.indices.astype("<i8"),
        matrix.data.astype("<f8"),
    ]
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()
