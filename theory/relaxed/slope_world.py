"""Opaque vectors and norms with which a method computes one step from a model x, for all G.

A method calculates with them as with those of :mod:`certibit.theory.worlds.opaque`, and may take
norms as well, compare them with numbers and choose by them. A norm of a multiple of grad f(x) is a
rational function of G = |grad f(x)|; that of a vector with noise is only compared, and divides the
vector itself. Everything is computed when it is needed: what a branch does not use decides nothing.

Vectors are sums of the model, gradients, noise and unit vectors, with rational functions of G as
coefficients. A comparison of norms has one answer on an interval of G; where it has two the
interval is cut (`Cut`), and where noise decides both answers are followed (`Fork`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from flint import fmpq_poly

from certibit.theory.proofs.positivity import VARIABLE, RationalFunction, Span, cuts_for
from certibit.theory.worlds.opaque.clients import numbers_of
from certibit.theory.worlds.opaque.exact_numbers import Exact, Rational
from certibit.theory.worlds.opaque.letters import FEATURES, RUNS, Letter, Opaque, refuse

NOT_A_STEP = "is no step along the gradient of f"
X, G = "x", "gradient"
"""Names of the model and of the gradients; noise is called by its sample, units by numbers."""

ZERO = RationalFunction.of(0)

SLOPE = VARIABLE
"""G itself."""


class Cut(Exception):  # noqa: N818  (no error: the interval of G is cut and the step run again)
    """A comparison that has two answers on an interval of G: where it changes."""

    def __init__(self, place: Rational) -> None:
        self.place = place


class Fork(Exception):  # noqa: N818  (no error: both answers are followed)
    """A comparison that the noise decides."""


@dataclass(frozen=True)
class Parts:
    """A vector of every client: sum over names b of own[b] b_i + mean[b] (1/n) sum_j b_j."""

    own: Mapping[Any, RationalFunction]
    mean: Mapping[Any, RationalFunction]

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
    of: Any = field(compare=False, repr=False)
    radius: RationalFunction


@dataclass(frozen=True)
class Moved:
    """The changes grad f_i(x + D) - grad f_i(x) after a step ``of`` D, at most ``radius`` long."""

    number: int
    radius: RationalFunction
    of: Any = field(compare=False, repr=False)


@dataclass(frozen=True)
class OwnUnit:
    """The unit vectors of the clients' gradients and more, of which only clipping makes use."""

    number: int
    of: Any = field(compare=False, repr=False)


@dataclass(frozen=True)
class PerClient:
    """A comparison |v| > limit that every client answers for its own v = grad f_i + (Moved)."""

    vector: "Parts"
    limit: Rational
    above: bool


