"""Every outcome of one iteration's coins, cohorts and masks, with its probability.

An iteration is run again and again with scripted choices: at each random choice the first option
is taken and the others are noted, until no script is left. The method is the unchanged class; it
does not know that its coins are scripted.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, common_if, is_common, is_numpy
from certibit.solvers.backend import masked
from certibit.solvers.method import Every, Schedule, require_probability
from certibit.solvers.simulation.channel import check_cohort, ownership_template
from certibit.solvers.state import copy_of


class Scripted:
    """A channel whose random choices follow a script; messages arrive as they were sent.

    Masks are the same for all features. Every use of a mask acts on each feature by itself, and
    quadratic forms add up over features, so only the law of the owners of one feature matters.

    Parameters
    ----------
    n : int
        Number of clients.
    d : int
        Number of features, which decides how many entries a client owns.
    script : sequence of int
        The options to take at the first choices; after them the first that is possible is taken.
    """

    def __init__(self, n: int, d: int, script: Sequence[int] = ()) -> None:
        self.n, self.d = n, d
        self.script = list(script)
        self.options: list[int] = []
        self.possible: list[list[int]] = []
        self.probability: Any = 1.0

    def choose(self, options: Sequence[tuple[Any, Any]], *, signed: bool = False) -> Any:
        """Take the option of the script; options are (probability, value).

        Those that have none, or a negative one unless they are ``signed`` weights, are never taken.
        """
        place = len(self.options)
        self.options.append(len(options))
        self.possible.append([k for k, (p, _) in enumerate(options) if p > 0 or (signed and p)])
        if place == len(self.script):
            self.script.append(self.possible[-1][0])
        probability, value = options[self.script[place]]
        self.probability *= probability
        return value

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Return v, as if the compressor were the identity."""
        return self.send(v, cohort)

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Return v, or 0 outside the mask."""
        return copy_of(v) if mask is None else mask * v

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Return v; by a mask of the method's own for all clients, only the entries of the mask."""
        own = mask is not None and mask.shape[0] == 1 and is_numpy(mask) and not is_common(mask)
        return masked(mask, v) if own else copy_of(v)

    def downlink(self, v: Array) -> Array:
        """Return v, as if the compressor were the identity."""
        return copy_of(v)

    def talking(self, schedule: Schedule, iteration: int) -> NDArray[np.bool_]:
        """Say whether all runs communicate after an iteration, counted from 1: (1,)."""
        if isinstance(schedule, Every):
            return np.array([iteration % schedule.iterations == 0])
        return np.array([self._heads(schedule.p)])

    def coin(self, p: float) -> Array:
        """Toss one coin."""
        return common_if((), np.full((1, 1, 1), self._heads(p)))

    def _heads(self, p: Any) -> bool:
        require_probability("the probability of a coin", p)
        heads: bool = self.choose([(p, True), (1 - p, False)])
        return heads

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss one coin per client, 2^n options."""
        require_probability("the probability of a client's coin", np.asarray(q))
        options = [
            (prod(p if heads else 1 - p for p, heads in zip(q, coins, strict=True)), coins)
            for coins in product([True, False], repeat=self.n)
        ]
        return common_if((), np.array(np.array(self.choose(options))[:, None, None]))

    def cohort(self, m: int) -> Array:
        """Draw m of n clients, (n choose m) options."""
        check_cohort(m, self.n)
        return self._subset(m, range(self.n))

    def ownership(self, s: int, cohort: Array | None = None) -> Array:
        """Draw the owners of every feature: uniform s-subsets of the cohort."""
        members = range(self.n) if cohort is None else np.flatnonzero(cohort[:, 0, 0]).tolist()
        ownership_template(self.d, len(members), s)  # refuses an impossible s
        return self._subset(s, members)

    def _subset(self, size: int, of: Sequence[int]) -> Array:
        subsets = list(combinations(of, size))
        chosen = self.choose([(1 / len(subsets), subset) for subset in subsets])
        mask = np.zeros((self.n, 1, 1), dtype=bool)
        mask[list(chosen)] = True
        return common_if((), mask)


def outcomes(
    step: Callable[[Any], Any], channel: Callable[[Sequence[int]], Scripted]
) -> Iterator[tuple[float, Any]]:
    """Run a step under every script: pairs (probability, what the step gives).

    Parameters
    ----------
    step : callable
        Takes a channel.
    channel : callable
        Makes a channel from a script.
    """
    scripts: list[list[int]] = [[]]
    while scripts:
        script = scripts.pop()
        world = channel(script)
        result = step(world)
        for place in range(len(script), len(world.possible)):
            scripts += [[*world.script[:place], k] for k in world.possible[place][1:]]
        yield world.probability, result
