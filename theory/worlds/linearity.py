"""Numerical tests that certificates apply to a method, before its symbolic step is used.

That a step is linear and treats clients, features and dimensions alike follows from the operations
that opaque vectors allow (:mod:`certibit.theory.worlds.opaque`). That start and step have the same
result on numpy arrays and on opaque ones is tested on numbers, with clients that differ and whose
gradients at the solution are not 0 (unless the method needs that they are).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
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
from certibit.theory.worlds.generic import FEATURES, GenericChannel, GenericFunctions
from certibit.theory.worlds.opaque.clients import rows_of
from certibit.theory.worlds.opaque.worlds import hidden

DRAWS = range(3)
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
    """Functions and messages for one step, or one start, again and again with the same outcome.

    States are arrays with a row for each client, or for representative clients.
    """

    def start(self) -> Any:
        """Return the first state."""

    def opaque_start(self) -> Any:
        """Return the first state of a method that does not see what it calculates with."""

    def step(self, s: Any) -> Any:
        """Do one step."""

    def opaque_step(self, s: Any) -> Any:
        """Do one step that does not see what it calculates with."""


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

    def start(self) -> Any:
        return self.method.start(self._first, self.functions, self._channel)

    def opaque_start(self) -> Any:
        functions, channel, layout = hidden(self.functions, self._channel, self.kinds)
        first = self.method.start(layout.array(self._first), functions, channel)
        return each(lambda x: rows_of(x, layout), first)

    def step(self, s: Any) -> Any:
        return theorem_step(self.method, s, OneStepSolves(self.functions), self._channel)

    def opaque_step(self, s: Any) -> Any:
        functions, channel, layout = hidden(self.functions, self._channel, self.kinds)
        opaque = each(layout.array, s)
        after = theorem_step(self.method, opaque, OneStepSolves(functions), channel)
        return each(lambda x: rows_of(x, layout), after)

    @property
    def _first(self) -> Array:
        return 0 * self.functions.x_star + 1.0

    @property
    def _channel(self) -> GenericChannel:
        return GenericChannel.of(self.method, self.functions, self.draw)


def require_certifiable(method: Method, worlds: Iterable[World]) -> None:
    """Refuse a method whose start or step differs on opaque vectors.

    Raises
    ------
    Refusal
        If one of them does.
    """
    for world in worlds:
        first, rng = world.start(), np.random.default_rng(0)
        moved = each(
            lambda x, rng=rng: x if x.dtype == bool else x + rng.standard_normal(x.shape), first
        )
        pairs = (world.opaque_start(), first), (world.opaque_step(moved), world.step(moved))
        if any(_apart(one, other) > TOLERANCE for one, other in pairs):
            raise Refusal(
                f"the step of {method.name} does not do on numbers what it does on symbols and has "
                "no certificate; it must not draw by itself, nor ask what its arrays are"
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
