"""Whether a method is what certificates are about, tried on numbers before symbols are believed.

A certificate takes for granted that the step is linear in the deviation from the fixed point, that
the fixed point is one, that all clients are treated alike and that the invariants are kept. The
world of symbols cannot see when one of these is false, so the method's own step is run on a small
quadratic problem with unlike clients, whose gradients at the solution are not 0 (unless the method
needs that they are).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array
from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.composition import Scaled
from bitbound.solvers.compressors.identity import Identity
from bitbound.solvers.compressors.selection import RandK
from bitbound.solvers.compressors.two_way import TwoWay
from bitbound.solvers.method import Method, Schedule
from bitbound.solvers.state import each
from bitbound.solvers.world.channel import Channel
from bitbound.solvers.world.experiment import ConvexExperiment, Experiment
from bitbound.solvers.world.iteration import theorem_step
from bitbound.solvers.world.simulation import simulated_world
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.invariants import invariants

FEATURES = 4
DRAWS = range(3)
SCALES = (1e-9, 1e-6, 1e-3, -1.0, 1e3, 1e6, 1e9, 1e12)
"""A threshold hides between two of them only where it moves the step by less than TOLERANCE."""
TOLERANCE = 1e-6
"""Largest relative difference that counts as rounding."""
ROUNDING = 1e-10
"""The same, relative to the fixed point, which is added to every deviation from it.

Where what local steps of size 1e-8 have changed is divided by their size, it is 1e-11.
"""

Order = NDArray[np.intp]


@dataclass(frozen=True)
class OneStepSolves:
    """A problem on which a local solve is one plain step from the centre, which is linear.

    Where real ones end depends on the data. What is known of that is an inequality, which symbols
    have of an unknown point; all else in a step is tried with this one. Of gradient steps whose
    number is given, ``most`` are done: all are alike.
    """

    inner: Any
    most: float = 2

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def gradient_steps(
        self,
        slope: Callable[[Array], Array],
        start: Array,
        active: Array,
        step: float,
        count: int,
    ) -> Array:
        """Return where the first of many steps end."""
        for _ in range(int(min(count, self.most))):
            start = start - step * slope(start)
        return start

    def minimise(
        self, gradient: Callable[..., Array], start: Array, centre: Array, *where: Any,
        L: float, mu: float, **criterion: Any,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Return where the step ends, and the gradient there."""
        z = -1 / L * gradient(centre + 0 * start, *where, self.inner)
        return z, gradient(centre + z, *where, self.inner)


class World(Protocol):
    """Functions and messages on which a step is done again and again with the same outcome.

    States are arrays with a row for each client, or for some that stand for all.
    """

    @property
    def star(self) -> Any:
        """The fixed point."""

    @property
    def order(self) -> Order:
        """A renumbering of rows that are alike."""

    def step(self, s: Any, order: Order | None = None) -> Any:
        """Do one step, perhaps with renumbered functions and messages."""

    def walk(self) -> Iterator[Any]:
        """Yield the states of a run from its start."""

    def kept(self, s: Any) -> tuple[Array, ...]:
        """Return the invariants of a state."""


@dataclass(frozen=True)
class SimulatedWorld:
    """The simulation with the draws of one seed; where there are kinds of clients, (n,), of these.

    Only clients of the same kind are alike.
    """

    experiment: ConvexExperiment
    draw: int
    kinds: Order | None = None

    @classmethod
    def some(cls, method: Method, n: int, kinds: Order | None = None) -> Iterator[Self]:
        """Yield a few, on n unlike clients."""
        shared = method.needs.shared_minimiser
        problem = Quadratic.random(n, FEATURES, mu=0.1, L=1.0, shared_minimiser=shared, seed=1)
        experiment = Experiment.of(method, problem, linear_compressor(method))
        return (cls(experiment, draw, kinds) for draw in DRAWS)

    @property
    def star(self) -> Any:
        return fixed_point(self.experiment.method, self.experiment.problem)

    @property
    def order(self) -> Order:
        order = np.arange(self.experiment.problem.n)
        for kind in np.unique(0 * order if self.kinds is None else self.kinds):
            own = order if self.kinds is None else np.flatnonzero(self.kinds == kind)
            order[own] = np.roll(own, 1)
        return order

    def step(self, s: Any, order: Order | None = None) -> Any:
        experiment = self.experiment
        if order is not None:
            view: Any = experiment.problem
            experiment = replace(experiment, problem=replace(view, **_permuted(view, order)))
        channel, oracle = simulated_world(experiment, [self.draw])
        world = channel if order is None else _Permuted(channel, order)
        return theorem_step(experiment.method, s, OneStepSolves(oracle), world)

    def walk(self) -> Iterator[Any]:
        method = self.experiment.method
        channel, oracle = simulated_world(self.experiment, [self.draw])
        s = method.start(channel.template + 1.0, oracle, channel)
        while True:
            yield s
            s = theorem_step(method, s, OneStepSolves(oracle), channel)

    def kept(self, s: Any) -> tuple[Array, ...]:
        return invariants(self.experiment.method, s, self.experiment.problem)


