"""The generic world: unlike random functions, distorted messages, and coins that are all fair.

A relation that holds for all functions, compressors and outcomes holds for those drawn here; and a
relation that fails in general fails here. All runs of a batch have the same outcomes, and rare
outcomes occur as often as others, so that a few steps show every kind of step.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.composition import TwoWay
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.method import (
    ExactGradients,
    Functions,
    Gradients,
    Method,
    Needs,
    Schedule,
    Slot,
    WithProbability,
)
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams

FEATURES, STEPS = 4, 20
MANY_CLIENTS = 100
"""Of more clients what is found does not depend on how many, if it does not for so many."""
SAME = 1e-7
"""Relative difference of coefficients that do not depend on the number of clients."""
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class GenericFunctions(ExactGradients):
    """Functions with grad f_i(x) = scale (v_i + curve(B_i (x - x*))) and curve(0) = 0.

    The B_i are random and not symmetric: no identity of a method needs them to be. With a shared g,
    grad g(y) = scale (curve(y - x*) - mean_i v_i); without, the v_i sum to 0.

    Parameters
    ----------
    x_star : (1, d, 1)
        The solution.
    v : (n, d, 1)
        The gradients of the f_i at the solution, divided by the scale.
    B : (n, d, d)
        Their slopes there.
    scale : float
        The size of gradients.
    curve : callable
        The sine, with which gradients are bounded; or the identity, with which they are affine.
    """

    x_star: Array
    v: Array
    B: Array
    scale: float = 1.0
    curve: Callable[[Array], Array] = np.sin

    @classmethod
    def random(cls, n: int, d: int, seed: int, needs: Needs) -> Self:
        """Draw them as a method needs them: with a shared g or without, with one minimiser or n."""
        rng = np.random.default_rng(seed)
        v = rng.standard_normal((n, d, 1)) * (not needs.shared_minimiser)
        if not needs.composite:
            v -= v.mean(axis=0)
        B = np.eye(d) + rng.uniform(-0.5, 0.5, (n, d, d))
        return cls(rng.standard_normal((1, d, 1)), v, B)

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.v)

    @property
    def d(self) -> int:
        """Number of features."""
        return self.x_star.shape[1]

    @cached_property
    def grad_star(self) -> Array:
        """The gradients of the f_i at the solution, (n, d, 1)."""
        return self.scale * self.v

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Gradients of all f_i, without noise; (n, d, R)."""
        return self.scale * (self.v + self.curve(self.B @ (x - self.x_star)))

    def grad_g(self, y: Array) -> Array:
        """Gradient of g; (1, d, R)."""
        return self.scale * (self.curve(y - self.x_star) - self.v.mean(axis=0, keepdims=True))


