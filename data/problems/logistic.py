"""Regularised logistic regression over clients, formula (11) of the LoCoDL paper."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy

from certibit.data.arrays import Array, array_namespace
from certibit.data.batch_rows import BatchRows
from certibit.data.files.own_data import Dataset
from certibit.data.files.splits import Division, split as deal
from certibit.data.losses.losses import Logistic, exponent_limit
from certibit.data.problems.linear_model import LinearModel
from certibit.data.problems.rows import DenseRows


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LogisticRegression(LinearModel):
    """h_i(x) = (1/m) sum_s log(1 + exp(-b_is a_is' x)), with ridge 2 mu in all.

    In the composite view f_i and g hold the ridge mu each: formula (11) of LoCoDL with
    g = (mu/2) |x|^2. In the plain view every f_i holds both.

    Source: LoCoDL (Condat, Maranjyan, Richtarik, 2024), section 4, formula (11).

    Clients have equally many rows, which hold the labels: b_is a_is' with targets 1 and weights
    1/m.

    Examples
    --------
    >>> from certibit import LogisticRegression, load
    >>> LogisticRegression.from_data(load("breast-cancer"), n=9, kappa=1e3)
    LogisticRegression('breast-cancer@9', n=9, d=30, kappa=1000, storage='dense')
    """

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
        shares = deal(dataset.b, n, split, seed)
        A = dataset.A
        values = A.data * np.repeat(dataset.b, np.diff(A.indptr))
        signed = scipy.sparse.csr_array((values, A.indices, A.indptr), shape=A.shape)
        margins = replace(dataset, A=signed, b=np.ones(dataset.b.shape))
        made = cls.from_shares(
            margins,
            tuple(shares),
            Logistic(),
            mu=mu,
            kappa=kappa,
            split=split,
            seed=seed,
            storage=storage,
        )
        return replace(made, division=Division.of(dataset.b, shares, dataset.labels))

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
        return super().specification | {"m": self.m}

    def __repr__(self) -> str:
        return f"{super(LinearModel, self).__repr__()[:-1]}, storage={self.storage!r})"

    def row_slopes(self, x: Array) -> Array:
        """-(1/m)/(1 + exp(z)) at points (n, d, R) or (1, d, R), z = b_is a_is' x; (n, m, R)."""
        z = self.rows.forward(x)
        xp = array_namespace(z)
        z = xp.exp(xp.minimum(z, exponent_limit(z)))
        z += 1.0  # in place: the temporary is our own
        return (-1.0 / self.m) / z

    def of_batch(self, rows: BatchRows) -> Self:
        """Return the problem whose f_i are those of a mini-batch."""
        changes: Any = {"rows": rows}
        return replace(self, **changes)
