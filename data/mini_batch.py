"""Mini-batches: stochastic gradients from some rows of every client, and their exact constants.

A client with m rows has h_i = (1/m) sum_s h_is with h_is(x) = m w_is phi(a_is' x; b_is); what it
adds to h_i, such as a ridge, has no noise. From b rows S drawn uniformly it gets

    g_i(x) = (1/b) sum_{s in S} grad h_is(x) + the gradient of the rest,

of variance kappa_i (1/m) sum_s |grad h_is(x) - grad h_i(x)|^2, with kappa_i = 1/b for rows drawn
with replacement, and (m - b)/(b (m - 1)) without. Sources: Gower, Loizou, Qian, Sailanbayev,
Shulgin, Richtarik, arXiv:1901.09401, Section 3; Khaled, Richtarik, arXiv:2002.03329, Section 4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import finalize

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, fetched, is_numpy
from certibit.data.batch_rows import BatchRows, rows_of_batch
from certibit.data.errors import Refusal
from certibit.data.noise import subsets

FLOYD = 16
"""Where m is at least this many times b^2, rows are drawn by Floyd's algorithm, from b numbers.

Otherwise they are those of the b smallest of m numbers. Measured at m/b^2 = 16, Floyd's takes 0.8
to 1.4 times as long for one run, and 0.1 to 0.2 times for 16 runs.
"""

LEFT_OUT = 2.0
"""A number above all uniform ones: that of an empty row, which is never among the smallest."""


SumOfRows: TypeAlias = Any
"""A problem whose f_i are sums over rows. Beside ``name`` and ``grad`` it has

