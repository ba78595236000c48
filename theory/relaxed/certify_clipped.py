"""Certified decreases of methods that clip: the largest c with f(x+) <= f(x) - c M for all x.

The proof is in rational numbers, for every step of a method.
"""

import math
from dataclasses import dataclass, field, fields
from fractions import Fraction
from time import perf_counter
from typing import Literal

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.proofs.positivity import RationalFunction, Span, cuts_for, holds_with_cuts
from certibit.theory.proofs.rational_algebra import rounded_down
from certibit.theory.relaxed.growth_bounds import (
    LONGEST,
    Growth,
    GrowthName,
    against_gradient,
    in_any_direction,
    lemma_5,
)
from certibit.theory.relaxed.regimes import Regime, regimes
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
from certibit.theory.relaxed.slope_world import SLOPE
from certibit.theory.verdict import written
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational


@dataclass(frozen=True)
class SlopeMeasure:
    """M = min(eta G^2, gamma G), G = |grad f(x)|: eta is the step at G = 0, gamma that at infinity.

    While G > epsilon, M > min(eta epsilon^2, gamma epsilon).
    """

    eta: Fraction
    gamma: Fraction

    @property
    def kink(self) -> Fraction:
        """The G at which both are the same."""
        return self.gamma / self.eta

    def at(self, slope: float) -> float:
        """Return M at G = ``slope``."""
        return min(float(self.eta) * slope**2, float(self.gamma) * slope)

    def __str__(self) -> str:
        return f"min({float(self.eta):.6g} G^2, {float(self.gamma):.6g} G)"

    def on(self, span: Span) -> RationalFunction:
        """Return M on a span that does not have the kink inside."""
        short = self.is_short(span)
        return SLOPE**2 * rational(self.eta) if short else SLOPE * rational(self.gamma)

    def is_short(self, span: Span) -> bool:
        """Whether M = eta G^2 on a span that does not have the kink inside."""
        return span.high is not None and bool(span.high <= rational(self.kink))


@dataclass(frozen=True)
class GrowthBound:
    """A bound of :mod:`~certibit.theory.relaxed.growth_bounds`; its q is ``part``."""

    name: GrowthName
    part: Fraction = Fraction(0)

    def on(self, regime: Regime, functions: RelaxedFunctions) -> Growth | None:
        """Return the growth of f on a regime; None if it does not apply there."""
        L0, L1 = rational(functions.L0), rational(functions.L1)
        length, square, longest = regime.length, regime.square, regime.longest
        if self.name == "lemma-5":
            return lemma_5(L0, L1, length, square)
        if longest is None or L1 * longest > LONGEST:
            return None
        if self.name == "any-direction":
            return in_any_direction(L0, L1, length, longest, square or length**2)
        if square is not None or not 0 <= self.part <= 1:
            return None
        return against_gradient(L0, L1, length, longest, rational(self.part))

    def __str__(self) -> str:
        if self.name == "against-gradient" and self.part < 1:
            return f"against-gradient for {self.part} of a step, then any-direction"
        return self.name


@dataclass(frozen=True)
class RegimeProof:
    """The proof on one regime: the bound of the growth of f, and cuts for every inequality.

    Attributes
    ----------
    low, high : Fraction
        The interval of G; ``high`` is None for infinity.
    answers : tuple of bool
        Those that the noise gives.
    bound : GrowthBound
        The bound of the growth.
    cuts : tuple of tuple of Fraction
        For every inequality, where the interval is cut so that signs of coefficients prove it.
    """

    low: Fraction
    high: Fraction | None
    answers: tuple[bool, ...]
    bound: GrowthBound
    cuts: tuple[tuple[Fraction, ...], ...]


def conditions(regime: Regime, growth: Growth) -> tuple[RationalFunction, ...]:
    """Return ratios of G that are nonnegative on the span if the bound of the growth holds."""
    own = SLOPE - regime.radius if regime.turned else regime.along
    return (*growth.conditions, *regime.assumed, own)


def decrease_left(
    regime: Regime, growth: Growth, measure: SlopeMeasure, c: Rational, noise: Rational
) -> RationalFunction:
    """Return a ratio of G that is nonnegative on the span only if E f(x+) <= f(x) - c M + noise.

    Where D has unit vectors, sqrt(G^2 - radius^2) turned >= the rest is squared.
    """
    rest = regime.along * SLOPE**2 + (regime.toward - regime.known) * SLOPE - growth.excess
    rest = rest - measure.on(regime.span) * c
    if not regime.turned:
        return rest + noise
    return (SLOPE**2 - regime.radius**2) * regime.turned**2 - rest**2