def require_linear(method: Method, worlds: Iterable[World]) -> None:
    """Refuse a method that is not linear, alike on all clients and at rest at the solution.

    Raises
    ------
    Refusal
        Saying which of these fails.
    """
    for world in worlds:
        star, rng = world.star, np.random.default_rng(0)
        v, w = (each(lambda x, rng=rng: rng.standard_normal(x.shape), star) for _ in range(2))
        rest = world.step(star)
        if _apart(rest, star) > TOLERANCE:
            raise Refusal(
                f"{method.name} does not stay at its fixed point and has no factor there; nor does "
                "any method whose steps are normalised"
            )
        along, aside = (_minus(world.step(_plus(star, one)), rest) for one in (v, w))
        both = _minus(world.step(_plus(star, v, w)), rest)
        linear = _apart(both, _plus(along, aside)) <= TOLERANCE
        rounding = ROUNDING * _size(rest)
        for scale in SCALES:
            scaled = _minus(world.step(_plus(star, _times(scale, v))), rest)
            linear &= _apart(scaled, _times(scale, along), rounding) <= TOLERANCE
        if not linear:
            raise Refusal(
                f"the step of {method.name} is not linear and has no certificate; a step that "
                "clips, or stops by the data, is not"
            )
        order = world.order
        turned = world.step(_turned(_plus(star, v), order), order)
        if _apart(turned, _turned(world.step(_plus(star, v)), order)) > TOLERANCE:
            raise Refusal(f"{method.name} does not treat all clients alike and has no certificate")
        for s in islice(world.walk(), 4):
            size = max(1.0, *(float(np.max(np.abs(x))) for x in _arrays(s)))
            if any(np.max(np.abs(x)) > TOLERANCE * size for x in world.kept(s)):
                raise Refusal(f"{method.name} does not keep what it declares to be invariant")


def linear_compressor(method: Method | type[Method]) -> Compressor | None:
    """Return a compressor of the class that a method needs, linear for every draw."""
    classes = {"unbiased": RandK(1), "contractive": Scaled(RandK(1)), None: None}
    up, down = classes[method.needs.compressor], classes[method.needs.downlink]
    return up if down is None else TwoWay(up or Identity(), down)


class _Permuted:
    """A channel in which every client has the random draws of another one."""

    def __init__(self, inner: Channel, order: Order) -> None:
        self.inner, self.order, self.back = inner, order, np.argsort(order)

    def _there(self, x: Array) -> Array:
        return x[self.back] if x is not None and x.shape[0] == len(self.order) else x

    def _here(self, x: Array) -> Array:
        return x[self.order] if x.shape[0] == len(self.order) else x

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        return self._here(self.inner.uplink(self._there(v), self._there(cohort)))

    def send(self, v: Array, mask: Array | None = None) -> Array:
        return self._here(self.inner.send(self._there(v), self._there(mask)))

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        return self.inner.broadcast(v, self._there(mask))

    def downlink(self, v: Array) -> Array:
        return self.inner.downlink(v)

    def talking(self, schedule: Schedule, iteration: int) -> NDArray[np.bool_]:
        return np.asarray(self.inner.talking(schedule, iteration))

    def coin(self, p: float) -> Array:
        return self.inner.coin(p)

    def client_coins(self, q: Any) -> Array:
        return self._here(self.inner.client_coins([q[i] for i in self.back]))

    def cohort(self, m: int) -> Array:
        return self._here(self.inner.cohort(m))

    def ownership(self, s: int, cohort: Array | None = None) -> Array:
        return self._here(self.inner.ownership(s, self._there(cohort)))


def _permuted(view: Quadratic, order: Order) -> dict[str, Any]:
    """Return the fields of a quadratic problem with the clients in another order."""
    bare = replace(view.bare, L_i=view.bare.L_i[order])
    return {"H": view.H[order], "c": view.c[order], "bare": bare}


def _turned(s: Any, order: Order) -> Any:
    return each(lambda x: x[order] if x.shape[0] == len(order) else x, s)


def _plus(s: Any, *others: Any) -> Any:
    return each(lambda x, *more: x if x.dtype == bool else x + sum(more), s, *others)


def _minus(s: Any, other: Any) -> Any:
    return each(lambda x, y: x if x.dtype == bool else x - y, s, other)


def _times(scale: float, s: Any) -> Any:
    return each(lambda x: x if x.dtype == bool else scale * x, s)


def _arrays(s: Any) -> list[Array]:
    arrays = (getattr(s, field.name) for field in fields(s))
    return [x for x in arrays if x.dtype != bool]


def _size(s: Any) -> float:
    return max(float(np.max(np.abs(x))) for x in _arrays(s))


def _apart(s: Any, other: Any, rounding: float = 0.0) -> float:
    """Return the largest difference beyond rounding, relative to the size of the second state."""
    pairs = zip(_arrays(s), _arrays(other), strict=True)
    difference = max(float(np.max(np.abs(x - y))) for x, y in pairs)
    return (difference - rounding) / max(_size(other), 1e-300)
