"""The yardstick: the two products and the sigmoid of all gradients, with nothing around them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from timing import Action

from certibit.data.problems.rows import DenseRows, SparseRows, dense, sparse

Point = NDArray[np.float64]

_DENSE_BYTES = 1 << 28


def by_scipy(rows: SparseRows, x: Point) -> Action:
    """Return the products with the clients' blocks of a diagonal, by scipy."""
    n, m, d = rows.shape
    flat = x.reshape(n * d, -1)
    return lambda: rows.transposed @ _slopes(rows.blocks @ flat, m)


def by_blas(rows: DenseRows, x: Point) -> Action:
    """Return the products with a stack of dense matrices, into arrays that are there."""
    n, m, _ = rows.shape
    stack, transposed = rows.stack, rows.stack.transpose(0, 2, 1)
    z, gradient = np.empty((n, m, x.shape[2])), np.empty_like(x)
    return lambda: np.matmul(transposed, _slopes(np.matmul(stack, x, out=z), m), out=gradient)


def bare_gradients(problem: Any, runs: int) -> dict[str, Action]:
    """Return the ways to evaluate the gradients of a problem's data at points (n, d, R)."""
    matrix, n = signed_rows(problem), problem.n
    x = np.random.default_rng(1).standard_normal((n, problem.d, runs)) / np.sqrt(problem.d)
    ways: dict[str, Callable[[], Action]] = {"scipy": lambda: by_scipy(sparse(matrix, n), x)}
    if 8 * matrix.shape[0] * matrix.shape[1] <= _DENSE_BYTES:
        ways["BLAS"] = lambda: by_blas(dense(matrix, n), x)
    return {name: way() for name, way in ways.items()}


def signed_rows(problem: Any) -> scipy.sparse.csr_array:
    """Return the rows b_is a_is' of all clients, (n m, d)."""
    rows = problem.rows
    if isinstance(rows, SparseRows):
        return rows.stacked
    return scipy.sparse.csr_array(rows.stack.reshape(-1, problem.d))


def _slopes(z: Point, m: int) -> Point:
    """Return -(1/m)/(1 + exp(z)), in place."""
    np.exp(z, out=z)
    z += 1.0
    return np.divide(-1.0 / m, z, out=z)
