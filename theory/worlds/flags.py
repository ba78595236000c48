"""Fields of bool of a state: their values that steps can reach, up to a renumbering of clients.

Everything else of a state is a vector. What a step makes of the flags of a client depends on these,
on what is drawn for it, and on flags that all clients share: no operation on masks looks at others.
So the values that a client can have are found one by one. What a step makes of vectors is, for each
number of clients with other flags, a polynomial of that number, of a degree that is at most the
number of sums over the clients in the step, and one more where a relation sums what a step makes.
There are such clients from the first one on, so as many numbers of them are tried and two more.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.state import each
from certibit.theory.worlds.opaque.clients import ClientMask, anew, contents
from certibit.theory.worlds.opaque.letters import watched
from certibit.theory.worlds.orbits import (
    Nothing,
    OrbitChannel,
    cells_of_kinds,
    checked_state,
    every_outcome,
    first_state,
    starts,
)

MOST_VALUES, MOST_SUMS = 64, 4
"""Values of flags, and sums over the clients of a step with flags, that are looked at."""

Value = tuple[bool, ...]


@dataclass(frozen=True)
class Pattern:
    """Clients in cells of equal flags.

    Attributes
    ----------
    counts : tuple of int
        The number of clients of each kind.
    cells : tuple of range
        The clients with the same kind and flags.
    names : tuple of str
        The flags that all clients share, then those that each has.
    shared : tuple of bool
        The values of the former.
    own : tuple of tuples of bool
        The values of the latter in each cell.
    """

    counts: tuple[int, ...]
    cells: tuple[range, ...]
    names: tuple[str, ...] = ()
    shared: Value = ()
    own: tuple[Value, ...] = ()

    def within(self, cells: tuple[range, ...]) -> "Pattern":
        """Return the same flags, of which the first of each kind are of all, in other cells."""
        kinds = cells_of_kinds(self.counts)
        first = [next(v for c, v in zip(self.cells, self.own, strict=True) if c[0] in kind)
                 for kind in kinds]  # fmt: skip
        own = (next(v for kind, v in zip(kinds, first, strict=True) if c[0] in kind) for c in cells)
        return replace(self, cells=cells, own=tuple(own))

    def put(self, s: Any, *, tossed: bool = False) -> Any:
        """Return a state with these flags, as of coins if what depends on them is asked for."""
        if not self.names:
            return s
        kinds = cells_of_kinds(self.counts)
        columns = [np.array([x]) for x in self.shared]
        columns += list(np.repeat(self.own, list(map(len, self.cells)), axis=0).T)
        masks = (ClientMask(np.reshape(x, (-1, 1, 1)), kinds, tossed=tossed) for x in columns)
        return replace(s, **dict(zip(self.names, masks, strict=True)))


def patterns(method: Method, counts: tuple[int, ...]) -> tuple[Pattern, ...]:
    """Return what flags the clients can have, first that of the start in every client.

    Raises
    ------
    Refusal
        If a state holds what is neither a vector nor of bool, or its flags have too many values.
    """
    begun = starts(method, sum(counts), counts)
    state = checked_state(method, begun[0][1])
    kinds = tuple(cells_of_kinds(counts))
    flags = {name: x.shape[0] == 1 for name, x in vars(state).items() if x.dtype == bool}
    if not flags:
        return (Pattern(counts, kinds, own=((),) * len(kinds)),)
    names = tuple(sorted(flags, key=lambda name: not flags[name]))
    several = sum(flags.values())
    seen: dict[tuple[Value, int, Value], None] = {}

    def see(s: Any, channel: OrbitChannel) -> None:
        checked_state(method, s, state)
        masks = [contents(getattr(s, name), channel.layout)[:, 0, 0] for name in names]
        for cell in channel.cells:
            value = tuple(bool(mask[cell[0]]) for mask in masks)
            kind = next(k for k, one in enumerate(kinds) if cell[0] in one)
            seen[value[:several], kind, value[several:]] = None
        if len(seen) > MOST_VALUES:
            raise Refusal(
                f"the fields of bool of a state of {method.name} have more than {MOST_VALUES} "
                "values, and a certificate is for all of them; let them have fewer"
            )

    for channel, s in begun:
        see(s, channel)
    done: dict[Pattern, None] = {}
    sums = 1
    while left := [one for one in _with_others(seen, counts, names, sums + 2) if one not in done]:
        for pattern in left:
            done[pattern] = None
            for channel, s, summed in _after(method, pattern):
                see(s, channel)
                sums = max(sums, summed)
                if sums > MOST_SUMS:
                    raise Refusal(
                        f"a step of {method.name}, whose state has fields of bool, sums over the "
                        f"clients more than {MOST_SUMS} times and has no certificate; let it take "
                        "fewer means, or its state have vectors only"
                    )
    return tuple(done)


def _with_others(
    seen: dict[tuple[Value, int, Value], None],
    counts: tuple[int, ...],
    names: tuple[str, ...],
    most: int,
) -> Iterator[Pattern]:
    """Yield patterns in which at most so many clients have other flags than the first ones."""
    rest = {kind: value for _, kind, value in reversed(seen)}
    others = [pair for pair in dict.fromkeys((kind, value) for _, kind, value in seen)
              if pair[1] != rest[pair[0]]]  # fmt: skip
    chosen = (some for size in range(most + 1)
              for some in combinations_with_replacement(others, size))  # fmt: skip
    for some, shared in product(chosen, dict.fromkeys(shared for shared, _, _ in seen)):
        number, cells, own = Counter(some), list[range](), list[Value]()
        for kind, clients in enumerate(cells_of_kinds(counts)):
            apart = [(v, count) for (k, v), count in number.items() if k == kind]
            left = len(clients) - sum(count for _, count in apart)
            for value, count in ((rest[kind], left), *apart):
                if count > 0:
                    start = cells[-1].stop if cells else 0
                    cells.append(range(start, start + count))
                    own.append(value)
        if sum(map(len, cells)) == sum(counts):  # as many clients as there are
            yield Pattern(counts, tuple(cells), names, shared, tuple(own))


def _after(method: Method, pattern: Pattern) -> Iterator[tuple[OrbitChannel, Any, int]]:
    """Yield for each outcome the channel, the state after it, and the number of sums."""
    n, counts = sum(pattern.counts), pattern.counts
    begun = pattern.put(first_state(method, n, counts))
    sums: dict[OrbitChannel, int] = {}

    def step(channel: OrbitChannel) -> Any:
        problem = Nothing(n, counts)
        first = each(lambda x: anew(x, problem.layout), begun)  # whose sums are counted
        with watched(method.name):
            s = theorem_step(method, first, problem, channel)
        sums[channel] = problem.layout.sums[0]
        return s

    made = every_outcome(
        method,
        step,
        lambda script, degree: OrbitChannel(n, script, counts, degree=degree, cells=pattern.cells),
    )
    return ((channel, s, sums[channel]) for channel, s in made)
