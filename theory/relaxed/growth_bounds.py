"""How fast an (L0, L1)-smooth function grows along a step, in rational numbers.

With G = |grad f(x)|, a step D of length r and T = L1 r, each bound is of the form
f(x + D) <= f(x) + <grad f(x), D> + (L0 + L1 G) Q, with its conditions:

* ``lemma-5``: (A L0 + B L1 G) r^2/2 for T <= 1, A = 2, B = e - 1 (Lemma 5 of EPISODE at C = 1,
  from Zhang, Jin, Fang, Wang, arXiv:2010.02519);
* ``any-direction``: Q = phi(T)/L1^2, phi(T) = e^T - 1 - T. Proved by us: with h(t) = grad f(x + t
  D/r), e(t) = |h(t) - h(0)| has e' <= L0 + L1 |h| <= L0 + L1 G + L1 e, so that e(t) <= (L0 + L1 G)
  (e^(L1 t) - 1)/L1 by Gronwall's inequality, and f(x + D) - f(x) - <grad f(x), D> is at most the
  integral of e from 0 to r;
* ``against-gradient``, for D = -s grad f(x) with s >= 0, proved by us: for any part q of [0, 1],
  with T1 = q T, T2 = T - T1, k = 1 - e^T1 L0/(L0 + L1 G), and z >= 0 with 4 z^2 + 2 z + 1 <=
  6 (1 - phi(T2)/T2),

      Q = (phi(-T1) + (1 - e^-T1) T2 + e^-T1 phi(T2))/L1^2  if T1 <= z k.

  q = 0 is the bound in any direction. With q = 1 and z = 7/8, Q = phi(-T)/L1^2; it is attained by
  (L0/L1^2) phi(L1 |x|) on the real line.

Proof of the last. Let h(t) = grad f(x + t D/r), rho = |h|, a the angle of h to h(0), and
R = log(1 + L1 rho/L0). As |h'| <= L0 + L1 rho, (R')^2 + (1 - e^-R)^2 (a')^2 <= L1^2. Let
y = L1 t <= T1, R1 = R(0) - y and k(t) = 1 - e^-R1. Up to t, R >= R1 and 1 - e^-R >= k(t), so
that u = R(0) - R has u^2 + k(t)^2 a^2 <= y^2. For 0 <= E < 1, (cos(a) - E) rho L1/L0 is then at
least

    F(u) = (e^(R(0) - u) - 1) (1 - E - (y^2 - u^2)/(2 k(t)^2)).

With w = u/k(t) <= v = y/k(t) <= z and R = R1 + k(t) (v - w), e^-R F'(u) <= E - 1 + (v^2 - w^2)/2 +
max(w, 0) (1 + v - w) <= E - 1 + v^2/2 + (1 + v)^2/6, which is at most 0 as 4 v^2 + 2 v + 1 <=
6 (1 - E). So F(u) >= F(y). With E = 0: the slope along -D/r is at least P(t) = ((L0 + L1 G) e^-y -
L0)/L1; its integral is the decrease of f up to T1. From there on the bound in any direction
applies; with E = phi(T2)/T2 its worst case is rho = P and a = 0. For L0 = 0 take the limit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial, sqrt
from typing import Any, Literal

from certibit.theory.proofs.rational_function import RationalFunction
from certibit.theory.relaxed.slope_parts import SLOPE
from certibit.theory.worlds.symbolic.exact_numbers import Rational, fraction, rational

GrowthName = Literal["against-gradient", "any-direction", "lemma-5"]

TERMS = 14
"""Powers of T in the polynomials that bound the exponentials; an even number."""

LONGEST = 4
"""T of a step at most; the rest of a series is bounded up to there."""

TURN = Fraction(7, 8)
"""The largest z: 4 z^2 + 2 z < 5."""


@dataclass(frozen=True, eq=False)
class Growth:
    """A bound of f(x + D), and ratios that have to be nonnegative for it to hold."""

    make: Callable[[], RationalFunction]
    conditions: tuple[RationalFunction, ...]

    @cached_property
    def excess(self) -> RationalFunction:
        """The bound without f(x) + <grad f(x), D>, computed when it is needed."""
        return self.make()


def lemma_5(
    L0: Rational, L1: Rational, length: RationalFunction, square: RationalFunction | None = None
) -> Growth:
    """Return what f grows by at most by Lemma 5 of EPISODE with C = 1.

    ``square`` is the mean of r^2 where a step is random and ``length`` its largest r.
    """
    A, B = rational(2), exponential_above(rational(1)) - 1
    half = (SLOPE * (B * L1) + A * L0) / 2
    own = length**2 if square is None else square
    return Growth(lambda: half * own, (1 - length * L1,))


def in_any_direction(
    L0: Rational,
    L1: Rational,
    length: RationalFunction,
    longest: Rational,
    square: RationalFunction,
) -> Growth:
    """Return what f grows by at most; lengths are at most ``longest``, phi(T)/T^2 increases."""
    top = L1 * longest
    most = _series(RationalFunction.of(top), top)
    return Growth(lambda: (SLOPE * L1 + L0) * square * most, _short(length, longest, top))


def against_gradient(
    L0: Rational, L1: Rational, length: RationalFunction, longest: Rational, part: Rational
) -> Growth:
    """Return what f grows by at most along a step against the gradient, for a part q."""
    steep, T, top = SLOPE * L1 + L0, length * L1, L1 * longest
    T1, T2, other = T * part, T * (1 - part), 1 - part

    def excess() -> RationalFunction:
        Q = (
            _alternating(T1, 2, TERMS) * part**2
            + _alternating(T1, 1, TERMS - 1) * (part * other)
            + _alternating(T1, 0, TERMS) * _series(T2, top * other) * other**2
        )
        return steep * length**2 * Q

    conditions = _short(length, longest, top)
    if part:
        z = rational(turn_below(top * other))
        e_plus = _series(T1, top * part) * T1**2 + T1 + 1
        conditions = (*conditions, (z - T1) * steep - e_plus * (z * L0))
    return Growth(excess, conditions)


def _short(
    length: RationalFunction, longest: Rational, top: Rational
) -> tuple[RationalFunction, ...]:
    return longest - length, RationalFunction.of(LONGEST - top)


def turn_below(top: Rational) -> Fraction:
    """Return a z with 4 z^2 + 2 z + 1 <= 6 (1 - phi(T)/T) for T <= top, or 0."""
    most = 6 * (1 - fraction(_series(RationalFunction.of(top), top).at(0) * top))
    root = sqrt(max(float(4 * most) - 3, 0.0))
    z = min(TURN, Fraction(round(1000 * (root - 1) / 4) - 1, 1000))
    return z if z > 0 and 4 * z**2 + 2 * z + 1 <= most else Fraction(0)


def _series(T: RationalFunction, top: Rational) -> RationalFunction:
    """Return an upper bound of (e^T - 1 - T)/T^2 for 0 <= T <= top < TERMS + 1."""
    rest = 1 / (1 - top / (TERMS + 1))
    factors = [rational(Fraction(1, factorial(k))) for k in range(2, TERMS + 1)]
    return T.polynomial([*factors[:-1], factors[-1] * rest])


def _alternating(T: RationalFunction, first: int, last: int) -> RationalFunction:
    """Return the powers of e^-T from one on, divided by T^first, signed so that the first is > 0.

    It is an upper bound of (e^-T - its powers before) for T >= 0 if an even number of them follows
    the first.
    """
    signs = range(last - first + 1)
    return T.polynomial([rational(Fraction((-1) ** k, factorial(first + k))) for k in signs])


def exponential_above(T: Any) -> Rational:
    """Return a rational number that is at least e^T, and hardly more, for 0 <= T <= 4."""
    ratio = RationalFunction.of(T)
    return (_series(ratio, ratio.at(0)) * ratio**2 + ratio + 1).at(0)
