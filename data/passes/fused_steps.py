"""Many gradient steps of every client at its own point, without the vectors in between."""

from dataclasses import dataclass
from types import ModuleType
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from certibit.data.passes.dense_steps import DenseSteps
from certibit.data.passes.fused import FusedGradients, Vectors, fused_gradients
from certibit.data.problems.rows import Rows

Numbers = NDArray[np.float64]
"""One for each run, (R,)."""

_CLIENTS = 16
"""Clients of a group, whose products lie beside each other."""
_LANES = (0,) * 8
"""Lanes of runs, for any number of them: most time goes into steps, whose lanes are clients."""
_LARGEST, _MOST = 6, 50
"""Products of pairs of rows that there may be for an entry of rows; and times the lanes of runs."""


@dataclass(frozen=True, eq=False)
class FusedSteps:
    """The steps x_i <- a x_i + b u_i + c grad h_i(x_i), by compiled code.

    The products z_i = A_i x_i obey z_i <- a z_i + b A_i u_i + c A_i A_i' s(z_i), a recursion of m
    numbers for each client, with grad h_i(x_i) = A_i' s(z_i). From all s the last x_i follows:
    a^t x_i + b (1 + a + ... + a^(t-1)) u_i + c A_i' sum_k a^k s(z_i^(t-1-k)).

    Parameters
    ----------
    losses : FusedGradients
        The gradients of the h_i.
    grams : array of shape (groups, m, m, clients)
        A_i A_i' of all clients, in groups; those of clients that are not there are 0.
    code : module
        The compiled passes.
    """

    losses: FusedGradients
    grams: Vectors
    code: ModuleType

    @classmethod
    def of(cls, losses: FusedGradients) -> "FusedSteps | None":
        """Prepare the steps; None where the products of rows would take too much memory."""
        n, m, d = losses.shape
        if n * m * m > _LARGEST * losses.rows[2].size:
            return None
        from certibit.data.passes import local_passes  # noqa: PLC0415  (numba is slow to import)

        grams = np.zeros((-(-n // _CLIENTS), m, m, _CLIENTS))
        starts, columns, values = losses.rows
        matrix = scipy.sparse.csr_array((values, columns, starts), shape=(n * m, d))
        for i in range(n):  # once for a problem
            own = matrix[i * m : (i + 1) * m]
            grams[i // _CLIENTS, :, :, i % _CLIENTS] = (own @ own.T).toarray()
        return cls(losses, grams, local_passes)

    def pay(self, runs: int) -> bool:
        """Whether they are faster than single steps, in which runs share vector registers."""
        lanes = self.losses.code.lanes_for(runs)
        return len(lanes) * self.grams.size <= _MOST * self.losses.rows[2].size

    def after(
        self, steps: NDArray[np.int64], x: Vectors, u: Vectors, a: Numbers, b: Numbers, c: Numbers
    ) -> Vectors:
        """Return the x_i after so many steps in every run, (n, d, R).

        The array x is (n, d, R), and u is (n, d, R) or (1, d, R), both C-contiguous.
        """
        losses = self.losses
        (n, m, d), runs = losses.shape, x.shape[2]
        powers, sums = powers_and_sums(a, steps)
        out = np.empty_like(x)
        self.code.local_steps(
            _LANES, (0,) * _CLIENTS, losses.rows, losses.features,
            self.grams.reshape(-1), (n, m, d, runs), losses.read(x), losses.read(u),
            a, b, -c / m, steps, (np.tile(powers, d), np.tile(b * sums, d)), out.reshape(-1),
        )  # fmt: skip
        return out


def fused_steps(rows: Rows) -> FusedSteps | DenseSteps | None:
    """Return many steps along the gradients of logistic losses of the rows, prepared once.

    None where they do not pay.
    """
    if rows not in _PREPARED:
        losses = fused_gradients(rows)
        _PREPARED[rows] = DenseSteps.of(losses) or FusedSteps.of(losses)
    return _PREPARED[rows]


_PREPARED: WeakKeyDictionary[Rows, FusedSteps | DenseSteps | None] = WeakKeyDictionary()


def powers_and_sums(a: Numbers, steps: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Return a^t and 1 + a + ... + a^(t-1) of every run, t being its number of steps."""
    powers, rest, near = a**steps, 1 - a, a > 0.5  # near 1 the difference 1 - a^t loses digits
    apart = np.where(near, -np.expm1(steps * np.log1p(np.where(near, -rest, 0.0))), 1 - powers)
    return powers, np.divide(apart, rest, out=steps.astype(np.float64), where=rest != 0)
