"""The outcomes of one iteration up to a renumbering of the clients, at any number of clients.

Clients are exchangeable, so one representative is enumerated for all cohorts of a size, all masks
with the same number of owners and all coins with the same number of heads: the one with the first
clients of each cell. A cell is a set of clients that were treated alike so far. n coins then have
a few outcomes and not 2^n: one more than the degree in the number of heads of a quadratic form of
what a step makes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from math import comb, inf, lgamma, log, prod
from operator import index
from typing import Any

import numpy as np
from flint import fmpq

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import masked
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import downward
from certibit.solvers.method import (
    ExactGradients,
    Method,
    Slot,
    WithProbability,
    require_probability,
)
from certibit.solvers.simulation.channel import check_cohort, check_owners
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.state import each
from certibit.theory.worlds.opaque.clients import (
    ClientArray,
    ClientMask,
    ClientRows,
    anew,
    contents,
    mean_degree,
    mixed,
    require_whole,
    share,
    tossed,
)
from certibit.theory.worlds.opaque.exact_numbers import Exact, Rational, fraction, rational
from certibit.theory.worlds.opaque.letters import FEATURES, refuse, watched
from certibit.theory.worlds.outcomes import Scripted, outcomes

Heads = tuple[int, ...]
"""The number of heads in each cell."""


@lru_cache(maxsize=16)
def numbers_of_heads(
    sizes: tuple[int, ...], chances: tuple[Any, ...], degree: int = 2
) -> list[tuple[Fraction, Heads]]:
    """Return weights and counts of heads that give the mean of every polynomial of a degree.

    Each client tosses its own coin, and the number of heads among the clients of a cell is
    binomial. A sum over the clients of what depends on their coins is a polynomial of these counts,
    of one degree more than what is summed. The mean of a polynomial of degree D follows from D + 1
    values of a count, and of several counts from those of which at most D are passed over, counted
    over all cells. The weights may be negative. Those of at most so many coins are all that there
    are.

    Examples
    --------
    >>> [(float(weight), heads) for weight, heads in numbers_of_heads((4,), (0.5,))]
    [(0.75, (2,)), (0.125, (0,)), (0.125, (4,))]
    """
    found: list[tuple[int, list[Rational], Heads]] = [(0, [fmpq(1)], ())]
    for size, p in zip(sizes, chances, strict=True):
        places = _places(size, degree)
        means = _means(places, size, rational(p))
        longer: list[Any] = []
        for passed, before, heads in found:
            for i, place in enumerate(places[: degree - passed + 1]):
                after = [fmpq()] * min(len(before) + len(places) - 1, degree + 1)
                for j in range(i, len(places)):
                    apart = prod(place - other for other in places[: j + 1] if other != place)
                    for power, weight in enumerate(before[: len(after) - j]):
                        after[power + j] += weight * means[j] / apart
                longer.append((passed + i, after, (*heads, place)))
        found = longer
    return [(fraction(sum(weights, fmpq())), heads) for _, weights, heads in found]


def _places(size: int, degree: int) -> list[int]:
    """Return numbers of heads of one cell, first those in the middle; all if there are no more."""
    places = {size * k // degree for k in range(degree + 1)}
    return sorted(sorted(places), key=lambda place: abs(2 * place - size))


def _means(places: list[int], size: int, p: Rational) -> list[Rational]:
    """Return the means of the products of a count less each of the first places."""
    moments = [fmpq(1)]  # of size (size - 1) ..., as many factors
    for power in range(len(places)):
        moments.append(moments[-1] * (size - power) * p)
    factors, means = [1], []
    for place in places:
        means.append(sum((a * b for a, b in zip(factors, moments, strict=False)), fmpq()))
        kept = [(power - place) * factor for power, factor in enumerate(factors)]
        factors = [a + b for a, b in zip([*kept, 0], [0, *factors], strict=True)]
    return means


LARGEST_POWER = 1000
"""Of two that is a float."""

LEAST_DEGREE, MOST_DEGREE = 2, 16
"""In the numbers of heads, of polynomials whose means are taken."""

Drawn = tuple[list[int], list[range], list[Any]]
"""What a step draws: numbers of options, cells, and the probabilities of coins."""


class OrbitChannel(Scripted):
    """A scripted channel with one outcome for all that differ by the numbering of the clients.

    Only clients of one kind are renumbered; ``counts`` are the numbers of clients of each kind (by
    default all clients are of one kind). ``cells`` are the groups of clients that were treated
    alike so far, at first the given ones, and ``alike`` is the number of outcomes if all clients
    are distinguished. Numbers of heads are for polynomials of a ``degree``.
    """

    def __init__(
        self,
        n: int,
        script: Sequence[int] = (),
        counts: Sequence[int] | None = None,
        *,
        degree: int = LEAST_DEGREE,
        cells: Sequence[range] | None = None,
    ) -> None:
        super().__init__(n, FEATURES, script)
        kinds = cells_of_kinds((n,) if counts is None else counts)
        self.cells = [*(kinds if cells is None else cells)]
        self.layout = ClientRows.of(kinds, kinds)
        self.degree = degree
        self.alike, self.chooses = 1.0, False
        self.probability = Exact(1)
        self.chances: list[Any] = []

    @property
    def drawn(self) -> Drawn:
        """What was drawn."""
        return self.options, self.cells, self.chances

    def degree_of(self, s: Any) -> int:
        """Return the degree of quadratic forms of a state in the number of heads, at most n."""
        return min(max(2 * mean_degree(x) for x in vars(s).values()), int(self.n))

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Return v, or 0 outside the mask."""
        return super().send(of_senders(v, self.n), mask)

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Return v."""
        return super().broadcast(of_senders(v, 1), mask)

    def downlink(self, v: Array) -> Array:
        """Return v, as if the compressor were the identity."""
        return super().downlink(of_senders(v, 1))

    def _heads(self, p: Any) -> bool:
        require_probability("the probability of a coin", p)
        self.chances.append(p)
        return super()._heads(Exact(p) if isinstance(self.probability, Exact) else p)

    def coin(self, p: float) -> ClientMask:
        """Toss one coin."""
        return ClientMask(np.asarray(super().coin(p)), self.layout.kinds)

    def client_coins(self, q: Sequence[float]) -> ClientMask:
        """Toss one coin per client; a few counts of heads are enumerated in every cell."""
        for cell in self.layout.kinds:
            own = tuple(q)[cell.start : cell.stop]
            if own.count(own[0]) < len(own):
                least, most = (float(fraction(rational(p))) for p in (min(own), max(own)))
                raise Refusal(
                    f"the clients toss coins with probabilities from {least:g} to {most:g} and "
                    "are not exchangeable; give all of a class the same, or every client a class "
                    "of its own"
                )
            require_probability("the probability of a client's coin", own[0])
            self.chances.append(own[0])
        self.alike *= 2.0**self.n if self.n < LARGEST_POWER else inf
        sizes, chances = zip(*((len(cell), q[cell[0]]) for cell in self.cells), strict=True)
        heads = self.choose(numbers_of_heads(sizes, chances, self.degree), signed=True)
        return self._refine(heads, tossed=self.n > self.degree)

    def cohort(self, m: int) -> ClientMask:
        """Draw m of n clients."""
        check_cohort(m, self.n)
        return self._some(index(m), self.cells)

    def ownership(self, s: int, cohort: Array | None = None) -> ClientMask:
        """Draw the owners of every feature: uniform s-subsets of the cohort."""
        if tossed(cohort):
            refuse(
                "is no polynomial of the number of heads",
                "draws owners among clients that depend on coins of clients",
                "draw them from a cohort, or from all clients",
            )
        require_whole(cohort)
        members = contents(True if cohort is None else cohort, self.layout)
        inside = [cell for cell in self.cells if members[cell[0], 0, 0]]
        check_owners(s, sum(map(len, inside)))
        return self._some(s, inside, mixed=True)

    def _some(self, size: int, inside: list[range], *, mixed: bool = False) -> ClientMask:
        left = sum(map(len, inside))
        self.alike *= _ways(left, size)
        heads = []
        for cell in self.cells:
            if cell not in inside:
                heads.append(0)
                continue
            left -= len(cell)
            fewest, most = max(size - left, 0), min(size, len(cell))
            odds = [Fraction(1)]
            if fewest < most:
                ways = comb(left + len(cell), size)
                odds = [
                    Fraction(comb(len(cell), k) * comb(left, size - k), ways)
                    for k in range(fewest, most + 1)
                ]
            heads.append(fewest + self._choose_count(odds))
            size -= heads[-1]
        return self._refine(heads, mixed=mixed)

    def _choose_count(self, odds: Sequence[float | Fraction]) -> int:
        chosen: int = self.choose([(p, k) for k, p in enumerate(odds) if p > 0])
        return chosen

    def _refine(self, heads: Sequence[int], **marks: bool) -> ClientMask:
        """Return the mask of the first clients of every cell, which become cells of their own."""
        self.chooses = True
        mask = np.zeros((self.n, 1, 1), dtype=bool)
        halves: list[range] = []
        for cell, count in zip(self.cells, heads, strict=True):
            mask[cell.start : cell.start + count] = True
            halves += [half for half in (cell[count:], cell[:count]) if half]
        self.cells = halves
        return ClientMask(mask, self.layout.kinds, **marks)


def of_senders(v: Any, senders: int) -> Any:
    """Return what is sent, one vector of each sender; anything else is refused, as runs do."""
    if not isinstance(v, ClientArray) or v.shape[0] != senders:
        what = f"an array of shape {v.shape}" if isinstance(v, ClientArray) else repr(v)
        refuse(
            "sends what runs refuse",
            f"sends {what} from {senders} senders",
            "send a vector of every client, such as copies(x, n), or one of the server",
        )
    return v


def cells_of_kinds(counts: Sequence[int]) -> list[range]:
    """Return the clients of each kind, of which there are so many."""
    return [range(*ends) for ends in pairwise(accumulate(counts, initial=0))]


def _ways(n: int, size: int) -> float:
    """Return n choose size, or infinity where no number is as large."""
    digits = (lgamma(n + 1) - lgamma(size + 1) - lgamma(n - size + 1)) / log(2)
    return float(comb(n, size)) if digits < LARGEST_POWER else inf


@dataclass(frozen=True)
class StepCost:
    """The mean cost of one step: bits and gradients per client, rounds.

    If a criterion ends local solves, the gradients are an upper bound.
    """

    uplink_bits: float
    downlink_bits: float
    rounds: float
    gradients: float


@dataclass(frozen=True)
class Orbit:
    """An outcome: its probability, the script that gives it and the cells of alike clients.

    If clients toss coins, the probability is a weight of either sign, one for each count of heads
    that is enumerated. ``alike`` is the number of outcomes that an enumeration of all cohorts,
    masks and coins of clients would visit; ``chooses`` says whether there are any, and ``degree``
    which counts of heads are enumerated. ``contractions`` is the number of messages of a client, or
    of the server, that a contractive compressor compresses. ``begun`` are the cells before it,
    where these are not the kinds.
    """

    probability: Any
    script: tuple[int, ...]
    cells: tuple[range, ...]
    alike: float
    chooses: bool
    degree: int
    contractions: int
    begun: tuple[range, ...] | None = None


class Nothing(ExactGradients):
    """A problem of vectors without entries, which counts the gradients per client."""

    d = FEATURES

    def __init__(self, n: int, counts: Sequence[int] | None = None) -> None:
        self.n, self.count = n, 0.0
        kinds = cells_of_kinds((n,) if counts is None else counts)
        self.layout = ClientRows.of(kinds, kinds)

    @property
    def x_0(self) -> ClientArray:
        """A vector that all clients share."""
        return self.layout.array(np.zeros((1, 0, 1)))

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        if active is None:
            active = self.n
        self.count += active / self.n if isinstance(active, int) else share(active, self.layout)
        return 0 * x + self.layout.array(np.zeros((len(self.layout.counts), 0, 1)))

    def grad_g(self, y: Array) -> Array:
        return 0 * y

    def gradient_steps(
        self,
        slope: Callable[[Array], Array],
        start: Array,
        active: Array,
        step: float,
        count: int,
    ) -> Array:
        """Count many steps, which lead nowhere, by the first ones: as many as change a degree.

        Every one counts as many gradients and sums as the one with most of them.
        """
        end, before, left, sums = start, None, count, self.layout.sums
        gradients, most = 0.0, 0
        while left and _traits(end) != before and mean_degree(end) <= MOST_DEGREE:
            before, counted, summed = _traits(end), self.count, sums[0]
            end, left = end - step * slope(end), left - 1
            gradients, most = max(gradients, self.count - counted), max(most, sums[0] - summed)
        self.count += left * gradients
        sums[0] += left * most
        return end

    def minimise(
        self, gradient: Callable[..., Array], start: Array, centre: Array, given: Any,
        active: Array, most: int, **criterion: float,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Count the gradients of a local solve as if it took the most steps, from both starts."""
        before = self.count
        change = gradient(centre + start, given, active, self)
        self.count = before + 2 * (most + 1) * (self.count - before)
        end = start + masked(active, 0 * change)
        return end, change + 0 * end


