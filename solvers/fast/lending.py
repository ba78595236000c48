"""States with views of large vectors for a round, and the update of the state in place."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, is_numpy
from certibit.solvers.fast.columns import Columns, columns
from certibit.solvers.fast.deferred import written
from certibit.solvers.state import S, number_of_runs, taken


def lent(state: S, runs: NDArray[np.intp]) -> S | None:
    """Return the state of some runs with large arrays as views: :class:`Columns`.

    None if no array is large enough.
    """
    large = {name: columns(x, runs) for name, x in vars(state).items()}
    large = {name: x for name, x in large.items() if x is not None}
    if not large:
        return None
    everyone = runs.size == number_of_runs(state)
    others = {name: x for name, x in vars(state).items() if name not in large}
    small = {} if everyone else {name: taken(x, runs) for name, x in others.items()}
    return replace(state, **large, **small)


def returned(state: S, runs: NDArray[np.intp], part: S) -> S:
    """Write the new state of :func:`lent` runs back into the arrays of all R runs, in place."""
    everyone = runs.size == number_of_runs(state)
    before = vars(state)
    own = {
        name
        for name, x in before.items()
        if _is_large(x) and _is_apart(x, [y for other, y in before.items() if other != name])
    }
    after: dict[str, Any] = {}
    waiting = []
    for name, new in vars(part).items():
        if name in own and isinstance(new, Columns) and new.x is before[name]:
            waiting.append(new)
        else:
            after[name] = written(new)
    for new in waiting:
        new.put_back()
    if not everyone:
        for name, x in after.items():
            after[name] = before[name] if name in own else before[name].copy()
            after[name][:, :, runs] = x
    return replace(state, **after)


def _is_large(x: Array) -> bool:
    """Whether an array is one of the clients' that may be written over when it is used up."""
    return is_numpy(x) and len(x) > 1 and x.flags.writeable


def _is_apart(x: Array, others: Iterable[Array]) -> bool:
    """Whether no other array shares memory with one of numpy."""
    return not any(is_numpy(y) and np.may_share_memory(x, y) for y in others)
