"""States of methods: frozen dataclasses of arrays with the runs on the last axis.

A state holds nothing else. A method or a problem may hold some, its fields named by ``per_run``,
so that a grid of parameters is one batch.
"""

from collections.abc import Callable, Iterable
from dataclasses import Field, fields, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, is_numpy
from certibit.data.errors import Refusal
from certibit.solvers.columns import Columns, columns
from certibit.solvers.deferred import Deferred, written
from certibit.solvers.entries import Entries
from certibit.solvers.libraries import like


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
    several = [vars(s) for s in (first, *others)]
    return replace(first, **{name: function(*(s[name] for s in several)) for name in several[0]})


def settled(state: S) -> S:
    """Evaluate what a step has left unevaluated."""
    late = {name: written(x) for name, x in vars(state).items() if _is_late(x)}
    return replace(state, **late) if late else state


def copied(state: S) -> S:
    """Return a state with arrays of its own, if they are of numpy."""
    return each(lambda x: x.copy() if is_numpy(x) else x, state)


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


def lent(state: S, runs: NDArray[np.intp]) -> S | None:
    """Return the state of some runs, of which large arrays are not taken out: :class:`Columns`.

    None where no array is large enough.
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
    """Put what was made of :func:`lent` runs back among all R; the state is used up."""
    everyone = runs.size == number_of_runs(state)
    before = vars(state)
    own = {
        name
        for name, x in before.items()
        if _is_large(x) and _is_apart(x, [y for other, y in before.items() if other != name])
    }
    after, waiting = {}, []
    for name, new in vars(part).items():
        if name in own and isinstance(new, Columns) and new.x is before[name]:
            waiting.append(new)
        else:
            after[name] = new if isinstance(new, Entries) else written(new)
    for new in waiting:
        new.put_back()
    if not everyone:
        after = {name: _put(before[name], runs, x, name in own) for name, x in after.items()}
    return replace(state, **after)


def _put(old: Array, runs: NDArray[np.intp], new: Array, in_place: bool = False) -> Array:
    if is_numpy(old):  # without a choice over a short last axis
        changed = old if in_place else old.copy()
        changed[:, :, runs] = new
        return changed
    xp = array_namespace(old)
    replaced = np.zeros((1, 1, old.shape[2]), dtype=bool)
    replaced[..., runs] = True
    place = np.zeros(old.shape[2], dtype=np.intp)
    place[runs] = np.arange(len(runs))
    return xp.where(like(old, replaced), xp.take(new, like(old, place), axis=2), old)


def _is_late(x: Array) -> bool:
    """Whether an array is to be written out when a step ends."""
    return isinstance(x, Deferred) and not isinstance(x, Entries)


def _is_large(x: Array) -> bool:
    """Whether an array is one of the clients' that may be written over when it is used up."""
    return is_numpy(x) and len(x) > 1 and x.flags.writeable


def _is_apart(x: Array, others: Iterable[Array]) -> bool:
    """Whether no other array shares memory with one of numpy."""
    return not any(is_numpy(y) and np.may_share_memory(x, y) for y in others)