def _traits(x: Any) -> tuple[Any, ...]:
    """Return what a step of a local solve can change of a vector without entries."""
    return x.shape[0], x._degrees, x._mixed, bool(np.any(x._void))


class _Meter(OrbitChannel):
    """An orbit channel that counts the bits per client."""

    def __init__(
        self,
        n: int,
        d: int,
        script: Sequence[int],
        compressor: Compressor,
        counts: Sequence[int] | None,
        cells: Sequence[range] | None,
        degree: int,
    ) -> None:
        super().__init__(n, script, counts, degree=degree, cells=cells)
        self.message, self.vector = compressor.bits(d), Identity().bits(d)
        self.message_down = downward(compressor).bits(d)
        self.bits = self.bits_down = self.gradients = 0.0
        self.uplinks = self.downlinks = 0

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        self.uplinks += 1
        self.bits += self.message * share(cohort, self.layout)
        return super().send(v, cohort)

    def send(self, v: Array, mask: Array | None = None) -> Array:
        self.bits += self.vector * share(mask, self.layout)
        return super().send(v, mask)

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        self.bits_down += self.vector * share(mask, self.layout)
        return super().broadcast(v, mask)

    def downlink(self, v: Array) -> Array:
        self.downlinks += 1
        self.bits_down += self.message_down
        return super().downlink(v)


