"""The outcomes of a step for a class of functions, the method's units, and whether it is linear."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import chain, islice

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.linearity import GenericWorld, World, require_certifiable
from certibit.theory.worlds.orbits import Orbit, cells_of_kinds, orbits
from certibit.theory.worlds.symbolic.frames import Matrix
from certibit.theory.worlds.symbolic.representatives import Representatives
from certibit.theory.worlds.units import MethodInUnits, in_units, in_units_of

SAME_MEAN = 1e-9
"""Relative difference of two means that is rounding."""

MANY_CLIENTS = 100
"""Number of clients that suffices for tests of a method that treats all clients alike."""


@dataclass(frozen=True, eq=False)
class StepOutcomes:
    """The outcomes of one step of a method for a class of functions, cached.

    Several potentials of the same step are certified one after the other; this is the shared work.
    """

    method: Method
    functions: FunctionClass

    @cached_property
    def found(self) -> tuple[Orbit, ...]:
        """The outcomes."""
        return orbits(self.method, self.functions.n, counts=self.functions.counts)[0]

    @cached_property
    def other_heads(self) -> tuple[Orbit, ...]:
        """The outcomes with other counts of heads; none if no client tosses a coin."""
        n, counts = self.functions.n, self.functions.counts
        other, _ = orbits(self.method, n, counts=counts, other_heads=True)
        return other if [one.cells for one in other] != [one.cells for one in self.found] else ()

    @cached_property
    def natural(self) -> MethodInUnits:
        """The method in its units."""
        found = self.found  # first, for what is refused there
        if self._few_stand_for_all:
            L = self.functions.L
            worlds = Representatives.some(self.method, found, self.functions.counts, L)
            walks = (islice(world.walk(), 3) for world in worlds)
            return in_units_of(self.method, L, chain.from_iterable(walks))
        return in_units(self.method, min(self.functions.n, MANY_CLIENTS), self.functions.L)

    @property
    def _worlds(self) -> Iterator[World]:
        """Clients that show what the method does to all."""
        natural, functions = self.natural, self.functions
        if self._few_stand_for_all:
            return Representatives.some(natural, self.found, functions.counts)
        few = functions.n <= MANY_CLIENTS
        return GenericWorld.some(
            natural, cells_of_kinds(functions.counts if few else [MANY_CLIENTS])
        )

    @cached_property
    def _certifiable(self) -> None:
        require_certifiable(self.natural, self._worlds)

    def require_certifiable(self) -> None:
        """Refuse a method whose step differs on opaque vectors, or moves from its fixed point."""
        return self._certifiable

    def require_sums(self, *pairs: tuple[Matrix, Matrix]) -> None:
        """Refuse a step if a quadratic form of it has another mean over other counts of heads."""
        size = max(float(np.abs(part).max(initial=0.0)) for part, _ in pairs)
        if any(np.abs(part - other).max(initial=0.0) > SAME_MEAN * size for part, other in pairs):
            raise Refusal(
                f"what {self.method.name} does with the coins of its clients is no sum over the "
                "clients and has no certificate; let each coin count for its own client only"
            )

    @property
    def _few_stand_for_all(self) -> bool:
        """Whether there are many clients, of which cohorts, masks or coins tell some apart."""
        return self.functions.n > MANY_CLIENTS and any(orbit.chooses for orbit in self.found)


def as_used(method: Method, functions: FunctionClass) -> FunctionClass:
    """Return the class without a word on whether contractions are drawn, where it says nothing.

    It does where an outcome of a step contracts more than once.
    """
    drawn = replace(functions, deterministic=False)
    once = drawn == functions or all(
        orbit.contractions < 2 for orbit in outcomes_of(method, drawn).found
    )
    return drawn if once else functions


@lru_cache(maxsize=1)
def outcomes_of(method: Method, functions: FunctionClass) -> StepOutcomes:
    """Return the outcomes of a step, found once for the potentials that follow each other.

    Raises
    ------
    Refusal
        If a parameter of the method is not finite.
    """
    for one in fields(method):
        value = getattr(method, one.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise Refusal(
                f"{one.name} = {value:g} of {method.name} is not finite and cannot be certified; "
                "give a finite number"
            )
    return StepOutcomes(method, functions)
