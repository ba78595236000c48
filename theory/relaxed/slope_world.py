"""A world of symbols with norms: one step of a method that clips, from a model x, for all G.

A method calculates with opaque vectors as in :mod:`certibit.theory.worlds.opaque`, and may take
norms as well. All vectors are sums of x, the gradients of the clients, the noise of their samples
and unit vectors, with coefficients that are rational functions of G = |grad f(x)|. A norm of a
multiple of grad f(x) is such a function; a comparison of norms has one answer on an interval of G,
where it has none the interval is cut (`Cut`), and where noise decides both answers are followed
(`Fork`). Everything is computed when it is needed: what a branch does not use decides nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from certibit.theory.relaxed.positivity import Span, cuts_for
from certibit.theory.relaxed.slope_ratio import SLOPE, SlopeRatio
from certibit.theory.worlds.opaque.clients import numbers_of
from certibit.theory.worlds.opaque.letters import FEATURES, RUNS, Letter, Opaque, refuse
from certibit.theory.worlds.symbolic.exact_numbers import Exact, Rational, rational

NOT_A_STEP = "is no step along the gradient of f"
X, G = "x", "gradient"
"""Names of the model and of the gradients; noise is called by its sample slot, units by numbers."""

ZERO = SlopeRatio.of(0)


class Cut(Exception):  # noqa: N818  (no error: the interval of G is cut and the step run again)
    """A comparison that has two answers on an interval of G: where it changes."""

    def __init__(self, place: Rational) -> None:
        self.place = place


class Fork(Exception):  # noqa: N818  (no error: both answers are followed)
    """A comparison that the noise decides."""


@dataclass(frozen=True)
class Parts:
    """A vector of every client: sum over names b of own[b] b_i + mean[b] (1/n) sum_j b_j."""

    own: Mapping[Any, SlopeRatio]
    mean: Mapping[Any, SlopeRatio]

    def combined(self, a: Any, other: "Parts", b: Any) -> "Parts":
        """Return a self + b other."""
        return Parts(
            *(
                {
                    name: total
                    for name in {**mine, **theirs}
                    if (total := mine.get(name, ZERO) * a + theirs.get(name, ZERO) * b)
                }
                for mine, theirs in ((self.own, other.own), (self.mean, other.mean))
            )
        )

    def averaged(self) -> "Parts":
        """Return the mean over the clients."""
        return Parts({}, Parts(self.own, {}).combined(1, Parts(self.mean, {}), 1).own)


@dataclass(frozen=True)
class Turned:
    """The unit vectors of g + (noise of length at most ``radius``), one of each client."""

    number: int
    radius: Rational
    of: Any = field(compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class SlopeWorld:
    """One interval of G and answers of the noise: what comparisons are answered with.

    Attributes
    ----------
    n : int
        Clients.
    sigma : rational number
        The largest length of a noise.
    span : Span
        The values of G: a point, or an open interval.
    answers : tuple of bool
        Those of the comparisons that noise decides, in the order in which they are needed.
    """

    n: int
    sigma: Rational
    span: Span
    answers: tuple[bool, ...] = ()
    asked: list[bool] = field(default_factory=list)
    revealed: set[Any] = field(default_factory=set)
    units: list[Turned] = field(default_factory=list)

    def vector(self, make: Callable[[], Parts], of_all: bool) -> "SlopeVector":
        """Return an opaque vector."""
        return SlopeVector(self, make, of_all)

    def model(self) -> "SlopeVector":
        """Return x."""
        parts = Parts({}, {X: SlopeRatio.of(1)})
        return self.vector(lambda: parts, False)

    def noise_radius(self, v: Parts) -> Rational:
        """Return a bound of the length of the noise in a vector, any client's."""
        total, n = rational(0), self.n
        for name in {*v.own, *v.mean} - {X, G}:
            own, mean = (self.constant(part.get(name, ZERO)) for part in (v.own, v.mean))
            total += abs(own + mean / n) + abs(mean) * (n - 1) / n
        return total * self.sigma

    def constant(self, ratio: SlopeRatio) -> Rational:
        """Return a ratio that is a number."""
        if not ratio.is_constant:
            refuse(NOT_A_STEP, "scales noise by a norm", "scale it by numbers")
        return ratio.at(0)

    def sign(self, ratio: SlopeRatio) -> int:
        """Return the sign of a ratio on the interval; the interval is cut where it changes."""
        span = self.span
        if span.is_point:
            value = ratio.at(span.low)
            return int(value > 0) - int(value < 0)
        for one in sorted(set(_rational_roots(ratio))):
            if span.low < one and (span.high is None or one < span.high):
                raise Cut(one)
        for sign in (1, -1):
            if cuts_for(ratio * sign, span) is not None:
                return sign if ratio else 0
        refuse(NOT_A_STEP, "compares norms at an irrational |grad f(x)|", "compare multiples of it")

    def answer(self, names: set[Any]) -> bool:
        """Return an answer that noise of these names decides, which is known by it."""
        self.revealed.update(names)
        place = len(self.asked)
        if place == len(self.answers):
            raise Fork
        self.asked.append(self.answers[place])
        return self.answers[place]

    def turned(self, v: Parts) -> Parts:
        """Return the directions of a vector with noise."""
        radius = self.noise_radius(v)
        ratio = v.mean.get(G, ZERO)
        if self.constant(ratio) != 1:
            refuse(NOT_A_STEP, "takes the direction of a multiple of noise", "take that of q")
        unit = next((u for u in self.units if u.of == v), Turned(len(self.units), radius, v))
        if unit not in self.units:
            self.units.append(unit)
        one = SlopeRatio.of(1)
        return Parts({unit: one}, {}) if v.own else Parts({}, {unit: one})


