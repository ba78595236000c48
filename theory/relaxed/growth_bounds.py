"""How fast an (L0, L1)-smooth function grows along a step, in rational numbers.

The kernel of Rocq checks the proofs below, those of the last two bounds, in
``theory/rocq/relaxed``.

With G = |grad f(x)|, a step D of length r and T = L1 r, each bound is of the form
f(x + D) <= f(x) + <grad f(x), D> + (L0 + L1 G) Q, with its conditions:

* ``lemma-5``: (A L0 + B L1 G) r^2/2 for T <= 1, A = 2, B = e - 1 (Lemma 5 of EPISODE at C = 1,
  from Zhang, Jin, Fang, Wang, arXiv:2010.02519);
* ``any-direction``: Q = phi(T)/L1^2, phi(T) = e^T - 1 - T. Proved by us: with h(t) = grad f(x + t
  D/r), e(t) = |h(t) - h(0)| has e' <= L0 + L1 |h| <= L0 + L1 G + L1 e, so that e(t) <= (L0 + L1 G)
  (e^(L1 t) - 1)/L1 by Gronwall's inequality, and f(x + D) - f(x) - <grad f(x), D> is at most the
  integral of e from 0 to r;
* ``against-gradient``, for D = -s grad f(x) with s >= 0, proved by us: for any part q of [0, 1],
  with T1 = q T, T2 = T - T1 and E = phi(T2)/T2,

      Q = (phi(-T1) + (1 - e^-T1) T2 + e^-T1 phi(T2))/L1^2
      if U = (L0 + L1 G) e^-T1 - L0 >= L1 G e^(E (1 + L0/U) - 1 - L0/(L1 G)) > 0,

  which is checked with e^-y >= ((1 - y/4)/(1 + y/4))^2 for y = E (1 + L0/U) <= 4.

  q = 0 is the bound in any direction. With q = 1, Q = phi(-T)/L1^2; it is attained by
  (L0/L1^2) phi(L1 |x|) on the real line.

Proof of the last, in units of x and f with L0 = L1 = 1. Let h(t) = grad f(x + t D/r), a the angle
of h to h(0), p = |h| and R = log(1 + p). As |h'| <= 1 + |h|, (R')^2 + (1 - e^-R)^2 (a')^2 <= 1. Let
s = T1 - t be what is left, so that R - s >= R(0) - T1 > 0, and u = e^(R - s) - 1. Along h

    g = (1 - E) (1 + u) - 1 - B (1 - cos a),   B = (1 - E) (1 + u)/N,
    N = 1 - E - E/u + 1/p - log(p/u),

does not decrease: that is dg/dt >= |the gradient of g in that metric|. Let w = (1 + 1/p)^2. As
(1 - E) (1 + u) (B_R + B_s) = w B^2, it remains that B_s >= 0, which is N <= (1 + 1/u) (1 + E/u),
and that w B^2 + B_s^2 - B_R^2 >= 0. With l = log(p/u) >= 0, the last is w B^2/N^2 times

    l^2 + 2 (e^l - 1 - l)/p + 2 E (1 + 1/u) (l + 1/u - 1/p) + E^2 (1 + 1/u)^2 >= 0.

N > 0 on the way: where R = R(0) - t, N only grows with t; at the start N > 0 is the condition. For
fixed s, -N is a convex function of y = 1/p, since u/p = (1 + y) e^-s - y falls linearly, and -N = E
+ s - 1 at y = 0. So N > 0 in between if E + s <= 1. Otherwise -N, whose slope at y = 0 is
e^s (1 + E) - 2 >= 0, would only grow with y, and N < 0 at the start.

At t = T1, g = |h| cos a - E (1 + |h|). So this is at least (1 - E) (1 + G) e^-T1 - 1, and with
E = 0 the slope |h| cos a is at least (1 + G) e^-t - 1 at each t <= T1. Its integral is the decrease
of f up to T1; from there on the bound in any direction applies. For L0 = 0 take the limit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial
from typing import Any, Literal

from certibit.theory.proofs.positivity import RationalFunction
from certibit.theory.proofs.rational_algebra import rounded_down
from certibit.theory.relaxed.slope_world import SLOPE
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational

GrowthName = Literal["against-gradient", "any-direction", "lemma-5"]

TERMS = 14
"""Powers of T in the polynomials that bound the exponentials; an even number."""

DIGITS = 24
"""Digits of numbers that are rounded up."""

LONGEST = 4
"""T of a step at most; the rest of a series is bounded up to there."""

FEW = 4
"""Powers of L0/(L1 G) in the condition of a bound; those of T1 are 2 FEW - 1, an odd number."""


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
    most = largest_ratio(top)
    return Growth(lambda: (SLOPE * L1 + L0) * square * most, _short(length, longest, top))


def against_gradient(
    L0: Rational, L1: Rational, length: RationalFunction, longest: Rational, part: Rational
) -> Growth:
    """Return what f grows by at most along a step against the gradient, for a part q."""
    steep, T, top = SLOPE * L1 + L0, length * L1, L1 * longest
    T1, other = T * part, 1 - part
    most = largest_ratio(top * other)

    def excess() -> RationalFunction:
        Q = (
            _alternating(T1, 2, TERMS) * part**2
            + _alternating(T1, 1, TERMS - 1) * (part * other)
            + _alternating(T1, 0, TERMS) * (most * other**2)
        )
        return steep * length**2 * Q

    conditions = _short(length, longest, top)
    if part:
        below = steep * (1 - T1 * _alternating(T1, 1, 2 * FEW - 1))
        u, turned = below - L0, _turned(L0, L1)
        y = below * T * (most * other / 4)
        straight = u * (u - y) ** 2 - turned * (u + y) ** 2
        conditions = (*conditions, u - y, u - turned, straight)
    return Growth(excess, conditions)


def _short(
    length: RationalFunction, longest: Rational, top: Rational
) -> tuple[RationalFunction, ...]:
    return longest - length, RationalFunction.of(LONGEST - top)


def _turned(L0: Rational, L1: Rational) -> RationalFunction:
    """Return an upper bound of L1 G e^(-1 - L0/(L1 G))."""
    own, e = SLOPE * L1, sum(Fraction(1, factorial(k)) for k in range(TERMS))
    below = sum(own ** (FEW - k) * (L0**k / factorial(k)) for k in range(FEW + 1))
    return own ** (FEW + 1) / (below * rational(e))


def largest_ratio(top: Rational) -> Rational:
    """Return an upper bound of (e^T - 1 - T)/T^2 for 0 <= T <= top < TERMS + 1."""
    factors = [rational(Fraction(1, factorial(k))) for k in range(2, TERMS + 1)]
    factors[-1] = factors[-1] / (1 - top / (TERMS + 1))
    return -rounded_down(-RationalFunction.of(top).polynomial(factors).at(0), DIGITS)


def _alternating(T: RationalFunction, first: int, last: int) -> RationalFunction:
    """Return the powers of e^-T from one on, divided by T^first, signed so that the first is > 0.

    It is an upper bound of (e^-T - its powers before) for T >= 0 if an even number of them follows
    the first.
    """
    signs = range(last - first + 1)
    return T.polynomial([rational(Fraction((-1) ** k, factorial(first + k))) for k in signs])


def exponential_above(T: Any) -> Rational:
    """Return a rational number that is at least e^T, and hardly more, for 0 <= T <= 4."""
    T = rational(T)
    return 1 + T + largest_ratio(T) * T**2