@dataclass(frozen=True, repr=False)
class ClippedCertificate:
    """A proof that E f(x+) <= f(x) - c M + e sigma^2 for all (L0, L1)-smooth f and all x.

    M = min(eta G^2, gamma G) with G = |grad f(x)|, eta the step at small and gamma the length of
    a step at large gradients. So at most (f(x_0) - inf f)/(c min(eta epsilon^2, gamma epsilon))
    iterates of a run without noise have G > epsilon.

    Attributes
    ----------
    method, functions
        The method and the class.
    measure : SlopeMeasure
        M.
    exact, exact_e : Fraction
        The proved c and e; e = 0 without noise.
    proofs : tuple of RegimeProof
        A proof for each of the regimes, which cover all G.
    seconds : float
        Time from the method to the proof.

    Examples
    --------
    >>> from certibit import ClippedSGD, RelaxedFunctions, certify_clipped
    >>> proof = certify_clipped(ClippedSGD(eta=0.25, gamma=0.25), RelaxedFunctions(1.0, 1.0))
    >>> proof
    Certificate of ClippedSGD(eta=0.25, gamma=0.25, I=1)
    over all (L0, L1)-smooth functions, L0 = 1, L1 = 1
    f(x+) <= f(x) - 0.769593 min(0.25 G^2, 0.25 G), G = |grad f(x)|
    >>> proof.verify()
    True
    """

    method: Method
    functions: RelaxedFunctions
    measure: SlopeMeasure
    exact: Fraction
    exact_e: Fraction
    proofs: tuple[RegimeProof, ...]
    seconds: float = field(default=0.0, compare=False)

    @property
    def c(self) -> float:
        """The proved constant, rounded to a float."""
        return float(self.exact)

    @property
    def e(self) -> float:
        """The proved coefficient of sigma^2, rounded to a float."""
        return float(self.exact_e)

    def decrease(self, slope: float) -> float:
        """Return c M at |grad f(x)| = ``slope``."""
        return self.c * self.measure.at(slope)

    def iterations(self, Delta: float, epsilon: float) -> float:
        """Return the largest number of iterations in which the mean of M is above its epsilon.

        Without noise at most so many iterates have |grad f(x)| > epsilon; Delta = f(x_0) - inf f.
        It is infinite if the noise alone may keep the mean of M above.
        """
        left = self.decrease(epsilon) - self.e * self.functions.sigma**2
        return Delta / left if left > 0 else math.inf

    def verify(self) -> bool:
        """Return whether c is proved, after the method was run on symbols anew.

        What is checked are signs of rational numbers.
        """
        found = regimes(self.method, self.functions, (rational(self.measure.kink),))
        whole = self.measure == measure_of(found) and len(found) == len(self.proofs)
        noise = rational(self.exact_e) * rational(self.functions.sigma) ** 2
        return whole and all(
            self._holds(*pair, noise) for pair in zip(found, self.proofs, strict=True)
        )

    def _holds(self, regime: Regime, proof: RegimeProof, noise: Rational) -> bool:
        growth = proof.bound.on(regime, self.functions)
        if growth is None:
            return False
        span = regime.span
        ends = rational(proof.low), None if proof.high is None else rational(proof.high)
        left = decrease_left(regime, growth, self.measure, rational(self.exact), noise)
        asked = (*conditions(regime, growth), left)
        same = (span.low, span.high, regime.answers) == (*ends, proof.answers)
        return (
            same
            and len(asked) == len(proof.cuts)
            and all(
                holds_with_cuts(one, span, [rational(x) for x in cuts])
                for one, cuts in zip(asked, proof.cuts, strict=True)
            )
        )

    def __repr__(self) -> str:
        start, end = "f(x+)", ""
        if self.functions.sigma:
            start, end = "E f(x+)", f" + {written(self.exact_e, 6, up=True)} sigma^2"
        return (
            f"Certificate of {self.method}\nover all {self.functions.described}\n"
            f"{start} <= f(x) - {written(self.exact, 6)} {self.measure}{end}, G = |grad f(x)|"
        )


def measure_of(found: list[Regime]) -> SlopeMeasure | None:
    """Return M of a step: its length in gradients at G = 0, and its length at infinity.

    None if the step is 0 at one of them, or grows without bound.
    """
    open_ones = [one for one in found if not one.span.is_point]
    first, last = open_ones[0], [one for one in open_ones if one.span.high is None]
    eta = first.along.at(0) if first.along.den(rational(0)) != 0 else rational(0)
    limits = [(one.along * SLOPE + one.turned + one.toward).at_infinity for one in last]
    lengths = [x for x in limits if x is not None and x > 0]
    if eta <= 0 or len(lengths) < len(limits):
        return None
    return SlopeMeasure(fraction(eta), fraction(min(lengths)))


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
