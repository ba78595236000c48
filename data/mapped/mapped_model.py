"""Generalised linear models of very many clients, whose rows stay in memory-mapped files."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.files.archive import load_arrays, load_or_set_aside, save_arrays
from certibit.data.files.cache import cache_folder
from certibit.data.files.splits import Division
from certibit.data.losses.base import Loss
from certibit.data.mapped.mapped_rows import MappedRows, mapped_file
from certibit.data.mapped.rows_in_file import RowsInFile, largest_of_blocks
from certibit.data.memory import require_memory
from certibit.data.problem import Constants
from certibit.data.problems.linear_model import LinearModel
from certibit.data.problems.ridge_problem import RidgeProblem, strong_convexity
from certibit.data.problems.rows import DenseRows
from certibit.data.problems.solution import cached_solution, minimiser

_ENTRIES = 1 << 20
"""About so many entries of the data are worked on at once."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MappedModel(RidgeProblem):
    """h_i(x) = sum_s w_i phi(a_is' x; b_is) for a loss phi, with ridge 2 mu in all.

    The same problem as :class:`~certibit.data.problems.linear_model.LinearModel`, whose rows need
    not fit into memory: what concerns all clients is computed for some at a time, and ``part``
    returns the problem of a few of them.

    Parameters
    ----------
    loss : Loss
        phi.
    rows : MappedRows
        The rows and targets of all clients.
    weighting : {"rows", "clients"}
        w_i = n/N or 1/m_i.
    """

    loss: Loss
    rows: MappedRows
    weighting: Literal["rows", "clients"]

    @classmethod
    def of_rows(
        cls,
        name: str,
        rows: MappedRows,
        loss: Loss,
        *,
        mu: float | None = None,
        kappa: float | None = None,
        weighting: Literal["rows", "clients"] = "rows",
    ) -> Self:
        """Make the problem, in the composite view.

        Parameters
        ----------
        name : str
        rows : MappedRows
        loss : Loss
            phi; not one of weak convexity.
        mu, kappa : float
            Exactly one of the two, as for :class:`LinearModel`.
        weighting : {"rows", "clients"}
            What counts alike.

        Raises
        ------
        Refusal
            If the targets do not fit the loss, or not exactly one of mu and kappa is given.
        """
        if loss.weak_convexity:
            raise Refusal(
                f"the loss {loss.name} is not convex, and data that stay in a file have convex "
                "ones; choose another loss, or another split"
            )
        targets = _labels(rows, loss)
        expected = loss.accepts(loss_targets(targets, loss))
        if expected:
            raise Refusal(f"the targets do not fit the loss {loss.name}; expected {expected}")
        problem = cls(
            name=name, seed=0, fingerprint="", bare=Constants(0.0, np.zeros(rows.n), 0.0),
            ridge=0.0, ridge_g=0.0, x_star=np.zeros((1, rows.d, 1)),
            loss=loss, rows=rows, weighting=weighting,
        )  # fmt: skip
        with threadpool_limits(1):
            problem = replace(problem, bare=problem._kept_constants())
            ridge = strong_convexity(float(problem.bare.L_i.max()), mu, kappa)
            problem = replace(
                problem,
                fingerprint=problem._digest("problem", mu, kappa),
                ridge=2 * ridge,
                ridge_g=ridge,
            )
            return replace(problem, x_star=cached_solution(problem, minimiser))

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.rows.n

    @property
    def specification(self) -> dict[str, object]:
        """The definition of the problem and its view, ready for JSON."""
        return super().specification | {"loss": repr(self.loss), "weighting": self.weighting}

    def part(self, clients: NDArray[np.int64]) -> LinearModel:
        """Return the problem of some clients, in memory.

        Its f is the mean of theirs; its L_f is the mean of their L_i, which is not less than that
        of f.
        """
        return self._part(clients, in_file=False)

    def with_rows_in_file(self) -> LinearModel:
        """Return the problem of all clients with their targets in memory, and not their rows.

        Raises
        ------
        Refusal
            If the machine has not the memory for a few numbers for every row.
        """
        sizes, rows = np.diff(self.rows.starts), self.rows
        m = int(sizes.max())
        require_memory(4 * self.n * m, f"{self.name} with up to {m} rows a client")
        counts = tuple((size,) for size in sizes.tolist())
        return replace(
            self._part(np.arange(self.n), in_file=True),
            bare=self.bare,
            division=Division((), counts, len(rows.targets) - rows.N),
        )

    def mean_grad(self, x: Array) -> Array:
        """Gradient of f at shared points (1, d, R), without the gradients of all clients."""
        summed = np.zeros_like(x)
        for _, block in self._blocks():
            summed += block.grad(x).sum(axis=0, keepdims=True)
        return summed / self.n

    def hessian_product(self, x: Array, v: Array) -> Array:
        """Hessian of f + g at a point (1, d, 1) times the vectors v (1, d, K), as (1, d, K)."""
        return sum(share * block.hessian_product(x, v) for share, block in self._blocks())

    def _bare_grad(self, x: Array, ridge: float) -> Array:
        gradients = np.empty((self.n, *x.shape[1:]))
        first = 0
        for _, block in self._blocks():
            last = first + block.n
            at = x if len(x) == 1 else x[first:last]
            gradients[first:last] = block._bare_grad(at, ridge)
            first = last
        return gradients

    def _bare_value(self, x: Array) -> Array:
        return sum(share * block._bare_value(x) for share, block in self._blocks())

    def _bare_gap(self, step: Array) -> Array:
        return sum(share * block._bare_gap(step) for share, block in self._blocks())

    def _bare_hessian(self, x: Array) -> Array:
        return sum(share * block._bare_hessian(x) for share, block in self._blocks())

    def _blocks(self) -> Iterator[tuple[float, LinearModel]]:
        """Yield the problems of consecutive clients, with their shares of all."""
        rows = self.rows
        width = max(1, rows.n * _ENTRIES // max(int(rows.indptr[-1]), 1))
        for first in range(0, rows.n, width):
            clients = np.arange(first, min(first + width, rows.n))
            yield len(clients) / rows.n, self.part(clients)

    def _part(self, clients: NDArray[np.int64], in_file: bool) -> LinearModel:
        starts = self.rows.starts
        first, sizes = starts[clients], starts[clients + 1] - starts[clients]
        rows = RowsInFile(self.rows, first, sizes, int(sizes.max()))
        targets, weights = np.zeros((2, *rows.shape[:2], 1))
        filled = rows.is_filled
        targets[filled, 0] = loss_targets(self.rows.targets[rows.rows], self.loss, self._values)
        weights[filled, 0] = np.repeat(self._scales(sizes), sizes)
        own: Any = rows if in_file else rows.read()
        bare = self.bare
        return LinearModel(
            name=self.name,
            seed=self.seed,
            fingerprint=self.fingerprint,
            bare=Constants(bare.mu, bare.L_i[clients], float(bare.L_i[clients].mean())),
            ridge=self.ridge,
            ridge_g=self.ridge_g,
            x_star=self.x_star,
            loss=self.loss,
            rows=own,
            targets=targets,
            weights=weights,
            division=Division((), ()),
            split="in-order",
        )

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        return _labels(self.rows, self.loss)

    def _scales(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        if self.weighting == "rows":
            return np.full(len(sizes), self.n / self.rows.N)
        return 1.0 / sizes

    def _digest(self, *asked: Any) -> str:
        made_of = [*asked, self.rows.folder.name, repr(self.loss), self.weighting]
        return hashlib.sha256(repr(made_of).encode()).hexdigest()

    def _kept_constants(self) -> Constants:
        """Return the constants of the bare functions, from the cache or put there."""
        path = cache_folder() / "constants" / f"{self._digest('constants')}.npz"
        kept = load_or_set_aside(path, load_arrays)
        if kept is None:
            kept = {"L_i": self._smoothness(), "L_f": np.array([self._smoothness_of_mean()])}
            save_arrays(path, kept)
        return Constants(0.0, kept["L_i"], float(kept["L_f"][0]))

    def _smoothness(self) -> NDArray[np.float64]:
        """Return L_i = smoothness x lambda_max(sum_s w_i a_is a_is') of all clients, (n,)."""
        found = []
        for _, block in self._blocks():
            rows, (n, m, d) = block.rows, block.rows.shape
            width = max(1, _ENTRIES // (m * d))
            for first in range(0, n, width):
                last = min(first + width, n)
                weights = np.sqrt(block.weights[first:last])
                if isinstance(rows, DenseRows):
                    stack = rows.stack[first:last]
                else:
                    stack = rows.stacked[first * m : last * m].toarray().reshape(-1, m, d)
                scaled = weights * stack
                turned = np.swapaxes(scaled, 1, 2)
                gram = scaled @ turned if m <= d else turned @ scaled
                found.append(np.linalg.eigvalsh(gram)[:, -1])
        return self.loss.smoothness * np.concatenate(found)

    def _smoothness_of_mean(self) -> float:
        """Return smoothness x lambda_max of the mean over the clients of sum_s w_i a_is a_is'."""
        largest = largest_of_blocks(
            self.d, lambda: ((block.rows, block.weights) for _, block in self._blocks())
        )
        return self.loss.smoothness * largest / self.n


def loss_targets(
    labels: NDArray[np.float64], loss: Loss, values: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return labels as a loss takes them: -1 and +1 for the two values of classes, or numbers."""
    if loss.targets != "two classes":
        return labels
    larger = labels.max() if values is None else values[-1]
    return np.where(labels == larger, 1.0, -1.0)


def _labels(rows: MappedRows, loss: Loss) -> NDArray[np.float64]:
    """Return the label values of all rows, sorted; for numbers, their extremes."""
    targets = rows.targets[: rows.N]
    if loss.targets != "two classes":
        return np.array([targets.min(), targets.max()])
    values = np.unique(targets)
    if len(values) != 2:
        raise Refusal(
            f"the file has {len(values)} label values and {loss.name} takes two; choose another "
            "file or another loss"
        )
    return values


def mapped_problem(
    path: str,
    n: int,
    rule: str,
    loss: Any,
    *,
    mu: float | None,
    kappa: float | None,
    weighting: Literal["rows", "clients"],
) -> MappedModel:
    """Return the problem of a LibSVM file that stays in files, by the name of its split.

    ``in-order`` deals consecutive rows; with ``column:<j>`` feature j names the client of a row.

    Raises
    ------
    Refusal
        If the rule cannot be read, or there is no such file.
    """
    kind, _, number = rule.partition(":")
    column = int(number) if number.isdecimal() and int(number) else None
    if (kind == "column") != (column is not None) or (kind == "in-order" and number):
        raise Refusal(
            f"the split {rule!r} cannot be read; expected in-order, or column:<j> where feature j "
            "is the number of the client, such as column:1"
        )
    if not isinstance(loss, Loss):
        raise Refusal("data that stay in a file have a loss of one prediction a row; choose one")
    file = Path(path)
    if not file.is_file():
        raise Refusal(
            f"there is no file {path}; the split {rule!r} is of a file, named by its path"
        )
    return MappedModel.of_rows(
        f"{file.name}@{n}",
        mapped_file(file, n, column),
        loss,
        mu=mu,
        kappa=kappa,
        weighting=weighting,
    )