* ``rows``, the a_is of all clients, n blocks (m, d): :mod:`certibit.data.problems.rows`;
* ``weights``, the w_is, (n, m, 1), 0 for empty rows; ``row_counts``, the m_i, (n, 1, 1);
* ``bare``, the constants of the h_i; ``loss``, phi: :class:`~certibit.Loss`; ``targets``, the b_is;
* ``row_slopes(x)``, w_is phi'(a_is' x; b_is) at (n, d, R) or (1, d, R), as (n, m, R);
* ``of_batch(rows)``, the problem whose f_i are those of a mini-batch.
"""

_KEPT: dict[int, tuple["MiniBatch", SumOfRows, SumOfRows]] = {}
"""The batch of a problem that was last made of an array of uniform numbers that is still there."""


@dataclass(frozen=True)
class MiniBatch:
    """Stochastic gradients from b rows of every client, drawn uniformly and independently.

    Gradients of such a problem are counted in rows: b for a stochastic one, those of the largest
    client for an exact one.

    Parameters
    ----------
    b : int
        Number of rows, at most that of every client.
    replacement : bool
        Whether a row may be drawn several times; otherwise this is b-nice sampling.

    Examples
    --------
    >>> from certibit import problem
    >>> problem("breast-cancer@9:nonconvex:batch=8").noise
    MiniBatch(b=8, replacement=False)
    """

    b: int
    replacement: bool = False

    def require_possible(self, problem: SumOfRows) -> None:
        """Refuse batches that no client of a problem, or not every one, has.

        Raises
        ------
        Refusal
            Unless 1 <= b <= min_i m_i and gradients are sums over rows.
        """
        if not hasattr(problem, "row_counts") or problem.loss.outputs != 1:
            raise Refusal(
                f"{problem.name} has no rows of one prediction each, of which mini-batches could "
                "be drawn; leave batch out"
            )
        least = int(row_counts(problem).min())
        if not 1 <= self.b <= least:
            raise Refusal(
                f"batch = {self.b} of clients that have {least} rows or more; give a whole number "
                f"from 1 to {least}"
            )

    def numbers(self, problem: SumOfRows) -> int:
        """Return how many uniform numbers a batch of a client takes: b, or one a row."""
        m = problem.rows.shape[1]
        return self.b if self.replacement or FLOYD * self.b**2 <= m else m

    def gradient(
        self, problem: SumOfRows, x: Array, uniforms: Array, exact: Callable[[Array], Array]
    ) -> Array:
        """Return the gradients of batches at points, (n, d, R), from (n, ., R) uniform numbers."""
        return self.batch(problem, uniforms).grad(x)

    def batch(self, problem: SumOfRows, uniforms: Array) -> SumOfRows:
        """Return the problem whose f_i are those of the drawn rows, others in each run.

        It is kept as long as the array of uniform numbers is, for gradients at other points.
        """
        kept = _KEPT.get(id(uniforms))
        if kept is not None and kept[:2] == (self, problem):
            return kept[2]
        made = problem.of_batch(self.rows(problem, self.drawn(problem, uniforms)))
        if kept is None:
            finalize(uniforms, _KEPT.pop, id(uniforms))
        _KEPT[id(uniforms)] = self, problem, made
        return made

    def drawn(self, problem: SumOfRows, uniforms: Array) -> Array:
        """Return the drawn rows by their numbers at their clients, (n, b, R), in ascending order.

        With replacement number u draws row [u m_i]. Otherwise few rows are drawn by Floyd's
        algorithm; many are those of the b smallest of m_i numbers. Empty rows are the last of their
        clients.
        """
        xp, counts = array_namespace(uniforms), problem.row_counts
        if self.replacement:
            return xp.sort(xp.astype(uniforms * counts, xp.int64), axis=1)
        m = problem.rows.shape[1]
        if self.numbers(problem) < m:
            return xp.sort(subsets(uniforms, counts[:, 0, :]), axis=1)
        keys = uniforms[:, :m, :]
        if not is_numpy(counts) or counts.min() < m:
            numbers = xp.arange(m, dtype=counts.dtype, device=device(uniforms))[None, :, None]
            keys = xp.where(numbers < counts, keys, LEFT_OUT + 0 * keys)
        if is_numpy(keys):
            return np.sort(np.argpartition(keys, self.b - 1, axis=1)[:, : self.b], axis=1)
        return xp.sort(xp.argsort(keys, axis=1)[:, : self.b, :], axis=1)

    def rows(self, problem: SumOfRows, drawn: Array) -> BatchRows:
        """Return the rows of a batch, from the numbers (n, b, R) of those that are drawn."""
        return rows_of_batch(problem.rows, drawn, problem.row_counts / self.b)

    def counted(self, problem: SumOfRows, sampled: bool) -> int:
        """Return what a gradient of a client counts: b rows, or all of the largest client."""
        return self.b if sampled else problem.rows.shape[1]

    def largest_variance(self, problem: SumOfRows) -> float:
        """Return a bound of (1/n) sum_i E|g_i(x) - grad f_i(x)|^2 for all x; perhaps infinite."""
        return sampling_constants(problem, self).variance

    def kappa(self, problem: SumOfRows) -> NDArray[np.float64]:
        """Return the kappa_i, (n,)."""
        sizes = row_counts(problem)
        if self.replacement:
            return np.full(len(sizes), 1 / self.b)
        return (sizes - self.b) / (self.b * np.maximum(sizes - 1, 1))

    def variance_at(self, problem: SumOfRows, x: Array) -> NDArray[np.float64]:
        """Return E|g_i(x) - grad f_i(x)|^2 of every client at points, exactly: (n, R)."""
        return self.spread(problem, problem.row_slopes(x))

    def spread(self, problem: SumOfRows, slopes: Array) -> NDArray[np.float64]:
        """Return E|sum_s v_s slope_s a_s - sum_s slope_s a_s|^2 of every client: (n, R).

        The v_s are the multiples of a batch, and the slopes are (n, m, R).
        """
        xp = array_namespace(slopes)
        squares = xp.sum(slopes**2 * problem.rows.squared_norms, axis=1)
        whole = xp.sum(problem.rows.backward(slopes) ** 2, axis=1)
        sizes = row_counts(problem)[:, None]
        spread = np.maximum(sizes * fetched(squares) - fetched(whole), 0.0)
        found: NDArray[np.float64] = self.kappa(problem)[:, None] * spread
        return found


@dataclass(frozen=True)
class SamplingConstants:
    """The constants of mini-batches of a problem.

    Attributes
    ----------
    variance : float
        sigma^2 with (1/n) sum_i E|g_i(x) - grad f_i(x)|^2 <= sigma^2 for all x: kappa_i (1/m)
        sum_s |grad h_is|^2 is at most this, where |phi'| is bounded; else infinite.
    gap : float
        A with (1/n) sum_i E|g_i(x) - grad f_i(x)|^2 <= 2 A f(x), for losses phi >= 0: A = max_is
        kappa_i m_i w_is L_phi |a_is|^2; infinite where phi < 0 is seen.
    difference : float
        l with (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= l^2 |x - y|^2 for the noises of one batch at
        two points: l^2 is the largest eigenvalue of (1/n) sum_i kappa_i m_i sum_s (w_is L_phi)^2
        |a_is|^2 a_is a_is'.
    expected : array of shape (n,)
        The expected smoothness of convex h_i: E|g_i(x) - g_i(y)|^2 <= 2 expected_i D_{h_i}(x, y)
        for the parts g_i of h_i, with expected_i = (1 - kappa_i) L_i + kappa_i max_s L_is.
    expected_noise : float
        A with E|xi_i(x) - xi_i(y)|^2 <= 2 A D_{h_i}(x, y) for the noises of one batch, for convex
        phi: max_is kappa_i L_is.

    Examples
    --------
    >>> from certibit import SamplingConstants, problem, sampling_constants
    >>> found: SamplingConstants = sampling_constants(problem("breast-cancer@9:batch=63"))
    >>> found.variance, found.difference
    (0.0, 0.0)
    """

    variance: float
    gap: float
    difference: float
    expected: NDArray[np.float64]
    expected_noise: float


def sampling_constants(problem: SumOfRows, batch: MiniBatch | None = None) -> SamplingConstants:
    """Return the constants of the mini-batches of a problem, or of others.

    Raises
    ------
    Refusal
        If the problem has no mini-batches, or not of this size.

    Examples
    --------
    >>> from certibit import problem, sampling_constants
    >>> made = problem("breast-cancer@9:nonconvex:batch=8")
    >>> found = sampling_constants(made)
    >>> round(found.difference, 2), found.variance < 8
    (2.91, True)
    """
    given = getattr(problem, "noise", None) if batch is None else batch
    if not isinstance(given, MiniBatch):
        raise Refusal(
            f"{problem.name} has no mini-batches; end its selector with such as :batch=8, or give "
            "MiniBatch(8)"
        )
    given.require_possible(problem)
    kappa, sizes = given.kappa(problem), row_counts(problem)
    weights = fetched(problem.weights)[..., 0]
    norms, L = fetched(problem.rows.squared_norms)[..., 0], problem.loss.smoothness
    spread = kappa[:, None] * sizes[:, None] * weights**2 * norms
    steepness = problem.loss.steepness
    of_rows = sizes[:, None] * weights * L * norms
    l2 = problem.rows.steepness((spread * L**2)[..., None]) / len(sizes)
    bare = np.asarray(fetched(problem.bare.L_i))
    squares = float(np.mean(np.sum(spread, axis=1)))
    steepest = kappa * np.max(of_rows, axis=1)
    return SamplingConstants(
        squares * steepness**2 if squares else 0.0,
        float(np.max(steepest)) if _nonnegative(problem) else math.inf,
        l2**0.5,
        (1 - kappa) * bare + steepest,
        float(np.max(steepest)),
    )


def _nonnegative(problem: SumOfRows) -> bool:
    """Whether the losses are seen to be at least 0 for all targets of the problem."""
    targets = fetched(problem.targets)
    try:
        problem.loss.require_bounded_below(targets.ravel())
    except Refusal:
        return False
    return True


def row_counts(problem: SumOfRows) -> NDArray[np.int64]:
    """Return the m_i, (n,)."""
    return np.ravel(fetched(problem.row_counts)).astype(np.int64)
