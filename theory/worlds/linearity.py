"""Numerical tests that certificates apply to a method, before its symbolic step is used.

That a step is linear and treats clients, features and dimensions alike follows from the operations
that opaque vectors allow (:mod:`certibit.theory.worlds.opaque`). The other assumptions are tested
on numbers, with clients that differ and whose gradients at the solution are not 0 (unless the
method needs that they are): the step has the same result on numpy arrays and on opaque ones, the
fixed point is fixed, bool fields of the state have no effect, and the invariants are preserved.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any, Protocol, Self

import numpy as np

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.compressors.two_way import TwoWay
from certibit.solvers.method import Method
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.state import each
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.generic import FEATURES, GenericChannel, GenericFunctions
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.opaque.clients import rows_of
from certibit.theory.worlds.opaque.worlds import hidden

DRAWS = range(3)
STEPS = 4
"""How many states of a run are looked at."""
TOLERANCE = 1e-6
"""Largest relative difference that counts as rounding."""


@dataclass(frozen=True)
class OneStepSolves:
    """A problem on which a local solve is one gradient step from the centre, which is linear.

    The end of an actual local solve depends on the data; symbols represent it by an unknown point
    and an inequality. All other operations of a step are tested with this problem. Of a given
    number of gradient steps at most ``most`` are done.
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
    """Functions and messages for repeated steps with the same outcome.

    States are arrays with a row for each client, or for representative clients.
    """

    @property
    def star(self) -> Any:
        """The fixed point."""

    def step(self, s: Any) -> Any:
        """Do one step."""

    def opaque_step(self, s: Any) -> Any:
        """Do one step that does not see what it calculates with."""

    def walk(self) -> Iterator[Any]:
        """Yield the states of a run from its start."""

    def kept(self, s: Any) -> tuple[Array, ...]:
        """Return the invariants of a state."""


@dataclass(frozen=True, eq=False)
class GenericWorld:
    """Unlike affine gradients, and draws of one seed, rare outcomes as often as others.

    Only clients of one of the ``kinds`` are alike.
    """

    method: Method
    functions: GenericFunctions
    kinds: Sequence[range]
    draw: int

    @classmethod
    def some(cls, method: Method, kinds: Sequence[range]) -> Iterator[Self]:
        """Yield a few, for a method in its natural units."""
        functions = GenericFunctions.random(kinds[-1].stop, FEATURES, 1, method.needs)
        affine = replace(functions, scale=0.5, curve=np.positive)
        return (cls(method, affine, kinds, draw) for draw in DRAWS)

    @property
    def star(self) -> Any:
        return fixed_point(self.method, self.functions)

    def step(self, s: Any) -> Any:
        return theorem_step(self.method, s, OneStepSolves(self.functions), self._channel)

    def opaque_step(self, s: Any) -> Any:
        functions, channel, layout = hidden(self.functions, self._channel, self.kinds)
        opaque = each(layout.array, s)
        after = theorem_step(self.method, opaque, OneStepSolves(functions), channel)
        return each(lambda x: rows_of(x, layout), after)

    def walk(self) -> Iterator[Any]:
        start = 0 * self.functions.x_star + 1.0
        channel = self._channel
        s = self.method.start(start, self.functions, channel)
        while True:
            yield s
            s = theorem_step(self.method, s, OneStepSolves(self.functions), channel)

    def kept(self, s: Any) -> tuple[Array, ...]:
        return invariants(self.method, s, self.functions)

    @property
    def _channel(self) -> GenericChannel:
        return GenericChannel.of(self.method, self.functions, self.draw)


def require_certifiable(method: Method, worlds: Iterable[World]) -> None:
    """Refuse a method whose step differs on opaque vectors, or that moves from its fixed point.

    Raises
    ------
    Refusal
        Saying which of these fails.
    """
    for world in worlds:
        star, rng = world.star, np.random.default_rng(0)
        if _apart(world.step(star), star) > TOLERANCE:
            raise Refusal(f"{method.name} does not stay at its fixed point and has no factor there")
        moved = each(
            lambda x, rng=rng: x if x.dtype == bool else x + rng.standard_normal(x.shape), star
        )
        if _apart(world.opaque_step(moved), world.step(moved)) > TOLERANCE:
            raise Refusal(
                f"the step of {method.name} does not do on numbers what it does on symbols and has "
                "no certificate; it must not draw by itself, nor ask what its arrays are"
            )
        for s in islice(world.walk(), STEPS):
            size = max(1.0, *(float(np.max(np.abs(x))) for x in _arrays(s)))
            if any(np.max(np.abs(x)) > TOLERANCE * size for x in world.kept(s)):
                raise Refusal(f"{method.name} does not keep what it declares to be invariant")
            rested = each(lambda x, at_rest: at_rest if x.dtype == bool else x, s, star)
            if _apart(world.step(rested), world.step(s)) > TOLERANCE:
                raise Refusal(
                    f"the step of {method.name} depends on a field of bool and has no certificate; "
                    "let such a field only say what changes nothing"
                )


def linear_compressor(method: Method | type[Method]) -> Compressor | None:
    """Return a compressor of the class that a method needs, linear for every draw."""
    classes = {"unbiased": RandK(1), "contractive": Scaled(RandK(1)), None: None}
    up, down = classes[method.needs.compressor], classes[method.needs.downlink]
    return up if down is None else TwoWay(up or Identity(), down)


def _arrays(s: Any) -> list[Array]:
    arrays = (getattr(s, field.name) for field in fields(s))
    return [x for x in arrays if x.dtype != bool]


def _apart(s: Any, other: Any) -> float:
    """Return the largest difference, relative to the size of the second state."""
    pairs = zip(_arrays(s), _arrays(other), strict=True)
    difference = max(float(np.max(np.abs(x - y))) for x, y in pairs)
    return difference / max(*(float(np.max(np.abs(x))) for x in _arrays(other)), 1e-300)
