"""The outcomes of a step for a class of functions, the method's units, and whether it is linear."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain, islice
from numbers import Real
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.flags import Pattern, patterns
from certibit.theory.worlds.generic import with_fewer
from certibit.theory.worlds.opaque.exact_numbers import (
    exact_parameters,
    in_rational_numbers,
    rational,
)
from certibit.theory.worlds.orbits import Orbit, first_state, orbits
from certibit.theory.worlds.symbolic.representatives import (
    Reading,
    Representatives,
    require_same_on_numbers,
)
from certibit.theory.worlds.units import MethodInUnits, in_units, in_units_of

MANY_CLIENTS = 100
"""Number of clients that suffices for tests of a method that treats all clients alike."""

MOST_OUTCOMES = 32
"""How many outcomes are tried on arrays."""

MOST_IN_NUMBERS = 10**5
"""Most clients that arrays are made for."""


@dataclass(frozen=True, eq=False)
class StepOutcomes:
    """The outcomes of one step of a method for a class of functions."""

    method: Method
    functions: FunctionClass

    @cached_property
    def _exact(self) -> Method:
        return exact_parameters(self.method)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The flags that clients can have, first those with which a step is certified."""
        with in_rational_numbers(self.method.name):
            return patterns(self._exact, self.functions.counts)

    @cached_property
    def template(self) -> Any:
        """A state of vectors without entries, with these flags."""
        first = first_state(self.method, self.functions.n, self.functions.counts)
        return self.patterns[0].put(first)

    @cached_property
    def found(self) -> tuple[Orbit, ...]:
        """The outcomes, with their probabilities in rational numbers."""
        n, counts = self.functions.n, self.functions.counts
        with in_rational_numbers(self.method.name):
            return orbits(self._exact, n, counts=counts, state=self.template)[0]

    @cached_property
    def natural(self) -> MethodInUnits:
        """The method in its units."""
        found = self.found  # first, for what is refused there
        many = self.functions.n > MANY_CLIENTS
        if many and any(orbit.chooses for orbit in found):  # cohorts are not those of fewer
            L = self.functions.L
            worlds = Representatives.some(self.method, found, self.functions.counts, L)
            walks = (islice(world.walk(), 3) for world in worlds)
            return in_units_of(self.method, L, chain.from_iterable(walks))
        return in_units(self.method, min(self.functions.n, MANY_CLIENTS), self.functions.L)

    def require_same_on_numbers(self, seen: Reading) -> None:
        """Refuse a method that does with arrays other than with opaque vectors.

        The likeliest outcomes are tried. Of more clients than arrays are made for fewer are taken,
        if the method can be run with fewer; then a potential, which may be of classes, is not read.
        """
        if self.functions.n > MOST_IN_NUMBERS:
            self._fewer_are_the_same  # noqa: B018  (for any potential)
        else:
            self._require_same(self.natural, self.found, self.functions.counts, seen)

    @cached_property
    def _fewer_are_the_same(self) -> bool:
        natural, found = self.natural, tuple[Orbit, ...]()
        with suppress(Refusal, ValueError, IndexError):
            fewer = with_fewer(self.method, self.functions.n, MANY_CLIENTS)
            natural, found = replace(natural, inner=fewer), orbits(fewer, MANY_CLIENTS)[0]
        self._require_same(natural, found, (MANY_CLIENTS,), lambda s, _: [self.natural.model(s)])
        return True

    def _require_same(
        self,
        natural: MethodInUnits,
        found: Sequence[Orbit],
        counts: tuple[int, ...],
        seen: Reading,
    ) -> None:
        likely = sorted(found, key=lambda one: -abs(rational(one.probability)))[:MOST_OUTCOMES]
        require_same_on_numbers((Representatives(natural, one, counts) for one in likely), seen)
        worlds = Representatives.some(natural.inner, found, counts, self.functions.L)
        if any(replace(world, in_numbers=True).remembers() for world in worlds):
            raise Refusal(
                f"a step of {self.method.name} depends on what was done before it, beside its "
                "state, and has no certificate; make what it remembers a field of the state"
            )
        _require_constant(self.method)  # also after steps


def as_used(method: Method, functions: FunctionClass) -> FunctionClass:
    """Return the class without a word on whether contractions are drawn, where it says nothing.

    It does where an outcome of a step contracts more than once.
    """
    drawn = replace(functions, deterministic=False)
    once = drawn == functions or all(
        orbit.contractions < 2 for orbit in outcomes_of(method, drawn).found
    )
    return drawn if once else functions


_LAST: ContextVar[list[StepOutcomes] | None] = ContextVar("last", default=None)


@contextmanager
def outcomes_found_once() -> Iterator[None]:
    """Find the outcomes of a step once for all potentials that are tried of the same method."""
    token = _LAST.set(_LAST.get() or [])
    try:
        yield
    finally:
        _LAST.reset(token)


def outcomes_of(method: Method, functions: FunctionClass) -> StepOutcomes:
    """Return the outcomes of a step, found anew, as the code of a method may have changed.

    Raises
    ------
    Refusal
        If a parameter of the method is not finite, may change, or is no part of what it equals.
    """
    last = _LAST.get()
    if last is not None:
        if not (last and last[0].method is method and last[0].functions is functions):
            last[:] = [_outcomes_of(method, functions)]
        return last[0]
    return _outcomes_of(method, functions)


def _outcomes_of(method: Method, functions: FunctionClass) -> StepOutcomes:
    _require_constant(method)
    again = replace(method)
    if any(getattr(again, name) != getattr(method, name) for name in _parameters(method)):
        raise Refusal(
            f"{method.name} made with its own parameters has others, and no certificate is about "
            "both; let __post_init__ change none"
        )
    return StepOutcomes(method, functions)


def _parameters(method: Method) -> set[str]:
    return {one.name for one in fields(method) if one.compare and one.init}


def _require_constant(method: Method) -> None:
    """Refuse parameters that are not finite, may change, or are no part of what a method equals."""
    known = _parameters(method)
    for name, value in vars(method).items():
        computed = isinstance(getattr(type(method), name, None), cached_property)
        if not ((computed or name in known) and _is_constant(value)):
            raise Refusal(
                f"{name} of {method.name} is {type(value).__name__}, of which a certificate cannot "
                "say that it stays as it is; make it a field, a number or a tuple of numbers"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise Refusal(
                f"{name} = {value:g} of {method.name} is not finite and cannot be certified; "
                "give a finite number"
            )


def _is_constant(value: Any) -> bool:
    """Whether a parameter cannot change, and is equal to no other."""
    if isinstance(value, tuple):
        return set(map(type, value)) <= {float, int} or all(map(_is_constant, value))
    if is_dataclass(value) and not isinstance(value, type):
        return all(one.compare for one in fields(value)) and all(
            map(_is_constant, vars(value).values())
        )
    return isinstance(value, Real | np.bool_ | str | Enum | type(None))
