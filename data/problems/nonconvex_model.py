"""Linear models that are not convex: with a nonconvex regulariser, or with a robust loss."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from threadpoolctl import threadpool_limits

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.files.own_data import Dataset
from certibit.data.files.splits import Division, Shares
from certibit.data.losses.base import Loss, WeightedLosses
from certibit.data.own.description import state
from certibit.data.problem import Constants
from certibit.data.problems.linear_model import Weighting, weighted_rows
from certibit.data.problems.nonconvex_problem import NonconvexProblem
from certibit.data.problems.rows import Rows, stored

LAM = 0.1
"""The default weight of the regulariser."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NonconvexModel(WeightedLosses, NonconvexProblem):
    """f_i(x) = sum_s w_is phi(a_is' x; b_is) + lam sum_j x_j^2/(1 + x_j^2), phi >= 0.

    The second derivative of t^2/(1 + t^2) is from -1/2 (at t = 1 and -1) to 2 (at t = 0). With
    phi'' from -nu to L_phi and Lambda_i = lambda_max(sum_s w_is a_is a_is'), f_i is smooth with
    L_i = L_phi Lambda_i + 2 lam, and f_i + (c/2) |x|^2 is convex for c = nu max_i Lambda_i + lam/2:
    the constant mu is -c. Weights w_is as in :class:`~certibit.LinearModel`.

    The infimum is not known. It is at least 0, so ``gap``, called f - f*, is f itself: an upper
    bound of f - inf f. Use |grad f|^2 as the measure of accuracy.

    Source: the problem of the experiments of EF21, arXiv:2106.05203, with phi the
    logistic loss and lam = 0.1.

    Parameters
    ----------
    name : str
        The selector that makes the problem, such as ``a5a@87:nonconvex``.
    seed : int
        The seed of the split.
    fingerprint : str
        SHA-256 of what defines the problem.
    lam : float
        The weight of the regulariser.
    loss : Loss
        phi.
    bare : Constants
        The constants without the regulariser.
    rows : DenseRows or SparseRows
        The rows a_is of all clients, n blocks (m, d).
    targets, weights : arrays of shape (n, m, 1)
        The b_is and w_is.
    division : Division
        The number of rows of each class at each client.
    split : str
        The rule of the split.

    Examples
    --------
    >>> from certibit import problem
    >>> problem("breast-cancer@9:nonconvex")
    NonconvexModel('breast-cancer@9:nonconvex', n=9, d=30, lam=0.1, loss='logistic')
    """

    name: str = ""
    seed: int
    fingerprint: str = ""
    lam: float
    loss: Loss
    bare: Constants
    rows: Rows
    targets: Array
    weights: Array
    division: Division
    split: str

    __getstate__ = state  # pickled without what is computed from it

    @classmethod
    def from_shares(
        cls,
        dataset: Dataset,
        shares: Shares,
        loss: Loss,
        *,
        lam: float = LAM,
        weighting: Weighting = "rows",
        split: str = "given",
        seed: int = 0,
        storage: str | None = None,
    ) -> Self:
        """Make the problem of a data set whose rows are dealt already; runs start at 0.

        Parameters
        ----------
        dataset : Dataset
            Rows and targets as the loss takes them.
        shares : sequence of arrays
            The positions of every client's rows.
        loss : Loss
            phi, at least 0.
        lam : float
            The weight of the regulariser, from 0 on.
        weighting : {"rows", "clients"}
            What counts alike.
        split, seed : str, int
            By which rule the rows were dealt.
        storage : {"dense", "sparse"}, optional
            How the rows are stored; by default dense from 15 % of entries on.

        Raises
        ------
        Refusal
            If lam is negative, 0 with a convex loss, the targets do not fit the loss, or the loss
            is negative somewhere.
        """
        if not 0 <= lam < math.inf:
            raise Refusal(
                f"lam = {lam:g} is no weight of the nonconvex regulariser; give a number from 0 "
                "on, such as breast-cancer@9:nonconvex=0.1"
            )
        if not lam and not loss.weak_convexity:
            raise Refusal(
                f"lam = 0 with the convex loss {loss.name} leaves a convex problem; give lam > 0, "
                "or leave nonconvex out"
            )
        loss.require_bounded_below(dataset.b)
        with threadpool_limits(1):  # several threads lose on matrices of this size
            dealt = weighted_rows(dataset, shares, loss, weighting)
        chosen = "" if lam == LAM else f"={float(lam)!r}"
        kind = f":nonconvex{chosen}" if lam else ""
        return cls(
            name=f"{dataset.name}@{dealt.n}{kind}",
            seed=seed,
            fingerprint=dealt.fingerprint(cls.__qualname__, float(lam)),
            x_0=np.zeros((1, dealt.matrix.shape[1], 1)),
            lam=float(lam),
            loss=loss,
            bare=dealt.bare,
            rows=stored(dealt.matrix, dealt.n, storage),
            targets=dealt.targets,
            weights=dealt.weights,
            division=dealt.division,
            split=split,
        )

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.bare.L_i.shape[0])

    @cached_property
    def constants(self) -> Constants:
        """The constants; mu is negative."""
        bare, most = self.bare, 2 * self.lam
        return Constants(bare.mu - self.lam / 2, bare.L_i + most, bare.L_f + most)

    @property
    def x_star(self) -> Array:
        """NaN, (1, d, 1): no minimiser is known."""
        return self.x_0 * math.nan

    def grad(self, x: Array) -> Array:
        """Gradients of all f_i at (n, d, R), or at one point (1, d, R), as (n, d, R)."""
        return self.rows.backward(self.row_slopes(x)) + self._regulariser(x)

    def _regulariser(self, x: Array) -> Array:
        square = 1 + x * x
        return 2 * self.lam * x / (square * square)

    def value(self, x: Array) -> Array:
        """f(x) at shared points (1, d, R), as an array (R,)."""
        xp = array_namespace(x)
        losses = self.loss.value(self.rows.forward(x), self.targets)
        square = x * x
        regulariser = xp.sum(square / (1 + square), axis=(0, 1))
        return xp.sum(self.weights * losses, axis=(0, 1)) / self.n + self.lam * regulariser

    def gap(self, x: Array) -> Array:
        """f(x) - 0 at shared points (1, d, R), as an array (R,): 0 bounds inf f from below."""
        return self.value(x)

    @property
    def specification(self) -> dict[str, object]:
        """The definition of the problem, ready for JSON."""
        own = {"seed": self.seed, "lam": self.lam, "loss": repr(self.loss), "split": self.split}
        return super().specification | own

    def __repr__(self) -> str:
        return (
            f"NonconvexModel({self.name!r}, n={self.n}, d={self.d}, lam={self.lam:g}, "
            f"loss={self.loss.name!r})"
        )