@dataclass(frozen=True)
class Clipped:
    """Vectors min(eta, gamma/|v|) v of the clients, for |v| at most U and a mean of v close to g.

    The inner product of their mean and grad f(x)/G is at least ``toward``, and it is at most
    ``length`` long. Let v_i have the component x_i along grad f(x), tau = gamma/eta <= U, and m at
    most the mean of the x_i. As |v_i| <= U, the component of a clipped vector is at least
    (gamma/U) x_i for x_i >= 0 and -min(eta |x_i|, gamma) for x_i < 0. On [-U, U] this is above the
    line through (-tau, -gamma) and (U, gamma), which is gamma (2 m + tau - U)/(U + tau) at m.
    """

    number: int
    of: Any = field(compare=False, repr=False)
    toward: RationalFunction
    length: RationalFunction


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
    kappa, rho : rational number
        |grad f_i(x)| <= kappa + rho |grad f(x)|; kappa is None where nothing is assumed.
    assumed : list of RationalFunction
        What has to be nonnegative for the radii of `Moved`.
    """

    n: int
    sigma: Rational
    span: Span
    answers: tuple[bool, ...] = ()
    kappa: Rational | None = None
    rho: Rational | None = None
    assumed: list[RationalFunction] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    asked: list[bool] = field(default_factory=list)
    revealed: set[Any] = field(default_factory=set)
    named: list[Turned | OwnUnit | Clipped] = field(default_factory=list)

    @property
    def alike(self) -> bool:
        """Whether all f_i have the same gradient, and are sampled without noise."""
        return self.kappa == 0 and self.rho == 1 and not self.sigma

    def noise_radius(self, v: Parts) -> RationalFunction:
        """Return a bound of the length of the noise in a vector, any client's."""
        total, n = ZERO, self.n
        for name in {*v.own, *v.mean} - {X, G}:
            own, mean = (self.constant(part.get(name, ZERO)) for part in (v.own, v.mean))
            total = total + self.size(name) * (abs(own + mean / n) + abs(mean) * (n - 1) / n)
        return total

    def size(self, name: Any) -> RationalFunction:
        """Return a bound of the length of a vector by its name."""
        if isinstance(name, Moved):
            return name.radius
        if isinstance(name, Clipped):
            return name.length
        if isinstance(name, Turned | OwnUnit):
            return RationalFunction.of(1)
        return RationalFunction.of(self.sigma)

    def largest_gradient(self) -> RationalFunction:
        """Return kappa + rho G, which no |grad f_i(x)| is above."""
        if self.kappa is None:
            refuse(
                NOT_A_STEP,
                "takes the norm of what depends on one client's gradient, not on grad f(x) only",
                "give kappa and rho of |grad f_i| <= kappa + rho |grad f|",
            )
        return SLOPE * self.rho + self.kappa

    def length(self, v: Parts) -> RationalFunction:
        """Return a bound of the length of a vector without the model, any client's."""
        total = ZERO
        for part, gradient in ((v.mean, SLOPE), (v.own, None)):
            for name, factor in part.items():
                size = self.size(name) if name != G else gradient or self.largest_gradient()
                total = total + factor * self.sign(factor) * size
        return total

    def clip(self, one: PerClient, clipped: Parts, plain: Parts) -> Parts:
        """Return what a choice of every client is, which has to be to clip its vector."""
        v, none = one.vector, Parts({}, {})
        unit = self._name(OwnUnit, v)
        if not one.limit and plain == none and {*clipped.own} <= {unit} and not clipped.mean:
            return clipped  # the direction of 0 is 0
        eta, gamma = plain.own.get(G, ZERO), clipped.own.get(unit, ZERO)
        right = (v.combined(eta, none, 0), Parts({unit: gamma}, {})) == (plain, clipped)
        if not (right and gamma == eta * one.limit and self.sign(eta) > 0):
            refuse(NOT_A_STEP, "lets every client choose by its own norm", "clip v at gamma/eta")
        off = self.noise_radius(v)
        most, mean, tau = self.largest_gradient() + off, SLOPE - off, one.limit
        toward = gamma * (mean * 2 - most + tau) / (most + tau)
        name = self._name(Clipped, (plain, clipped), toward, gamma)
        return Parts({name: RationalFunction.of(1)}, {})

    def divisor(self, x: Any) -> RationalFunction:
        """Return a divisor, which is 0 nowhere on the interval."""
        ratio = RationalFunction.of(x)
        if not self.sign(ratio):
            refuse(NOT_A_STEP, "divides by a norm that may be 0", "take unit(v)")
        return ratio

    def constant(self, ratio: RationalFunction) -> Rational:
        """Return a ratio that is a number."""
        if not ratio.is_constant:
            refuse(NOT_A_STEP, "scales noise by a norm", "scale it by numbers")
        return ratio.at(0)

    def sign(self, ratio: RationalFunction) -> int:
        """Return the sign of a ratio on the interval; the interval is cut where it changes."""
        span = self.span
        if span.is_point:
            if ratio.den(span.low) == 0:
                refuse(NOT_A_STEP, "divides by a norm that may be 0", "take unit(v)")
            value = ratio.at(span.low)
            return int(value > 0) - int(value < 0)
        factors = ratio.num.factor()[1] if ratio else []
        for one in sorted({-x[0] / x[1] for x, _ in factors if x.degree() == 1}):
            if span.low < one and (span.high is None or one < span.high):
                raise Cut(one)
        polynomial = RationalFunction.reduced(ratio.num * ratio.den, fmpq_poly([1]))
        for sign in (1, -1):
            if cuts_for(polynomial * sign, span) is not None:
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
        """Return the directions of a vector with noise, or of the clients' gradients."""
        one = RationalFunction.of(1)
        if G in v.own:
            return Parts({self._name(OwnUnit, v): one}, {})
        ratio = v.mean.get(G, ZERO)
        if self.constant(ratio) != 1:
            refuse(NOT_A_STEP, "takes the direction of a multiple of noise", "take that of q")
        unit = self._name(Turned, v, self.noise_radius(v))
        return Parts({unit: one}, {}) if v.own else Parts({}, {unit: one})

    def _name(self, kind: type, of: Any, *bounds: RationalFunction) -> Any:
        """Return the name of vectors made of others: one name for the same vectors only."""
        for one in self.named:
            if isinstance(one, kind) and one.of == of:
                return one
        self.named.append(kind(len(self.named), of, *bounds))
        return self.named[-1]


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
