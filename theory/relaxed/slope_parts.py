"""Vectors of one step as sums of the model, gradients, noise and unit vectors, and comparisons.

Coefficients are rational functions of G = |grad f(x)|. A comparison of norms has one answer on an
interval of G; where it has two the interval is cut (`Cut`), and where noise decides both answers
are followed (`Fork`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq_poly

from certibit.theory.proofs.positivity import VARIABLE, RationalFunction, Span, cuts_for
from certibit.theory.worlds.opaque.exact_numbers import Rational
from certibit.theory.worlds.opaque.letters import refuse

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
        for one in sorted(set(_rational_roots(ratio))):
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


def _rational_roots(ratio: RationalFunction) -> list[Rational]:
    """Return the rational zeros of a numerator."""
    factors = ratio.num.factor()[1] if ratio else []
    return [-one[0] / one[1] for one, _ in factors if one.degree() == 1]
