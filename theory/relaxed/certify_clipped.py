"""Certified decreases of methods that clip: the largest c with f(x+) <= f(x) - c M for all x."""

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from time import perf_counter
from typing import Literal

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.proofs.positivity import RationalFunction, cuts_for
from certibit.theory.proofs.rational_algebra import rounded_down
from certibit.theory.relaxed.clipped_certificate import (
    ClippedCertificate,
    GrowthBound,
    RegimeProof,
    SlopeMeasure,
    conditions,
    decrease_left,
    measure_of,
)
from certibit.theory.relaxed.growth_bounds import Growth
from certibit.theory.relaxed.regimes import Regime, regimes
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational

GrowthChoice = Literal["best", "any-direction", "lemma-5"]

DIGITS = 12
"""Digits of a proved c, which is rounded down, if it is no simple fraction."""

SIMPLE = 10**6
"""Largest denominator of a simple fraction."""

PARTS = 32
"""The bound against the gradient is tried for these parts of a step: k/PARTS."""

HALVINGS = 30
"""How often the interval of c is halved where its value at the ends of a regime is not proved."""


def certify_clipped(
    method: Method, functions: RelaxedFunctions, growth: GrowthChoice = "best"
) -> ClippedCertificate:
    """Return the largest c with E f(x+) <= f(x) - c M + e sigma^2 that is proved for a class.

    M = min(eta G^2, gamma G) with G = |grad f(x)|. The step of the method is run on symbols, which
    gives its regimes, intervals of G with a step that is a rational function of G. On each of them
    a bound of the growth of f leaves an inequality between rational functions of G, which is proved
    for all G of the interval by signs of rational numbers. The method does one step of clipped or
    normalised gradients from its model: clipped SGD, NaiveParallelClip, EPISODE with I = 1,
    normalised GD, or one of your own. The f_i are arbitrary. With kappa and rho of the class, and
    without noise, also EPISODE with I > 1 and CELGC with I = 1 are certified: what gradients change
    by within a round, and what clients clip on their own, is counted at its worst.

    With noise of length at most sigma, e is that of the noise of a step that is not clipped. Noise
    that decides between clipping and not is counted at its worst, and so is that in a direction; it
    makes c smaller.

    Parameters
    ----------
    growth : "best", "any-direction" or "lemma-5"
        The bound of the growth of f: the best that holds, that in any direction, or Lemma 5 of
        EPISODE with C = 1, A = 2 and B = e - 1.

    Raises
    ------
    Refusal
        If the step is of another kind, or no decrease is proved.

    Notes
    -----
    With Lemma 5, clipped gradient descent has c = 1 - (A L0 eta + B L1 gamma)/2. Where the best
    growth is that against the gradient on all regimes, c is attained by one function, and no larger
    c holds (to its last digit).

    Examples
    --------
    >>> from certibit import EPISODE, RelaxedFunctions, certify_clipped
    >>> functions = RelaxedFunctions(L0=1.0, L1=1.0, n=10)
    >>> round(certify_clipped(EPISODE(eta=0.2, gamma=0.2), functions, "lemma-5").c, 6)
    0.628172
    >>> round(certify_clipped(EPISODE(eta=0.2, gamma=0.2), functions).c, 6)
    0.812692
    """
    start = perf_counter()
    if growth not in ("best", "any-direction", "lemma-5"):
        raise Refusal(f"growth = {growth!r} is none; take best, any-direction or lemma-5")
    found, measure = _measured_regimes(method, functions)
    noise_factor = _noise(found, functions, growth)
    noise = noise_factor * rational(functions.sigma) ** 2
    bounded = [_bounded(one, functions, growth) for one in found]
    largest = [
        _largest(one, measure, noise) for one in bounded if one is None or one.regime.span.high != 0
    ]
    c = min(largest, default=rational(0))
    if c <= 0:
        raise Refusal(
            f"no decrease of f is proved for these parameters of {method.name} over "
            f"{functions.described}; take a smaller step size"
            + (", or a larger threshold beside sigma" if functions.sigma else "")
        )
    c = c if c.q <= SIMPLE else rounded_down(c, DIGITS)
    proofs = tuple(one.proof(measure, c, noise) for one in bounded if one is not None)
    seconds = perf_counter() - start
    return ClippedCertificate(
        method, functions, measure, fraction(c), fraction(noise_factor), proofs, seconds
    )


