"""States of methods: frozen dataclasses of arrays with the runs on the last axis.

A state holds nothing else. A method or a problem may hold some, its fields named by ``per_run``,
so that a grid of parameters is one batch.
"""

from collections.abc import Callable
from dataclasses import Field, fields, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from array_api_compat import is_cupy_array, is_torch_array
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, common_if, is_numpy
from certibit.data.errors import Refusal
from certibit.solvers.libraries import like


class Dataclass(Protocol):
    """A state: a frozen dataclass of arrays with the runs on the last axis."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class _Owner(Protocol):
    """A method or a problem."""

    @property
    def per_run(self) -> tuple[str, ...]:
        """Fields that may be arrays with one value for each run."""


S = TypeVar("S", bound=Dataclass)
Owned = TypeVar("Owned", bound=_Owner)


def each(function: Callable[..., Array], first: S, *others: S) -> S:
    """Apply a function to every field of one or several states of the same kind."""
    several = [vars(s) for s in (first, *others)]
    return replace(first, **{name: function(*(s[name] for s in several)) for name in several[0]})


def copy_of(x: Array) -> Array:
    """Return an array with memory of its own; symbols are never written into."""
    if is_numpy(x):
        return common_if(x, np.array(x, order="C"))
    if isinstance(x, np.ndarray) or is_cupy_array(x):
        return x.copy()
    return x.clone() if is_torch_array(x) else x


def copied(state: S) -> S:
    """Return a state with arrays of its own, which a method may write into."""
    return each(copy_of, state)


def number_of_runs(state: Dataclass) -> int:
    """Return R, the length of the last axis of every field."""
    return int(getattr(state, fields(state)[0].name).shape[2])


def take(state: S, runs: NDArray[np.intp]) -> S:
    """Return the state of some runs, named by their positions on the last axis."""
    return each(lambda x: taken(x, runs), state)


def taken(x: Array, runs: NDArray[np.intp]) -> Array:
    """Return an array at some of the runs, the positions on its last axis."""
    return common_if(x, array_namespace(x).take(x, like(x, runs), axis=2))


def batch(*owners: _Owner) -> int:
    """Return the number of runs that the parameters of a method and a problem are made for.

    It is 1 if all are numbers, which fit any number of runs.

    Raises
    ------
    Refusal
        If two parameters are made for different numbers of runs.
    """
    sizes = {x.shape[2] for owner in owners for x in _per_run(owner).values()} - {1}
    if len(sizes) > 1:
        raise Refusal(
            f"parameters are given for {' and for '.join(map(str, sorted(sizes)))} runs; "
            "give the same number of values for each, or one value"
        )
    return sizes.pop() if sizes else 1


def narrow(owner: Owned, runs: NDArray[np.intp]) -> Owned:
    """Return a method or a problem for some of the runs that its parameters are made for."""
    some = {name: taken(x, runs) for name, x in _per_run(owner).items() if x.shape[2] > 1}
    changed: Owned = replace(owner, **some) if some else owner  # type: ignore[type-var]
    return changed


def _per_run(owner: _Owner) -> dict[str, Array]:
    parameters = {name: getattr(owner, name) for name in owner.per_run}
    arrays = {name: x for name, x in parameters.items() if hasattr(x, "shape")}
    for name, x in arrays.items():
        if len(x.shape) != 3:  # clients, features, runs
            raise Refusal(
                f"{name} is an array of shape {tuple(x.shape)}; give a number, or one for each run "
                "in an array of shape (1, 1, R)"
            )
    return arrays


def merge(state: S, runs: NDArray[np.intp], part: S) -> S:
    """Put the state of some runs, (len(runs),), back among copies of all R."""
    return each(lambda old, new: _put(old, runs, new), state, part)


def _put(old: Array, runs: NDArray[np.intp], new: Array) -> Array:
    if is_numpy(old):  # without a choice over a short last axis
        changed = np.array(old, order="C")
        changed[:, :, runs] = new
        return common_if((old, new), changed)
    xp = array_namespace(old)
    replaced = np.zeros((1, 1, old.shape[2]), dtype=bool)
    replaced[..., runs] = True
    place = np.zeros(old.shape[2], dtype=np.intp)
    place[runs] = np.arange(len(runs))
    return xp.where(like(old, replaced), xp.take(new, like(old, place), axis=2), old)
