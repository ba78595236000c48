"""The lengths of a round of normalised EF21 as unknowns: all n, d, functions and compressors.

Scalars are polynomials in variables that are at least 0, with t = 1 - s. What is known of the
lengths is stated as hypotheses, by name.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import SimpleNamespace

from certibit.theory.audit.machinery.nonnegative import assume, positive
from certibit.theory.audit.machinery.polynomial import Polynomial
from certibit.theory.audit.machinery.step import Values
from certibit.theory.audit.normalised_ef21.normalised_ef21_round import (
    CONTRACTS,
    REACH,
    SMALL,
    UNLIKE,
    flat_smoothness,
    smoothness_of_clients,
    step_growth,
)

CONSTANTS = ("gamma", "t", "A", "B", "L0", "L1", "kappa", "rho")
LENGTHS = ("slope", "own", "error", "apart", "move", "before", "after", "g")
SIGNED = ("along", "rise", "product")
TRIANGLE = "triangle inequality"


def rounds(constants: Mapping[str, Fraction]) -> Iterator[Values]:
    """Yield the round, with an estimate g that is not 0, whose length is ``g``, and with one."""
    for still in (False, True):
        v = _scalars(constants, *LENGTHS, *SIGNED)
        if still:  # the direction of 0 is 0
            v.g, v.along, v.apart = 0 * v.g, 0 * v.g, v.slope
        else:
            v.along = -v.gamma * v.product / v.g
        v.still, known = still, v.known
        known.cauchy = assume("Cauchy-Schwarz", v.g * v.apart + v.product - v.g * v.g)
        known.far = assume(TRIANGLE, v.g + v.apart - v.slope)
        known.mean = assume(TRIANGLE, v.error - v.apart)
        known.moved = assume(TRIANGLE, v.error + v.move - v.before)
        known.unlike = assume(UNLIKE, v.kappa + v.rho * v.slope - v.own)
        steep = smoothness_of_clients(v)
        known.lemma_5 = assume(
            f"Lemma 5, {REACH}", v.along + steep * v.gamma * v.gamma / 2 - v.rise
        )
        known.lemma_6 = assume(f"Lemma 6, {REACH}", steep * v.gamma - v.move)
        known.contracts = assume(CONTRACTS, v.s * v.before - v.after)
        yield v


def runs(constants: Mapping[str, Fraction]) -> Iterator[Values]:
    """Yield a run of T rounds, each of which decreases V as the theorem says."""
    v = _scalars(constants, "T", "slopes", "start", "end")
    v.level = flat_smoothness(v)
    gain = v.gamma * v.slopes / 2 - v.T * v.gamma * v.gamma * step_growth(v) * v.level
    v.known.rounds = assume("E V+ <= V - ... in every round", v.start - v.end - gain)
    yield v


def _scalars(constants: Mapping[str, Fraction], *names: str) -> Values:
    v = SimpleNamespace(k=SimpleNamespace(**constants))
    every = *CONSTANTS, *names
    for number, name in enumerate(every):
        setattr(v, name, Polynomial.variable(len(every), number))
    v.s = 1 - v.t
    v.known = SimpleNamespace(
        **{name: positive(getattr(v, name)) for name in every if name not in SIGNED}
    )
    v.known.half, v.known.two = positive(v.t / v.t / 2), positive(2 * v.t / v.t)
    v.known.s = assume("s >= 0", v.s)
    if "slope" in names:
        small = 1 - 2 * v.gamma * step_growth(v) * v.B * v.L1 * v.rho
        v.known.small = assume(SMALL, small)
    return v
