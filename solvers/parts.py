"""The part of a problem that belongs to some of its clients: their rows."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem
from certibit.data.problems.rows import DenseRows, SparseRows, sparse

_SEEDS = (0, 1)
_MANY, _NUMBERS = 100, 1 << 22
"""Clients that are compared if the gradients of all are more than so many numbers."""


Clients = slice | NDArray[np.int64]
"""Consecutive clients, or any."""


def part_of(
    problem: Problem, clients: Clients, compared: bool = True, *, views: bool = False
) -> Problem:
    """Return the problem with the rows of some clients only, which has their gradients.

    The gradients of the part are compared with those of the whole, unless ``compared`` is false;
    where the gradients of all clients take much memory, those of a hundred clients with those of
    the first half of them.

    Raises
    ------
    Refusal
        If the problem is not one of fields with the clients on the first axis, so that the
        gradients of the part are others than those of the whole.
    """
    if not hasattr(problem, "__dataclass_fields__"):
        raise _indivisible(problem)
    whole: Any = problem
    changes = {
        field.name: _part(getattr(whole, field.name), problem.n, clients, views)
        for field in fields(whole)
        if field.init
    }
    try:
        part: Problem = replace(whole, **changes)
        if compared and problem.n > _MANY and problem.n * problem.d > _NUMBERS:
            part_of(part_of(problem, slice(0, _MANY), compared=False), slice(0, _MANY // 2))
        elif compared:
            _require_the_same(problem, part, clients)
    except (TypeError, ValueError, IndexError) as fault:
        raise _indivisible(problem) from fault
    return part


def _part(x: Any, n: int, clients: Clients, views: bool) -> Any:
    if isinstance(x, DenseRows):
        return DenseRows(_part(x.stack, n, clients, views))
    if isinstance(x, SparseRows):
        m, own = x.shape[1], np.arange(n)[clients]
        rows = (own[:, None] * m + np.arange(m)).ravel()
        return sparse(x.stacked[rows], len(own))
    if isinstance(x, Constants):
        return replace(x, L_i=x.L_i[clients])
    if isinstance(x, np.ndarray) and x.ndim > 1 and len(x) == n > 1:
        return x[clients] if views or not isinstance(clients, slice) else x[clients].copy()
    return x


def _require_the_same(problem: Problem, part: Problem, clients: Clients) -> None:
    """Compare gradients at a shared point and at points of their own, up to rounding."""
    for seed in _SEEDS:
        rows = (1, problem.n)[seed]
        x = np.random.default_rng(seed).standard_normal((rows, problem.d, 1))
        expected = problem.grad(x)[clients]
        found = part.grad(x if rows == 1 else x[clients])
        if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-10):
            raise ValueError("other gradients")


def _indivisible(problem: Problem) -> Refusal:
    return Refusal(
        f"{problem.name} cannot be divided over its clients: their gradients are not those of the "
        "rows of each; run it as a whole"
    )