def _measured_regimes(
    method: Method, functions: RelaxedFunctions
) -> tuple[list[Regime], SlopeMeasure]:
    """Return the regimes of a method and the measure M, at the kink of which they are cut.

    Raises
    ------
    Refusal
        If the step is of another kind, or is not bounded, as that of a method that never clips.
    """
    for one in fields(method):
        value = getattr(method, one.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise Refusal(f"{one.name} = {value:g} of {method.name} is not finite; give a number")
    found = regimes(method, functions)
    measure = measure_of(found)
    if measure is None:
        raise Refusal(
            f"a step of {method.name} is no multiple of grad f(x) at small gradients and of "
            "bounded length at large ones, without which f may grow where L1 > 0; take a method "
            "that clips or normalises, or the class nonconvex"
            + "; where clients clip on their own, give kappa < gamma/eta and rho < 2"
            * (functions.kappa < math.inf)
        )
    return regimes(method, functions, (rational(measure.kink),)), measure


def _noise(found: list[Regime], functions: RelaxedFunctions, growth: GrowthChoice) -> Rational:
    """Return e: the growth that the noise of mean 0 makes, divided by sigma^2."""
    largest = rational(0)
    bound = GrowthBound("lemma-5" if growth == "lemma-5" else "any-direction")
    for one in found:
        if one.known or one.turned or not one.fresh or one.span.high is None:
            continue
        grown = bound.on(one, functions)
        if grown is not None:
            alone = grown.excess * (one.fresh / RationalFunction.of(one.square))
            largest = max(largest, *(alone.at(x) for x in (one.span.low, one.span.high)))
    return largest / rational(functions.sigma) ** 2 if largest else largest


@dataclass(frozen=True)
class _Bounded:
    """A regime with a bound of the growth of f that holds on it, and the cuts that prove that."""

    regime: Regime
    bound: GrowthBound
    growth: Growth
    cuts: tuple[tuple[Fraction, ...], ...]

    def last_cuts(
        self, measure: SlopeMeasure, c: Rational, noise: Rational
    ) -> tuple[Fraction, ...] | None:
        """Return the cuts that prove the decrease for c; None if none are found."""
        left = decrease_left(self.regime, self.growth, measure, c, noise)
        cuts = cuts_for(left, self.regime.span)
        return None if cuts is None else tuple(map(fraction, cuts))

    def proof(self, measure: SlopeMeasure, c: Rational, noise: Rational) -> RegimeProof:
        """Return the proof of a c that is at most the largest."""
        span, last = self.regime.span, self.last_cuts(measure, c, noise)
        if last is None:
            raise Refusal(f"no proof of c = {c} is found for |grad f(x)| >= {span.low}")
        high = None if span.high is None else fraction(span.high)
        cuts = (*self.cuts, last)
        return RegimeProof(fraction(span.low), high, self.regime.answers, self.bound, cuts)


def _bounded(regime: Regime, functions: RelaxedFunctions, growth: GrowthChoice) -> _Bounded | None:
    """Return the best bound of the growth that is proved to hold on a regime, if one is."""
    if growth != "best" or regime.square is not None or not functions.L1:
        bound = GrowthBound("lemma-5" if growth == "lemma-5" else "any-direction")
        return _holding(regime, functions, bound)
    found = _against(regime, functions, PARTS)
    if found is not None:
        return found
    low, high = 0, PARTS
    while high > low + 1:
        middle = (low + high) // 2
        better = _against(regime, functions, middle)
        low, high, found = (low, middle, found) if better is None else (middle, high, better)
    return found or _against(regime, functions, 0)


def _against(regime: Regime, functions: RelaxedFunctions, part: int) -> _Bounded | None:
    return _holding(regime, functions, GrowthBound("against-gradient", Fraction(part, PARTS)))


def _holding(regime: Regime, functions: RelaxedFunctions, bound: GrowthBound) -> _Bounded | None:
    """Return a bound of the growth with the proof that it holds on a regime, if there is one."""
    grown = bound.on(regime, functions)
    if grown is None:
        return None
    cuts = []
    for one in conditions(regime, grown):
        own = cuts_for(one, regime.span)
        if own is None:
            return None
        cuts.append(tuple(map(fraction, own)))
    return _Bounded(regime, bound, grown, tuple(cuts))


def _largest(one: _Bounded | None, measure: SlopeMeasure, noise: Rational) -> Rational:
    """Return the largest c of a regime that is proved, or 0.

    What the inequality gives at the ends of the span is tried first.
    """
    low = rational(0)
    if one is None:
        return low
    high = _at_ends(one, measure, noise)
    if high <= 0 or one.last_cuts(measure, high, noise) is not None:
        return max(high, low)
    if one.last_cuts(measure, low, noise) is None:
        return low
    for _ in range(HALVINGS):
        middle = rounded_down((low + high) / 2, DIGITS)
        proved = one.last_cuts(measure, middle, noise) is not None
        low, high = (middle, high) if proved else (low, middle)
    return low


def _at_ends(one: _Bounded, measure: SlopeMeasure, noise: Rational) -> Rational:
    """Return the least of what c is at most at the ends of a span; 1 if nothing is."""
    regime, span = one.regime, one.regime.span
    if regime.turned:
        return rational(1)
    ratio = decrease_left(regime, one.growth, measure, rational(0), noise) / measure.on(span)
    ends = [span.low] if span.high is None else [span.low, span.high]
    values = [ratio.at(x) for x in ends if ratio.den(x) != 0]
    if span.high is None and (limit := ratio.at_infinity) is not None:
        values.append(limit)
    return min(values, default=rational(1))
