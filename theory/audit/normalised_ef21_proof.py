"""The proof of our theorem on normalised EF21, step by step, with an argument for each step.

An argument returns right - left as a nonnegative expression. The lemmas of EPISODE that the proof
uses are steps, too. The steps are in lengths that are written once, for two worlds: numbers, of a
round that is played on scalar functions with exact constants, and unknowns. Both have gamma, s, A,
B, L0, L1, kappa, rho and

* ``slope`` = |grad f(x)|, ``own`` = the mean of |grad f_i(x)|,
* ``error`` = the mean of |grad f_i(x) - g_i|, ``apart`` = |grad f(x) - g|,
* ``along`` = <grad f(x), x+ - x>, ``rise`` = f(x+) - f(x),
* ``move`` = the mean of |grad f_i(x+) - grad f_i(x)|, ``before`` = that of |grad f_i(x+) - g_i|,
* ``after`` = the mean of E|grad f_i(x+) - g_i+|.

Compression errors are as large as allowed, with either sign, or everything or nothing with some
probability.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from certibit.theory.audit.episode.lemmas import AUXILIARY
from certibit.theory.audit.machinery.families import FAMILIES
from certibit.theory.audit.machinery.numbers import sign
from certibit.theory.audit.machinery.polynomial import Polynomial
from certibit.theory.audit.machinery.rounds import START, family_variables
from certibit.theory.audit.machinery.step import (
    Cell,
    ProofStep,
    Space,
    Values,
    Variable,
    WrittenProof,
)
from certibit.theory.audit.machinery.unknowns import Nonnegative, assume, positive
from certibit.theory.formulas.episode_round import factor_A, factor_B

REACH = "gamma <= C/L1"
SMALL = "gamma <= 1/(2 K B L1 rho)"
UNLIKE = "|grad f_i| <= kappa + rho |grad f|"
CONTRACTS = "E|C(v) - v|^2 <= s^2 |v|^2, so E|C(v) - v| <= s |v|"


def smoothness(v: Values) -> Any:
    """Return M = A L0 + B L1 (kappa + rho |grad f|)."""
    return v.A * v.L0 + v.B * v.L1 * (v.kappa + v.rho * v.slope)


def smoothness_of_clients(v: Values) -> Any:
    """Return A L0 + B L1 times the mean of |grad f_i|."""
    return v.A * v.L0 + v.B * v.L1 * v.own


def flat_smoothness(v: Values) -> Any:
    """Return A L0 + B L1 kappa, which M is where grad f = 0."""
    return v.A * v.L0 + v.B * v.L1 * v.kappa


def step_growth(v: Values) -> Any:
    """Return K = (1 + 3 s)/(2 (1 - s))."""
    return (1 + v.k.K * v.s) / (2 * v.t)


def weight(v: Values) -> Any:
    """Return c = 2 gamma/(1 - s), the weight of the mean error in V."""
    return v.k.weight * v.gamma / v.t


def change(v: Values) -> Any:
    """Return E V+ - V."""
    return v.rise + weight(v) * (v.after - v.error)


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


Argument = Callable[[Values], Nonnegative]


def direction(v: Values) -> Nonnegative:
    """Return gamma times what Cauchy-Schwarz and the triangle inequality leave."""
    known = v.known
    if v.still:
        return known.gamma * known.slope
    return known.gamma * (known.cauchy / known.g + known.far)


def unlike(v: Values) -> Nonnegative:
    """Return what the clients' gradients leave of M."""
    return v.known.B * v.known.L1 * v.known.unlike


def clients(v: Values) -> Nonnegative:
    """Return what Lemma 5 leaves, and the same."""
    known = v.known
    return known.lemma_5 + known.gamma * known.gamma * known.half * unlike(v)


def _value_falls(v: Values) -> Nonnegative:
    """Return the same, the direction, and 2 gamma (error - apart)."""
    return clients(v) + direction(v) + v.known.two * v.known.gamma * v.known.mean


def moves(v: Values) -> Nonnegative:
    """Return what Lemma 6 leaves, and what the clients' gradients do."""
    return v.known.lemma_6 + v.known.gamma * unlike(v)


def errors(v: Values) -> Nonnegative:
    """Return what the contraction leaves, and s times what it is given too much."""
    return v.known.contracts + v.known.s * (v.known.moved + moves(v))


def _one_round(v: Values) -> Nonnegative:
    """Return the descent and c times the errors."""
    return _value_falls(v) + v.known.two * v.known.gamma / v.known.t * errors(v)


def _small_step(v: Values) -> Nonnegative:
    """Return the room of the step size, gamma |grad f|/2 times."""
    return v.known.gamma * v.known.slope * v.known.half * v.known.small


def _lyapunov_falls(v: Values) -> Nonnegative:
    """Return one round and the step size."""
    return _one_round(v) + _small_step(v)


