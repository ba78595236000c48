"""The points at which the steps of normalised EF21's proof are tested: rounds on scalar functions.

The families have exact constants. Compression errors are as large as allowed, with either sign, or
everything or nothing with some probability.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.families import FAMILIES
from certibit.theory.audit.machinery.numbers import sign
from certibit.theory.audit.machinery.rounds import START, family_variables
from certibit.theory.audit.machinery.step import Cell, Space, Values, Variable
from certibit.theory.audit.normalised_ef21.normalised_ef21_round import (
    REACH,
    SMALL,
    flat_smoothness,
    step_growth,
    weight,
)
from certibit.theory.audit.normalised_ef21.normalised_ef21_unknowns import rounds, runs
from certibit.theory.formulas.episode_round import factor_A, factor_B

CLIENTS = 3
"""Most clients."""

ROUNDS = 3
"""Of a run."""

LEFT = {"short": 1, "long": -1}
"""What contractions leave of a vector, in s: deterministic ones."""


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