class GenericChannel(Channel):
    """The simulation's channel with fair coins, nothing counted, and one outcome for all runs."""

    @classmethod
    def of(cls, method: Method, functions: Functions, seed: int) -> Self:
        """Return the channel of a method, whose compressor drops one feature of each message."""
        sparse = RandK(functions.d - 1)
        up = sparse if method.needs.compressor else Identity()
        compressor = TwoWay(up, sparse) if method.needs.downlink else up
        return cls(
            n=functions.n,
            compressor=compressor,
            runs=np.arange(1),
            streams=Streams([seed]),
            ledger=_Uncounted(1),
            template=np.zeros((1, functions.d, 1)),
        )

    def _require(self, v: Array, senders: int, *, of_any_length: bool = False) -> None:
        """Refuse nothing: one outcome serves any number of runs."""

    def talking(self, schedule: Schedule, iteration: Any) -> NDArray[np.bool_]:
        """Say whether all runs communicate: as scheduled, or by a fair coin; (1,)."""
        if isinstance(schedule, WithProbability):
            schedule = WithProbability(_fair(schedule.p))
        return np.asarray(super().talking(schedule, iteration))

    def coin(self, p: float) -> Array:
        """Toss a fair coin, unless p is 0 or 1; (1, 1, 1) bool."""
        return super().coin(_fair(p))

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss a fair coin on every client, but where q_i is 0 or 1; (n, 1, 1) bool."""
        return super().client_coins([_fair(chance) for chance in q])


class _Uncounted(Ledger):
    """A ledger that stays empty."""

    def up(self, runs: NDArray[np.intp], bits: Any, busiest: Any, most: int | None = None) -> None:
        pass

    def down(self, runs: NDArray[np.intp], bits: Any) -> None:
        pass


def _fair(p: Any) -> Any:
    return np.where((p > 0) & (p < 1), 0.5, p)


@dataclass(frozen=True)
class Subject:
    """A method on n clients; two are equal if class, parameters and n are."""

    method: Method = field(compare=False)
    n: int
    identity: tuple[Any, ...]

    @classmethod
    def of(cls, method: Method, n: int) -> Self:
        """Return the subject of a method, whose parameters may be arrays."""
        parameters = (getattr(method, one.name) for one in fields(method))
        values = ((x.shape, x.tobytes()) if hasattr(x, "tobytes") else x for x in parameters)
        return cls(method, n, (type(method), *values))


Found = TypeVar("Found")
Parts = tuple[Any, list[float]]
"""The structure of what is found, and its coefficients."""


def of_many(
    find: Callable[[Subject], Found],
    parts: Callable[[Found], Parts | None],
    method: Method,
    n: int,
) -> Found:
    """Return a result for a method on n clients; for many, computed on fewer if it is the same.

    Without ``parts`` to compare, or if the method cannot be run on fewer, all clients are used.
    """
    if n > MANY_CLIENTS:
        sizes = MANY_CLIENTS, MANY_CLIENTS - 1
        with suppress(Refusal, ValueError, IndexError):
            few, fewer = (find(Subject.of(with_fewer(method, n, k), k)) for k in sizes)
            own, other = parts(few), parts(fewer)
            alike = own is not None and other is not None and own[0] == other[0]
            if alike and np.allclose(own[1], other[1], rtol=SAME, atol=0.0):  # type: ignore[index]
                return few
    return find(Subject.of(method, n))


def with_fewer(method: Method, n: int, k: int) -> Method:
    """Return a method for k of n clients: whole numbers above k are taken for parts of n."""

    def fewer(x: Any) -> Any:
        if isinstance(x, Method):
            return with_fewer(x, n, k)
        return max(1, x * k // n) if type(x) is int and k < x <= n else x

    changes: Any = {one.name: fewer(getattr(method, one.name)) for one in fields(method)}
    return replace(method, **changes)


@lru_cache(maxsize=256)
def generic_functions(subject: Subject, d: int, seed: int) -> GenericFunctions:
    """Return functions whose scale suits a method: its steps from 0 evaluate points of size 1."""
    method, points = subject.method, [0.0]

    def noted(step: Array) -> Array:
        points.append(float(np.max(np.abs(step))))
        return np.sin(step)

    functions = GenericFunctions.random(subject.n, d, seed, method.needs)
    origin = 0 * functions.x_star
    trial = replace(functions, x_star=origin, v=functions.v + 1.0, curve=noted)
    for _ in generic_states(method, trial, seed, origin):
        pass
    reach, none = max(points), ROUNDING if method.needs.composite else 0  # that f and g cancel
    return replace(functions, scale=1 / reach if none < reach < np.inf else 1.0)


def generic_states(
    method: Method, functions: Gradients, seed: int, x: Array, state: Any = None
) -> Iterator[Any]:
    """Return the states of a method before and after each of a few steps, from x or from a state.

    A step is an iteration, or a whole round of K local steps (see :func:`theorem_step`).
    """
    channel = GenericChannel.of(method, functions, seed)
    state = method.start(x, functions, channel) if state is None else state
    yield state
    for number in range(STEPS):
        state = theorem_step(method, state, functions, channel, number)
        yield state


def rounded(x: float) -> float:
    """Return the simple fraction that a number is up to rounding, or else the number."""
    fraction = float(Fraction(x).limit_denominator(10_000))
    return fraction if abs(fraction - x) <= ROUNDING * abs(x) else float(x)