def starts(
    method: Method, n: int, counts: Sequence[int] | None = None
) -> list[tuple[OrbitChannel, Any]]:
    """Return the channel and the first state, of vectors without entries, of every outcome."""
    problem = Nothing(n, counts)

    def start(channel: OrbitChannel) -> Any:
        with watched(method.name):
            return method.start(problem.x_0, problem, channel)

    return every_outcome(
        method, start, lambda script, degree: OrbitChannel(n, script, counts, degree=degree)
    )


def every_outcome(
    method: Method,
    step: Callable[[Any], Any],
    channel: Callable[..., OrbitChannel],
) -> list[tuple[Any, Any]]:
    """Return the channel, and the state that a step gives, of every outcome.

    As many counts of heads are enumerated as quadratic forms of this state need, or of its means
    over the clients: twice their degree and one more.

    Raises
    ------
    Refusal
        If these are too many.
    """
    needed = LEAST_DEGREE
    while True:
        degree = needed
        found = [
            pair
            for _, pair in outcomes(
                lambda world: (world, step(world)), partial(channel, degree=degree)
            )
        ]
        needed = max(channel.degree_of(s) for channel, s in found)
        if needed <= degree:
            return found
        if needed > MOST_DEGREE:
            raise Refusal(
                f"what {method.name} does with the coins of its clients is a polynomial of degree "
                f"{needed} in the number of heads, and up to {MOST_DEGREE} has a certificate; let "
                "each coin count for its own client only"
            )


