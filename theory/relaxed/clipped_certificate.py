"""The proof, in rational numbers, that f decreases at every step of a method that clips."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

from certibit.solvers.method import Method
from certibit.theory.proofs.positivity import RationalFunction, Span, holds_with_cuts
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
from certibit.theory.relaxed.slope_parts import SLOPE
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
    f(x+) <= f(x) - 0.769594 min(0.25 G^2, 0.25 G), G = |grad f(x)|
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
            start, end = "E f(x+)", f" + {self.e:.6g} sigma^2"
        return (
            f"Certificate of {self.method}\nover all {self.functions.described}\n"
            f"{start} <= f(x) - {self.c:.6g} {self.measure}{end}, G = |grad f(x)|"
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