def _rational_roots(ratio: SlopeRatio) -> list[Rational]:
    """Return the rational zeros of a numerator."""
    factors = ratio.num.factor()[1] if ratio else []
    return [-one[0] / one[1] for one, _ in factors if one.degree() == 1]


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
class LengthOf:
    """The norm of a vector with noise."""

    vector: Parts


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
            other = self._world.vector(lambda: zero, len(other) > 1)
        if not isinstance(other, SlopeVector):
            self._refuse("adds numbers to a vector")
        return self._world.vector(
            lambda: self.value.combined(own, other.value, sign), self._of_all or other._of_all
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
        return self._world.vector(lambda: self.value.combined(by(), none, 0), self._of_all)

    def __truediv__(self, divisor: Any) -> "SlopeVector":
        by = _scalar(self, divisor)

        def quotient() -> Parts:
            below, own = by(), self.value
            if not isinstance(below, LengthOf):
                return own.combined(1 / SlopeRatio.of(below), Parts({}, {}), 0)
            if below.vector != own:
                self._refuse("divides by the norm of another vector, which has noise")
            return self._world.turned(own)

        return self._world.vector(quotient, self._of_all)

    def __neg__(self) -> "SlopeVector":
        return self * -1

    __radd__, __rmul__ = __add__, __mul__

    def sum(self, axis: int | None = None, keepdims: bool = False) -> "SlopeVector":
        """Sum over the clients: (1, d, R)."""
        if axis != 0 or not keepdims:
            self._refuse("sums over other than the clients, or leaves their axis out")
        count, none = self.shape[0], Parts({}, {})
        return self._world.vector(
            lambda: (self.value.averaged() if self._of_all else self.value).combined(count, none, 0),
            False,
        )


class SlopeNumber(_Lazy):
    """A norm of every client, (n, 1, R) or (1, 1, R), or what is calculated from one."""

    WORD = "a norm"

    def __init__(self, world: SlopeWorld, make: Callable[[], Any]) -> None:
        self._world, self._make = world, make

    def _op(self, other: Any, operate: Callable[[Any, Any], Any]) -> "SlopeNumber":
        by = _scalar(self, other)

        def calculated() -> SlopeRatio:
            pair = self.value, by()
            if any(isinstance(one, LengthOf) for one in pair):
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
        return self._op(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> "SlopeNumber":
        return self._op(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> "SlopeNumber":
        return self._op(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def _compared(self, other: Any, sign: int, equal: bool) -> "SlopeMask":
        by = _scalar(self, other)

        def decided() -> bool:
            mine, theirs = self.value, by()
            if isinstance(theirs, LengthOf):
                self._refuse("compares two norms of vectors that have noise")
            if not isinstance(mine, LengthOf):
                found = sign * self._world.sign(SlopeRatio.of(mine - theirs))
                return found > 0 or (equal and not found)
            return _noisy(self._world, mine.vector, theirs, sign, equal)

        return SlopeMask(self._world, decided)

    def __gt__(self, other: Any) -> "SlopeMask":
        return self._compared(other, 1, False)

    def __ge__(self, other: Any) -> "SlopeMask":
        return self._compared(other, 1, True)

    def __lt__(self, other: Any) -> "SlopeMask":
        return self._compared(other, -1, False)

    def __le__(self, other: Any) -> "SlopeMask":
        return self._compared(other, -1, True)


def _noisy(world: SlopeWorld, v: Parts, limit: Any, sign: int, equal: bool) -> bool:
    """Answer whether |g + noise| is on a side of a limit."""
    radius = world.noise_radius(v)
    far = SLOPE * world.constant(v.mean.get(G, ZERO))
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


class SlopeMask(_Lazy):
    """The answer of a comparison."""

    WORD = "the answer of a comparison"

    def __init__(self, world: SlopeWorld, make: Callable[[], bool]) -> None:
        self._world, self._make = world, make

    def __invert__(self) -> "SlopeMask":
        return SlopeMask(self._world, lambda: not self.value)


def _scalar(owner: _Lazy, x: Any) -> Callable[[], Any]:
    """Return what computes a factor: a number, or what a norm is."""
    if isinstance(x, SlopeNumber):
        return lambda: x.value
    number = x.value if isinstance(x, Exact) else numbers_of(x, [range(owner._world.n)])
    if number is None or np.ndim(number):
        owner._refuse(f"calculates with {owner.WORD} and {type(x).__name__}")
    return lambda: SlopeRatio.of(number)


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
            if G in v.own:
                vector._refuse(
                    "takes the norm of what depends on one client's gradient, not on grad f(x) only"
                )
            if {*v.own, *v.mean} - {G}:
                return LengthOf(v)
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
        if not isinstance(mask, SlopeMask) or not isinstance(opaque, SlopeVector | SlopeNumber):
            opaque._refuse("chooses by what is no comparison of norms")
        world = opaque._world
        if isinstance(opaque, SlopeVector):
            if not (isinstance(yes, SlopeVector) and isinstance(no, SlopeVector)):
                opaque._refuse("chooses between a vector and a number")
            of_all = yes._of_all or no._of_all
            return world.vector(lambda: (yes if mask.value else no).value, of_all)
        pair = _scalar(opaque, no), _scalar(opaque, yes)
        return SlopeNumber(world, lambda: pair[mask.value]())

    @staticmethod
    def sum(x: SlopeVector, **options: Any) -> SlopeVector:
        return x.sum(**options)

    @staticmethod
    def zeros(shape: Any, **_: Any) -> Any:
        return np.zeros(shape)