def first_state(method: Method, n: int, counts: Sequence[int] | None = None) -> Any:
    """Return the first state of a method on vectors without entries, of one of its outcomes."""
    return starts(method, n, counts)[0][1]


def checked_state(method: Method, s: Any, before: Any = None) -> Any:
    """Return a state of vectors and flags, in the places where they were before."""
    if hasattr(s, "__post_init__"):
        raise Refusal(
            f"{type(s).__name__} of {method.name} has a __post_init__, which would run once for "
            "every copy, and no certificate; calculate in the step"
        )
    if before is not None and type(s) is not type(before):
        raise Refusal(
            f"a step of {method.name} returns {type(s).__name__}, not {type(before).__name__} as "
            "its start does, and has no certificate; let a state stay of one class"
        )
    for one in fields(s):
        x, old = getattr(s, one.name), None if before is None else getattr(before, one.name)
        flag = isinstance(x, ClientMask | np.ndarray) and x.dtype == bool
        if flag and mixed(x):
            raise Refusal(
                f"{one.name} of a state of {method.name} is of bool and depends on the owners of "
                "features, one for each entry, and has no certificate; let flags be of whole "
                "clients, (n, 1, R)"
            )
        if not flag and not isinstance(x, ClientArray):
            raise Refusal(
                f"{one.name} of a state of {method.name} is {type(x).__name__}, neither a vector "
                "nor of bool, and has no certificate; let a state hold arrays (n, d, R) and masks"
            )
        if old is not None and (x.dtype != old.dtype or x.shape[0] != old.shape[0]):
            raise Refusal(
                f"{one.name} of a state of {method.name} is of another kind after a step, or of "
                "all clients and no longer of each, and has no certificate; let it stay what it is"
            )
    return s


