"""The points at which the steps of normalised EF21's proof are tested: rounds on scalar functions.

The families have exact constants. Compression errors are as large as allowed, with either sign, or
everything or nothing with some probability.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.families import FAMILIES
from certibit.theory.audit.machinery.nonnegative import assume, positive
from certibit.theory.audit.machinery.numbers import sign
from certibit.theory.audit.machinery.polynomial import Polynomial
from certibit.theory.audit.machinery.rounds import START, family_variables
from certibit.theory.audit.machinery.step import Cell, Space, Values, Variable
from certibit.theory.audit.normalised_ef21.normalised_ef21_round import (
    CONTRACTS,
    REACH,
    SMALL,
    UNLIKE,
    flat_smoothness,
    smoothness_of_clients,
    step_growth,
    weight,
)
from certibit.theory.formulas.episode_round import factor_A, factor_B

CONSTANTS = ("gamma", "t", "A", "B", "L0", "L1", "kappa", "rho")
LENGTHS = ("slope", "own", "error", "apart", "move", "before", "after", "g")
SIGNED = ("along", "rise", "product")
TRIANGLE = "triangle inequality"


CLIENTS = 3
"""Most clients."""
ROUNDS = 3
"""Of a run."""
LEFT = {"short": 1, "long": -1}
"""What contractions leave of a vector, in s: deterministic ones."""
VARIABLES = (
    *family_variables(),
    START,
    Variable("offsets", -4, 4, often=(0, 1), shape=(CLIENTS,)),
    Variable("C", Fraction(1, 4), 3, logarithmic=True, often=(1,)),
    Variable("s", 0, Fraction(19, 20), often=(0, Fraction(1, 2))),
    Variable("reach", Fraction(1, 50), 1, often=(1,), hypothesis=REACH, beyond=(1, 20)),
    Variable("share", Fraction(1, 50), 1, often=(1,), hypothesis=SMALL, beyond=(1, 200)),
)
SHOWN = ("L0", "L1", "kappa", "rho", "gamma", "slope", "error")


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


def _begin(v: Values) -> None:
    """Derive the constants, the step size and the estimates."""
    v.A, v.B, v.t = factor_A(v.C), factor_B(v.C), 1 - v.s
    v.family.constants(v)
    v.gamma = np.minimum(v.reach * v.C / v.L1, v.share / (2 * step_growth(v) * v.B * v.L1 * v.rho))
    v.estimates = _gradients(v) + v.offsets[: v.N]


def _gradients(v: Values, move: Any = 0) -> Any:
    """Return f_i'(x + move): (N, points)."""
    return v.family.gradient(v, v.x + move + 0 * np.zeros((v.N, 1), dtype=int))


def _mean(x: Any) -> Any:
    return np.sum(x, axis=0) / len(x)


def _round(v: Values) -> None:
    """Derive the lengths of a round, and the next estimates of a deterministic contraction."""
    gradients, g = _gradients(v), _mean(v.estimates)
    slope = _mean(gradients)
    move = -v.gamma * sign(g)
    sent = _gradients(v, move) - v.estimates
    v.slope, v.own, v.apart = abs(slope), _mean(abs(gradients)), abs(slope - g)
    v.error, v.before = _mean(abs(gradients - v.estimates)), _mean(abs(sent))
    v.along, v.rise = slope * move, v.family.rise(v, move)
    v.move = _mean(abs(_gradients(v, move) - gradients))
    v.after = (v.s * v.s if v.left == "all or nothing" else v.s) * v.before
    if v.left in LEFT:
        v.next = v.x + move, v.estimates + (1 - LEFT[v.left] * v.s) * sent


def _one(v: Values) -> None:
    _begin(v)
    _round(v)


def _run(v: Values) -> None:
    """Derive V at the start, the sum of the slopes, and V at the end of a run."""
    _begin(v)
    v.T, v.slopes, gap = ROUNDS, 0 * v.gamma, -v.family.rise(v, -v.x)  # all are least at 0
    for number in range(ROUNDS):
        _round(v)
        if not number:
            v.start = gap + weight(v) * v.error
        v.slopes = v.slopes + v.slope
        v.x, v.estimates = v.next
    v.end = -v.family.rise(v, -v.x) + weight(v) * v.after
    v.level = flat_smoothness(v)


def _cells(*left: str) -> tuple[Cell, ...]:
    """Return family, number of clients and what contractions leave, simplest first."""
    return tuple(
        (("family", family), ("N", N), ("left", one))
        for N in (2, CLIENTS)
        for family, odd in FAMILIES
        if odd or N % 2 == 0
        for one in left
    )


ROUND = Space(
    "one round of scalar f_i",
    VARIABLES,
    _one,
    cells=_cells(*LEFT, "all or nothing"),
    reads=("K", "weight"),
    shows=SHOWN,
    count=600,
    unknowns=rounds,
)
RUN = Space(
    f"{ROUNDS} rounds of scalar f_i",
    VARIABLES,
    _run,
    cells=_cells(*LEFT),
    reads=("K", "weight"),
    shows=(*SHOWN, "start", "slopes"),
    count=600,
    unknowns=runs,
)
