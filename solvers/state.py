"""What is held for every run: arrays with the runs on the last axis, in frozen dataclasses.

A state holds nothing else. A method or a problem may hold some, its fields named by ``per_run``,
so that a grid of parameters is one batch.
"""

from collections.abc import Callable
from dataclasses import Field, fields, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array, array_namespace, is_numpy
from bitbound.data.errors import Refusal
from bitbound.solvers.backend import like, written
from bitbound.solvers.lazy_gradient import LazyGradient


class Dataclass(Protocol):
    """A state: a frozen dataclass of arrays with the runs on the last axis."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Owner(Protocol):
    """A method or a problem."""

    @property
    def per_run(self) -> tuple[str, ...]:
        """Fields that may be arrays with one value for each run."""


S = TypeVar("S", bound=Dataclass)
Owned = TypeVar("Owned", bound=Owner)


def each(function: Callable[..., Array], first: S, *others: S) -> S:
    """Apply a function to every field of one or several states of the same kind."""
    return replace(
        first,
        **{
            field.name: function(*(getattr(s, field.name) for s in (first, *others)))
            for field in fields(first)
        },
    )


def settled(state: S) -> S:
    """Evaluate what a step has left unevaluated."""
    lazy = {name: x for name, x in vars(state).items() if isinstance(x, LazyGradient)}
    return replace(state, **{name: written(x) for name, x in lazy.items()}) if lazy else state


def unevaluated(state: Dataclass) -> frozenset[str]:
    """Name the fields that are not evaluated yet; once they are, nobody else has their arrays."""
    lazy = [(name, x) for name, x in vars(state).items() if isinstance(x, LazyGradient)]
    return frozenset(name for name, x in lazy if sum(x is other for _, other in lazy) == 1)


def number_of_runs(state: Dataclass) -> int:
    """Return R, the length of the last axis of every field."""
    return int(getattr(state, fields(state)[0].name).shape[2])


def take(state: S, runs: NDArray[np.intp]) -> S:
    """Return the state of some runs, named by their positions on the last axis."""
    return each(lambda x: taken(x, runs), state)


def taken(x: Array, runs: NDArray[np.intp]) -> Array:
    """Return an array at some of the runs, the positions on its last axis."""
    return array_namespace(x).take(x, like(x, runs), axis=2)


def batch(*owners: Owner) -> int:
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


def _per_run(owner: Owner) -> dict[str, Array]:
    parameters = {name: getattr(owner, name) for name in owner.per_run}
    return {name: x for name, x in parameters.items() if hasattr(x, "shape")}


def merge(state: S, runs: NDArray[np.intp], part: S, own: frozenset[str] = frozenset()) -> S:
    """Put the state of some runs, (len(runs),), back among all R.

    The arrays of the fields that are named as one's own are changed, those of others copied.
    """
    return replace(
        state,
        **{
            field.name: _put(getattr(state, field.name), runs, getattr(part, field.name),
                             field.name in own)
            for field in fields(state)
        },
    )  # fmt: skip


def _put(old: Array, runs: NDArray[np.intp], new: Array, own: bool) -> Array:
    if is_numpy(old):  # without a choice over a short last axis
        changed = old if own else old.copy()
        changed[:, :, runs] = new
        return changed
    xp = array_namespace(old)
    replaced = np.zeros((1, 1, old.shape[2]), dtype=bool)
    replaced[..., runs] = True
    place = np.zeros(old.shape[2], dtype=np.intp)
    place[runs] = np.arange(len(runs))
    return xp.where(like(old, replaced), xp.take(new, like(old, place), axis=2), old)


def clients_of(state: S, n: int, clients: NDArray[np.intp]) -> S:
    """Return the state of some of n clients; what all share is kept."""
    return each(lambda x: x[clients] if x.shape[0] == n else x, state)


def put_clients(state: S, clients: NDArray[np.intp], part: S) -> S:
    """Put the state of some clients back among all."""

    def put(old: Array, new: Array) -> Array:
        changed = old.copy()
        changed[clients] = new
        return changed

    return each(put, state, part)