def orbits(
    method: Method,
    n: int,
    d: int = 1,
    compressor: Compressor | None = None,
    counts: Sequence[int] | None = None,
    *,
    state: Any = None,
    cells: Sequence[range] | None = None,
) -> tuple[tuple[Orbit, ...], StepCost]:
    """Return all outcomes of one step of a method, and what the step costs in the mean.

    A step is an iteration, or a round of K local steps (see :func:`iteration`). The number d of
    features and the compressor matter for the bits only. Clients of different kinds, of which there
    are ``counts``, are not exchangeable; ``cells`` are as in :class:`OrbitChannel`. The step is
    from a ``state``, by default from the first one.
    """
    first = each(anew, first_state(method, n, counts) if state is None else state)

    def step(channel: _Meter) -> Any:
        problem = Nothing(n, counts)
        with watched(method.name):
            s = theorem_step(method, first, problem, channel)
        channel.gradients = problem.count
        return checked_state(method, s, first)

    bits_d = max(d, 1)
    compressor = Identity() if compressor is None else compressor
    worlds = [
        world
        for world, _ in every_outcome(
            method,
            step,
            lambda script, degree: _Meter(n, bits_d, script, compressor, counts, cells, degree),
        )
    ]
    found = [
        Orbit(
            channel.probability,
            tuple(channel.script),
            tuple(channel.cells),
            channel.alike,
            channel.chooses,
            channel.degree,
            max(
                channel.uplinks * (method.needs.compressor == "contractive"),
                channel.downlinks * (method.needs.downlink != "unbiased"),
            ),
            None if cells is None else tuple(cells),
        )
        for channel in worlds
    ]
    shares = [float(fraction(rational(world.probability))) for world in worlds]
    schedule = method.schedule
    return tuple(found), StepCost(
        uplink_bits=sum(p * world.bits for p, world in zip(shares, worlds, strict=True)),
        downlink_bits=sum(p * world.bits_down for p, world in zip(shares, worlds, strict=True)),
        rounds=schedule.p if isinstance(schedule, WithProbability) else 1.0,
        gradients=sum(p * world.gradients for p, world in zip(shares, worlds, strict=True)),
    )
