"""Opaque vectors and norms with which a method computes one step from a model x, for all G.

A method calculates with them as with those of :mod:`certibit.theory.worlds.opaque`, and may take
norms as well, compare them with numbers and choose by them. A norm of a multiple of grad f(x) is a
rational function of G = |grad f(x)|; that of a vector with noise is only compared, and divides the
vector itself. Everything is computed when it is needed: what a branch does not use decides nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from certibit.theory.proofs.positivity import RationalFunction
from certibit.theory.relaxed.slope_parts import (
    NOT_A_STEP,
    SLOPE,
    ZERO,
    Clipped,
    G,
    OwnUnit,
    Parts,
    PerClient,
    SlopeWorld,
    Turned,
    X,
)
from certibit.theory.worlds.opaque.clients import numbers_of
from certibit.theory.worlds.opaque.exact_numbers import Exact
from certibit.theory.worlds.opaque.letters import FEATURES, RUNS, Letter, Opaque, refuse


class _Lazy(Opaque):
    """A thing that is computed when it is needed."""

    device: ClassVar[str] = "cpu"
    WORD = "a vector"
    IS_WHAT = NOT_A_STEP
    INSTEAD = "add vectors, scale them by numbers and norms, average them, choose by norms"

    @cached_property
    def value(self) -> Any:
        return self._make()

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return _Namespace

    def __array_ufunc__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse("calls a function of numpy")


@dataclass(frozen=True)
class _LengthOf:
    """The norm of a vector with noise; ``divides`` where it is another number if that is 0."""

    vector: Parts
    divides: bool = False


class SlopeVector(_Lazy):
    """A vector of every client, (n, d, R), or one that all share, (1, d, R)."""

    def __init__(self, world: SlopeWorld, make: Callable[[], Parts], of_all: bool) -> None:
        self._world, self._make, self._of_all = world, make, of_all

    @property
    def shape(self) -> tuple[int, Letter, Letter]:
        """Clients, features, runs."""
        return (self._world.n if self._of_all else 1), FEATURES, RUNS

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return np.dtype(float)

    def _with(self, other: Any, sign: int, own: int = 1) -> "SlopeVector":
        if isinstance(other, np.ndarray) and not np.any(other):
            zero = Parts({}, {})
            other = SlopeVector(self._world, lambda: zero, len(other) > 1)
        if not isinstance(other, SlopeVector):
            self._refuse("adds numbers to a vector")
        return SlopeVector(
            self._world,
            lambda: self.value.combined(own, other.value, sign),
            self._of_all or other._of_all,
        )

    def __add__(self, other: Any) -> "SlopeVector":
        return self._with(other, 1)

    def __sub__(self, other: Any) -> "SlopeVector":
        return self._with(other, -1)

    def __rsub__(self, other: Any) -> "SlopeVector":
        return self._with(other, 1, -1)

    def __mul__(self, factor: Any) -> "SlopeVector":
        by = _scalar(self, factor)
        none = Parts({}, {})
        return SlopeVector(self._world, lambda: self.value.combined(by(), none, 0), self._of_all)

    def __truediv__(self, divisor: Any) -> "SlopeVector":
        by = _scalar(self, divisor)

        def quotient() -> Parts:
            below, own = by(), self.value
            if not isinstance(below, _LengthOf):
                return own.combined(1 / self._world.divisor(below), Parts({}, {}), 0)
            if below.vector != own:
                self._refuse("divides by the norm of another vector, which has noise")
            return self._world.turned(own)

        return SlopeVector(self._world, quotient, self._of_all)

    def __neg__(self) -> "SlopeVector":
        return self * -1

    __radd__, __rmul__ = __add__, __mul__

    def sum(self, axis: int | None = None, keepdims: bool = False) -> "SlopeVector":
        """Sum over the clients: (1, d, R)."""
        if axis != 0 or not keepdims:
            self._refuse("sums over other than the clients, or leaves their axis out")
        count, none = self.shape[0], Parts({}, {})
        return SlopeVector(
            self._world,
            lambda: (self.value.averaged() if self._of_all else self.value).combined(
                count, none, 0
            ),
            False,
        )


class SlopeNumber(_Lazy):
    """A norm of every client, (n, 1, R) or (1, 1, R), or what is calculated from one."""

    WORD = "a norm"

    def __init__(self, world: SlopeWorld, make: Callable[[], Any]) -> None:
        self._world, self._make = world, make

    def _op(
        self, other: Any, operate: Callable[[Any, Any], Any], times: bool = False
    ) -> "SlopeNumber":
        by = _scalar(self, other)

        def calculated() -> RationalFunction:
            pair = self.value, by()
            if any(isinstance(one, RationalFunction) and not one for one in pair) and times:
                return ZERO
            if any(isinstance(one, _LengthOf) for one in pair):
                self._refuse("calculates with the norm of a vector that has noise")
            return operate(*pair)

        return SlopeNumber(self._world, calculated)

    def __add__(self, other: Any) -> "SlopeNumber":
        return self._op(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> "SlopeNumber":
        return self._op(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> "SlopeNumber":
        return self._op(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, SlopeVector):
            return other * self
        return self._op(other, lambda a, b: a * b, times=True)

    def __truediv__(self, other: Any) -> "SlopeNumber":
        return self._op(other, lambda a, b: a / self._world.divisor(b))

    def __rtruediv__(self, other: Any) -> "SlopeNumber":
        return self._op(other, lambda a, b: b / self._world.divisor(a))

    __radd__, __rmul__ = __add__, __mul__

    def _compared(self, other: Any, sign: int, equal: bool) -> "_SlopeMask":
        by = _scalar(self, other)

        def decided() -> bool | PerClient:
            mine, theirs = self.value, by()
            if isinstance(theirs, _LengthOf):
                self._refuse("compares two norms of vectors that have noise")
            if isinstance(mine, _LengthOf) and mine.divides:
                self._refuse("compares a norm that is replaced where it is 0")
            if not isinstance(mine, _LengthOf):
                found = sign * self._world.sign(RationalFunction.of(mine - theirs))
                return found > 0 or (equal and not found)
            return _noisy(self._world, mine.vector, theirs, sign, equal)

        return _SlopeMask(self._world, decided)

    def __gt__(self, other: Any) -> "_SlopeMask":
        return self._compared(other, 1, False)

    def __ge__(self, other: Any) -> "_SlopeMask":
        return self._compared(other, 1, True)

    def __lt__(self, other: Any) -> "_SlopeMask":
        return self._compared(other, -1, False)

    def __le__(self, other: Any) -> "_SlopeMask":
        return self._compared(other, -1, True)


def _noisy(world: SlopeWorld, v: Parts, limit: Any, sign: int, equal: bool) -> bool | PerClient:
    """Answer whether |g + noise| is on a side of a limit; let every client answer for its own v."""
    radius = world.noise_radius(v)
    if G in v.own:
        limit = world.constant(RationalFunction.of(limit))
        if limit < 0 or (limit == 0 and equal == (sign > 0)):
            return sign > 0
        above = world.sign(world.largest_gradient() + radius - limit)
        if above < 0 or (above == 0 and equal == (sign < 0)):
            return sign < 0
        return PerClient(v, limit, sign > 0)
    far = SLOPE * abs(world.constant(v.mean.get(G, ZERO)))
    if world.sign(far - radius - limit) > 0:
        return sign > 0
    if world.sign(far + radius - limit) < 0:
        return sign < 0
    if v.own:
        refuse(
            NOT_A_STEP,
            "lets the noise of every client decide for it",
            "take a larger threshold gamma/eta, or less noise",
        )
    return world.answer({*v.mean} - {G})


class _SlopeMask(_Lazy):
    """The answer of a comparison."""

    WORD = "the answer of a comparison"

    def __init__(self, world: SlopeWorld, make: Callable[[], bool | PerClient]) -> None:
        self._world, self._make = world, make

    def __invert__(self) -> "_SlopeMask":
        def inverted() -> bool | PerClient:
            one = self.value
            return replace(one, above=not one.above) if isinstance(one, PerClient) else not one

        return _SlopeMask(self._world, inverted)


def _scalar(owner: _Lazy, x: Any) -> Callable[[], Any]:
    """Return what computes a factor: a number, or what a norm is."""
    if isinstance(x, SlopeNumber):
        return lambda: x.value
    number = x.value if isinstance(x, Exact) else numbers_of(x, [range(owner._world.n)])
    if number is None or np.ndim(number):
        owner._refuse(f"calculates with {owner.WORD} and {type(x).__name__}")
    return lambda: RationalFunction.of(number)


class _Squares(Opaque):
    """The squared norms of a vector, of which only the square root is taken."""

    WORD = "a squared norm"
    IS_WHAT = NOT_A_STEP
    INSTEAD = "take its square root, the norm"

    def __init__(self, vector: SlopeVector) -> None:
        self._vector = vector

    def __getitem__(self, _: Any) -> "_Squares":
        return self

    def __pow__(self, power: Any) -> SlopeNumber:
        if power != 0.5:
            self._refuse("takes another power of a squared norm")
        vector, world = self._vector, self._vector._world

        def length() -> Any:
            v = vector.value
            if X in v.mean or X in v.own:
                vector._refuse("takes the norm of the model, which f does not know")
            others = {*v.own, *v.mean} - {G}
            if any(isinstance(name, Turned | OwnUnit | Clipped) for name in others):
                vector._refuse("takes the norm of a direction that has noise")
            if G in v.own:
                world.largest_gradient()
                if v.mean or v.own[G] != RationalFunction.of(1):
                    vector._refuse("takes the norm of a gradient of one client and of others")
            if others or G in v.own:
                return _LengthOf(v)
            scale = v.mean.get(G, ZERO)
            return SLOPE * scale * (world.sign(scale) if scale else 1)

        return SlopeNumber(world, length)


class _Namespace:
    """Functions of the opaque things, by their names in the array API standard."""

    __name__ = "slope"
    bool = bool

    @staticmethod
    def vecdot(x: SlopeVector, y: Any, axis: int = -1) -> _Squares:
        if x is not y or axis != -2:
            x._refuse("takes an inner product")
        return _Squares(x)

    @staticmethod
    def where(mask: Any, yes: Any, no: Any) -> Any:
        opaque = yes if isinstance(yes, _Lazy) else no
        if not isinstance(mask, _SlopeMask) or not isinstance(opaque, SlopeVector | SlopeNumber):
            opaque._refuse("chooses by what is no comparison of norms")
        world = opaque._world
        if isinstance(opaque, SlopeVector):
            if not (isinstance(yes, SlopeVector) and isinstance(no, SlopeVector)):
                opaque._refuse("chooses between a vector and a number")
            of_all = yes._of_all or no._of_all

            def chosen() -> Parts:
                if isinstance(one := mask.value, PerClient):
                    pair = (yes, no) if one.above else (no, yes)
                    return world.clip(one, *(each.value for each in pair))
                return (yes if one else no).value

            return SlopeVector(world, chosen, of_all)
        pair = _scalar(opaque, no), _scalar(opaque, yes)

        def number() -> Any:
            if not isinstance(one := mask.value, PerClient):
                return pair[one]()
            other, length = pair if one.above else pair[::-1]
            if one.limit or length() != _LengthOf(one.vector):
                opaque._refuse("chooses a number by every client's own norm")
            world.divisor(other())
            return _LengthOf(one.vector, divides=True)

        return SlopeNumber(world, number)

    @staticmethod
    def sum(x: SlopeVector, **options: Any) -> SlopeVector:
        return x.sum(**options)

    @staticmethod
    def zeros(shape: Any, **_: Any) -> Any:
        return np.zeros(shape)
