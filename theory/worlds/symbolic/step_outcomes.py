"""The outcomes of a step for a class of functions, the method's units, and whether it is linear.

An outcome is run for any n with a few representative clients in each cell. Cohorts and masks leave
the clients in a few cells. The first and the second of each cell, and one that stands for all
others, are on functions of their own; sums count it as often as these are. A method gets opaque
vectors, or arrays of all clients, and does the same with both.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain, count, islice
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.method import ExactGradients, Method, Slot
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.state import each
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.flags import Pattern, patterns
from certibit.theory.worlds.generic import FEATURES, with_fewer
from certibit.theory.worlds.opaque.clients import (
    ClientArray,
    ClientMask,
    ClientRows,
    contents,
    rows_of,
)
from certibit.theory.worlds.opaque.exact_numbers import (
    exact_parameters,
    in_rational_numbers,
    rational,
    same_up_to_rounding,
)
from certibit.theory.worlds.opaque.letters import FEATURES as UNKNOWN
from certibit.theory.worlds.orbits import (
    Orbit,
    OrbitChannel,
    cells_of_kinds,
    first_state,
    orbits,
    starts,
)
from certibit.theory.worlds.units import MethodInUnits, OneStepSolves, in_units, in_units_of

Reading = Callable[[Any, Any], list[Array]]
"""What is read of a state and functions."""

CANCELLED = 1e-12
"""What may be left of arrays that cancel."""

OUTCOMES = 4
"""How many outcomes are walked through, spread over all."""


@dataclass(frozen=True, eq=False)
class Representatives:
    """Unlike functions with grad f_i(x) = L (v_i + B_i (x - x*)), and the messages of one outcome.

    Parameters
    ----------
    method : Method
        What is run.
    orbit : Orbit
        The outcome.
    counts : tuple of int
        How many clients there are of each kind.
    L : float
        The size of gradients.
    in_numbers : bool
        Whether a method gets arrays of all clients, and not opaque vectors.
    """

    method: Method
    orbit: Orbit
    counts: tuple[int, ...]
    L: float = 1.0
    in_numbers: bool = False

    @classmethod
    def some(
        cls, method: Method, found: Sequence[Orbit], counts: Sequence[int], L: float = 1.0
    ) -> Iterator[Self]:
        """Yield the worlds of a few outcomes."""
        apart = max(1, -(-len(found) // OUTCOMES))
        return (cls(method, orbit, tuple(counts), L) for orbit in found[::apart])

    @cached_property
    def layout(self) -> ClientRows:
        """Which client each row stands for."""
        return ClientRows.of(self.orbit.cells, cells_of_kinds(self.counts))

    @cached_property
    def functions(self) -> "_Functions":
        """The functions."""
        rows, rng = len(self.layout.counts), np.random.default_rng(1)
        v = rng.standard_normal((rows, FEATURES, 1)) * (not self.method.needs.shared_minimiser)
        if not self.method.needs.composite:
            v -= np.average(v, axis=0, weights=self.layout.counts)
        B = 0.5 * np.eye(FEATURES) + rng.uniform(-0.1, 0.1, (rows, FEATURES, FEATURES))
        x_star = self.layout.array(rng.standard_normal((1, FEATURES, 1)))
        return _Functions(self.layout, x_star, self.L * v, self.L * B)

    def start(self) -> Any:
        """Return the first state, by its rows."""
        return self._start(self._shown(self.functions), self._channel(0, ()))

    def _start(self, problem: Any, channel: Any) -> Any:
        first = self._array(np.ones((1, FEATURES, 1)))
        return each(self._own, self.method.start(first, problem, channel))

    def step(self, s: Any, seed: int = 0, most: float = 2) -> Any:
        """Do one step, with at most so many gradient steps of a local solve."""
        solved = OneStepSolves(self._shown(self.functions), most)
        return self._after(s, solved, self._channel(seed))

    def _after(self, s: Any, problem: Any, channel: Any) -> Any:
        state = each(self._array, s)
        return each(self._own, theorem_step(self.method, state, problem, channel))

    def remembers(self) -> bool:
        """Whether a step on numbers depends on what was done before it, beside the state."""
        first, again, lent = self.start(), list[Any](), list[Any]()
        for begun, _ in starts(self.method, self.layout.n, self.counts):
            channel = _Channel(self, 0, begun.script, begun.degree)
            lent += self._shown(self.functions), self._shown(channel)
            self._start(*lent[-2:])
            for one in lent:
                one.over = True
            again.append(self.step(first, 1))
        lent += self._shown(self.functions), self._channel(1)
        second = self._after(first, OneStepSolves(lent[-2]), lent[-1])
        for one in lent:
            one.over = True
        self.step(second, 2)
        if any(one.kept for one in lent) or not all(_same(again[0], one) for one in again):
            return True
        problem = OneStepSolves(self._shown(self.functions))
        channel = self._channel(0, ())
        s = self._start(problem, channel)
        self._after(s, replace(problem, repeated=True), self._channel(1))
        for seed in (1, 2):
            channel.inner = _Channel(self, seed, self.orbit.script)
            anew, s = self.step(s, seed), self._after(s, problem, channel)
            if not _same(anew, s):
                return True
        return False

    def walk(self) -> Iterator[Any]:
        """Yield the states of a run from its start, with the same outcome in every step."""
        s = self.start()
        for seed in count(1):
            yield s
            s = self.step(s, seed, np.inf)

    def shown(self, seen: Reading, s: Any) -> Iterator[list[NDArray[Any]]]:
        """Yield the rows of a short run, of a step from a state, and of what is read of the state.

        In a run fields are 0 that steps multiply by anything.
        """
        first = self.start()
        after = self.step(first)
        for one in (first, after, self.step(after, 1), self.step(s)):
            yield [*vars(one).values()]
        functions = self._shown(self.functions, True)
        yield list(map(self._own, seen(each(self._array, s), functions)))

    def _array(self, rows: NDArray[Any]) -> Any:
        made = self.layout.array(rows)
        return _in_numbers(made, self.layout) if self.in_numbers else made

    def _own(self, x: Array) -> NDArray[Any]:
        found: NDArray[Any] = rows_of(_opaque(x, self.layout), self.layout)
        return found

    def _channel(self, seed: int, script: Sequence[int] | None = None) -> Any:
        return self._shown(_Channel(self, seed, self.orbit.script if script is None else script))

    def _shown(self, inner: Any, solved: bool = False) -> Any:
        return _InNumbers(inner, self.layout, solved) if self.in_numbers else inner


class _InNumbers:
    """Functions or messages of opaque vectors, for arrays of all clients.

    Functions that are not ``solved`` do not show their solution, as in runs. If anything is asked
    of an object after the call that got it is ``over``, the method has ``kept`` it.
    """

    def __init__(self, inner: Any, layout: ClientRows, solved: bool) -> None:
        self.inner, self.layout, self.solved = inner, layout, solved
        self.over = self.kept = False

    def __getattr__(self, name: str) -> Any:
        self.kept = self.kept or self.over
        if name in {"x_star", "grad_star"} and not self.solved:
            raise AttributeError(name)
        found = getattr(self.inner, name)
        if not callable(found):
            return _in_numbers(found, self.layout)

        def called(*given: Any, **named: Any) -> Any:
            given = tuple(_opaque(x, self.layout) for x in given)
            named = {key: _opaque(x, self.layout) for key, x in named.items()}
            made = _in_numbers(found(*given, **named), self.layout)
            return np.repeat(made, FEATURES, axis=1) if name == "ownership" else made

        return called


def _same(s: Any, other: Any) -> bool:
    return all(map(np.array_equal, vars(s).values(), vars(other).values()))


def _in_numbers(x: Any, layout: ClientRows) -> Any:
    """Return the array of all clients that an opaque one stands for; anything else as it is."""
    if isinstance(x, ClientMask):
        return np.array(contents(x, layout)[: x.shape[0]])
    if not isinstance(x, ClientArray):
        return FEATURES if x is UNKNOWN else x
    rows = rows_of(x, layout)
    return rows[layout.row_of] if x.shape[0] > 1 else rows


def _opaque(x: Any, layout: ClientRows) -> Any:
    """Return an array of all clients as an opaque one; anything else as it is."""
    if not isinstance(x, np.ndarray) or x.ndim != 3:
        return x
    rows = x[layout.representatives] if len(x) > 1 else x
    rows = rows[:, :1] if x.dtype == bool else rows
    if len(x) not in {1, layout.n} or (x != (rows[layout.row_of] if len(x) > 1 else rows)).any():
        raise Refusal("clients that are treated alike are not alike on numbers")
    return layout.array(rows)


@dataclass(frozen=True, eq=False)
class _Functions(ExactGradients):
    layout: ClientRows
    x_star: ClientArray
    v: NDArray[np.float64]
    B: NDArray[np.float64]

    @property
    def n(self) -> int:
        return self.layout.n

    @property
    def d(self) -> int:
        return UNKNOWN

    @property
    def grad_star(self) -> ClientArray:
        return ClientArray(self.v, self.layout)

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> ClientArray:
        return ClientArray(self.v + self.B @ rows_of(x - self.x_star, self.layout), self.layout)

    def grad_g(self, y: Array) -> Any:
        slope = np.abs(self.B).max()
        return slope * (y - self.x_star) - mean(self.grad_star)


class _Channel(OrbitChannel):
    """The messages of one outcome, each feature multiplied by a gain of its own."""

    def __init__(
        self,
        world: Representatives,
        seed: int,
        script: Sequence[int],
        degree: int | None = None,
    ) -> None:
        degree = world.orbit.degree if degree is None else degree
        super().__init__(world.layout.n, script, world.counts, degree=degree)
        self.world = world
        self.rng = np.random.default_rng(seed)

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        gains = self._gains(len(self.world.layout.counts))
        return self.send(self._times(gains, v), cohort)

    def downlink(self, v: Array) -> Array:
        return self._times(self._gains(1), v)

    def _times(self, gains: NDArray[np.float64], v: Array) -> ClientArray:
        return ClientArray(gains * rows_of(v, self.world.layout), self.world.layout)

    def _gains(self, rows: int) -> NDArray[np.float64]:
        return self.rng.uniform(0.5, 1.5, (rows, FEATURES, 1))


def require_same_on_numbers(worlds: Iterable[Representatives], seen: Reading) -> None:
    """Refuse a method that does with arrays other than with opaque vectors.

    Raises
    ------
    Refusal
        If its start, a step, or what is read of a state differs by more than rounding.
    """
    for world in worlds:
        numbers, rng = replace(world, in_numbers=True), np.random.default_rng(0)
        moved = each(
            lambda x, rng=rng: x if x.dtype == bool else x + rng.standard_normal(x.shape),
            world.start(),
        )
        pairs = zip(numbers.shown(seen, moved), world.shown(seen, moved), strict=True)
        if not all(same_up_to_rounding(*pair, CANCELLED) for pair in pairs):
            raise Refusal(
                f"{world.method.name} does not do on numbers what it does on symbols and has no "
                "certificate; neither it nor a Lyapunov function must draw by itself, or ask what "
                "its arrays are"
            )


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
