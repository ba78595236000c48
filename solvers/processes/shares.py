"""The part of a problem that a rank needs for the gradients of its clients: their rows."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem
from certibit.data.problems.rows import DenseRows, SparseRows, sparse

_SEEDS = (0, 1)


def share_of(problem: Problem, clients: slice) -> Problem:
    """Return a problem with the rows of some clients only, whose gradients are theirs.

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
        field.name: _part(getattr(whole, field.name), problem.n, clients)
        for field in fields(whole)
        if field.init
    }
    try:
        part: Problem = replace(whole, **changes)
        _require_the_same(problem, part, clients)
    except (TypeError, ValueError, IndexError) as fault:
        raise _indivisible(problem) from fault
    return part


def _part(x: Any, n: int, clients: slice) -> Any:
    if isinstance(x, DenseRows):
        return DenseRows(x.stack[clients].copy())
    if isinstance(x, SparseRows):
        m = x.shape[1]
        return sparse(x.stacked[clients.start * m : clients.stop * m], clients.stop - clients.start)
    if isinstance(x, Constants):
        return replace(x, L_i=x.L_i[clients])
    if isinstance(x, np.ndarray) and x.ndim > 1 and len(x) == n > 1:
        return x[clients].copy()
    return x


def _require_the_same(problem: Problem, part: Problem, clients: slice) -> None:
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
        f"{problem.name} cannot be divided over processes: its gradients are not those of the rows "
        "of each client; run it in one process"
    )