def _whole_run(v: Values) -> Nonnegative:
    """Return 2/(gamma T) times what all rounds leave, and V at the end."""
    known = v.known
    return known.two / (known.gamma * known.T) * (known.rounds + known.end)


def _lengths_step(
    place: str,
    words: str,
    left: Any,
    right: Any,
    *feeds: str,
    argument: Argument | None = None,
    space: Space = ROUND,
    **other: Any,
) -> ProofStep:
    """Return a step about one round, or about a run."""
    return ProofStep(
        place, words, space, left, right, feeds=feeds, argument=argument,
        equality=argument is None, **other
    )  # fmt: skip


LEMMAS = tuple(
    replace(one, feeds=feeds)
    for one, feeds in zip(
        (one for one in AUXILIARY if one.place in {"Lemma 5", "Lemma 6"}),
        (("f of all clients",), ("moves",)),
        strict=True,
    )
)
"""Of EPISODE: what (L0, L1)-smoothness says of values and gradients nearby."""

PROOF = WrittenProof(
    "normalised-ef21",
    "The theorem of normalised EF21 on (L0, L1)-smooth functions, proved by us.",
    (
        *LEMMAS,
        _lengths_step(
            "direction",
            "<grad f, x+ - x> <= gamma (2 |grad f - g| - |grad f|)",
            lambda v: v.along,
            lambda v: v.gamma * (v.k.direction * v.apart - v.slope),
            "descent",
            argument=direction,
        ),
        _lengths_step(
            "f of all clients",
            "f(x+) - f(x) <= <grad f, x+ - x> + gamma^2 M/2",
            lambda v: v.rise,
            lambda v: v.along + smoothness(v) * v.gamma * v.gamma / 2,
            "descent",
            argument=clients,
        ),
        _lengths_step(
            "M",
            "A L0 + B L1 mean |grad f_i| <= M",
            smoothness_of_clients,
            smoothness,
            "f of all clients",
            "moves",
            argument=unlike,
        ),
        _lengths_step(
            "descent",
            "f(x+) - f(x) <= 2 gamma mean |grad f_i - g_i| - gamma |grad f| + gamma^2 M/2",
            lambda v: v.rise,
            lambda v: (
                v.k.direction * v.gamma * v.error
                - v.gamma * v.slope
                + smoothness(v) * v.gamma * v.gamma / 2
            ),
            "one round",
            argument=_value_falls,
        ),
        _lengths_step(
            "moves",
            "mean |grad f_i(x+) - grad f_i(x)| <= gamma M",
            lambda v: v.move,
            lambda v: v.gamma * smoothness(v),
            "errors",
            argument=moves,
        ),
        _lengths_step(
            "errors",
            "mean E|grad f_i(x+) - g_i+| <= s (mean |grad f_i(x) - g_i| + gamma M)",
            lambda v: v.after,
            lambda v: v.s * (v.error + v.gamma * smoothness(v)),
            "one round",
            argument=errors,
        ),
        _lengths_step(
            "c",
            "the errors cancel: 2 gamma + s c = c",
            lambda v: v.k.direction * v.gamma + v.s * weight(v),
            weight,
            "one round",
        ),
        _lengths_step(
            "K",
            "gamma M (gamma/2 + s c) = gamma^2 K M",
            lambda v: v.gamma * smoothness(v) * (v.gamma / 2 + v.s * weight(v)),
            lambda v: v.gamma * v.gamma * step_growth(v) * smoothness(v),
            "one round",
        ),
        _lengths_step(
            "one round",
            "E V+ - V <= gamma^2 K M - gamma |grad f|",
            change,
            lambda v: v.gamma * v.gamma * step_growth(v) * smoothness(v) - v.gamma * v.slope,
            "theorem",
            argument=_one_round,
        ),
        _lengths_step(
            "step size",
            "gamma^2 K B L1 rho |grad f| <= gamma |grad f|/2",
            lambda v: v.gamma * v.gamma * step_growth(v) * v.B * v.L1 * v.rho * v.slope,
            lambda v: v.gamma * v.slope / 2,
            "theorem",
            argument=_small_step,
        ),
        _lengths_step(
            "theorem",
            "E V+ - V <= gamma^2 K (A L0 + B L1 kappa) - gamma |grad f|/2",
            change,
            lambda v: (
                v.gamma * v.gamma * step_growth(v) * flat_smoothness(v) - v.gamma * v.slope / 2
            ),
            "whole runs",
            argument=_lyapunov_falls,
        ),
        _lengths_step(
            "whole runs",
            "mean of |grad f| <= 2 V/(gamma T) + 2 gamma K (A L0 + B L1 kappa)",
            lambda v: v.slopes / v.T,
            lambda v: 2 * v.start / (v.gamma * v.T) + 2 * v.gamma * step_growth(v) * v.level,
            space=RUN,
            argument=_whole_run,
        ),
    ),
    {"direction": Fraction(2), "weight": Fraction(2), "K": Fraction(3)},
)
