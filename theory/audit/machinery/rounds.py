"""One round of EPISODE, all outcomes of Rademacher noise: exact expectations, in any arithmetic.

N clients with noise sigma or -sigma in the control gradient and in each of I local gradients make
2^(N(I+1)) equally likely outcomes. Arrays are (outcomes, N, K): K parameter sets at once.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.families import FAMILIES
from certibit.theory.audit.machinery.numbers import Array, sign
from certibit.theory.audit.machinery.step import Cell, Hypothesis, Space, Values, Variable
from certibit.theory.formulas.episode_round import Round, factor_A, factor_B

SHAPES = ((2, 1), (2, 2), (2, 3), (4, 1))
ODD = ((3, 1),)

JOINT = Hypothesis("f is (L0, L1)-smooth", lambda v: v.joint)
ROUND = "2 eta I Gamma <= 1, 2 eta I (2 sigma + tau) <= C/L1"


@cache
def noises(N: int, I: int) -> tuple[Array, Array]:  # noqa: E741
    """Return all signs: control (outcomes, N, 1) and steps (I, outcomes, N, 1)."""
    signs = np.array(list(product((1, -1), repeat=N * (I + 1))))
    signs = signs.reshape(-1, I + 1, N, 1)
    return signs[:, 0], np.moveaxis(signs[:, 1:], 1, 0)


def average(x: Any) -> Any:
    """Return the mean over outcomes, the first axis."""
    return np.sum(x, axis=0) / len(x)


def play(v: Values) -> None:
    """Run the round and put the sides of the lemmas into the values.

    Reads family, N, I, x, sigma, eta, tau and the family's parameters. Indices: instances of an
    inequality (clients, local steps) first, points last.
    """
    family, N, steps = v.family, v.N, v.I
    control, noise = noises(N, steps)
    v.own = family.gradient(v, v.x + 0 * np.zeros((N, 1), dtype=int))  # (N, K)
    v.gradient = np.sum(v.own, axis=0) / N
    v.slope = abs(v.gradient)
    G_i = v.own + v.sigma * control
    G = np.sum(G_i, axis=1, keepdims=True) / N
    plain = (abs(G) <= v.tau).astype(int)  # (outcomes, 1, K)
    v.p = np.sum(plain, axis=0)[0] * (v.number(1) / len(plain))
    move = 0 * G_i  # y - x, kept apart from x so that nothing cancels
    raw, exact, used, moves = [], [], [], [move]
    for k in range(steps):
        exact.append(family.gradient(v, v.x + move))
        raw.append(exact[-1] + v.sigma * noise[k])
        used.append(raw[-1] - G_i + G)
        step = np.where(plain == 1, used[-1], v.tau * sign(used[-1]))
        move = move - v.eta * step
        moves.append(move)
    moved = np.sum(move, axis=1, keepdims=True) / N
    squares = [move**2 for move in moves]
    clipped = 1 - plain
    # Lemma 1: the largest distances.
    away = np.array([abs(move) for move in moves[1:]])
    v.plain_distance = (away * plain).max(axis=(0, 1))
    v.clipped_distance = (away * clipped).max(axis=(0, 1))
    # Lemma 3 and its recursion: (I + 1, N, K) and (I, N, K).
    v.distance = np.array([average(plain * s) for s in squares])
    v.direction = np.array([average(plain * (g - G_i + G) ** 2) for g in exact])
    v.drift = np.array([average(plain * (g - v.own) ** 2) for g in exact])
    v.control_square = average(plain * G**2)
    # Claims 1 to 3 and their proofs: (K,).
    v.claim_1 = (
        -v.eta * v.tau * _mean_client(sum(average(clipped * v.gradient * sign(q)) for q in used), N)
    )
    v.claim_2 = -v.eta * _mean_client(sum(average(plain * v.gradient * q) for q in used), N)
    total = sum(np.sum(g, axis=1, keepdims=True) / N for g in exact)
    noisy = sum(np.sum(g, axis=1, keepdims=True) / N for g in raw)
    everywhere = sum(
        np.sum(_mean_gradient(v, v.x + move), axis=1, keepdims=True) / N for move in moves[:-1]
    )
    v.Q = average(plain * total**2)[0]
    v.Q_of_f = average(plain * everywhere**2)[0]
    v.noisy_square = average(plain * noisy**2)[0]
    v.noise_square = average(plain * (noisy - total) ** 2)[0]
    deviation = (total - steps * v.gradient) ** 2
    v.deviation, v.deviation_anywhere = average(plain * deviation)[0], average(deviation)[0]
    v.deviation_from_own = steps * _mean_client(np.sum(v.drift, axis=0), N)
    v.deviation_from_mean = steps * _mean_client(
        sum(average(plain * (g - v.gradient) ** 2) for g in exact), N
    )
    v.moved = average(moved**2)[0]
    v.farthest = abs(moved).max(axis=(0, 1))
    # Lemma 4.
    v.change = average(family.rise(v, moved[:, 0]))


def hessian_values(v: Values) -> Any:
    """Return the largest |f_i''| on a grid of the ball of Lemma 2, 0 where p = 0: (grid, N, K)."""
    grid = [v.number(Fraction(j, 10)) for j in range(-10, 11)]
    reach = v.round.plain_distance
    values = [abs(v.family.hessian(v, v.x + t * reach + 0 * v.own)) for t in grid]
    return np.array(values) * (v.p > 0)


def _mean_client(x: Any, N: int) -> Any:
    return np.sum(x, axis=0) / N


def _mean_gradient(v: Values, y: Any) -> Any:
    """Return f'(y) at every client's own point: (outcomes, N, K)."""
    parts = [v.family.gradient(v, y[:, i : i + 1] + 0 * y) for i in range(v.N)]
    return np.stack([np.sum(part, axis=1) / v.N for part in parts], axis=1)


def prepare(v: Values) -> None:
    """Put numbers, family constants and C = 1 into the values."""
    v.C = v.number(1)
    v.A, v.B = factor_A(v.C), factor_B(v.C)
    v.family.constants(v)


def _lemma_round(v: Values) -> None:
    """Derive a round whose eta is a fraction ``part`` of what Lemma 1 allows, and play it."""
    prepare(v)
    unit = Round(v.L0, v.L1, v.kappa, v.rho, v.sigma, v.N, v.I, v.number(1), v.tau, v.C)
    limit = np.minimum(1 / (2 * v.I * unit.Gamma), v.C / v.L1 / unit.plain_distance)
    _play_with(v, v.part * limit)


def own_step(v: Values, form: str, general: bool) -> Any:
    """Derive the theorem's tau and epsilon, and return its largest step size."""
    curvature = v.B * v.L1 * v.rho
    v.tau = 11 * v.sigma + v.A * v.L0 / curvature
    v.epsilon = v.share * 3 * v.A * v.L0 / (5 * curvature)
    Gamma = 2 * v.A * v.L0 + v.B * v.L1 * v.kappa + 12 * curvature * v.sigma
    smoothness = v.A * v.L0 + (v.B * v.L1 * v.kappa if general else 0)
    first, second, third = (getattr(v.k, f"{form}_{j}") for j in (1, 2, 3))
    limits = (
        v.epsilon / (second * Gamma * v.I * v.sigma),
        v.N * v.epsilon**2 / (third * smoothness * v.sigma**2),
    )
    return np.minimum(1 / (first * Gamma * v.I), np.minimum(*limits))


def _theorem_round(v: Values, form: str, general: bool) -> None:
    """Derive a round with the theorem's tau, epsilon and step size, and play it."""
    prepare(v)
    _play_with(v, v.part * own_step(v, form, general))


def _play_with(v: Values, eta: Any) -> None:
    v.eta = eta
    v.round = Round(v.L0, v.L1, v.kappa, v.rho, v.sigma, v.N, v.I, eta, v.tau, v.C)
    v.gamma = v.round.gamma
    v.Gamma = v.round.Gamma
    play(v)


PART = Variable(
    "part",
    Fraction(1, 10**4),
    1,
    logarithmic=True,
    often=(1, Fraction(1, 2), Fraction(1, 1000)),
    hypothesis=ROUND,
    beyond=(1, 1000),
)
START = Variable("x", -3, 3, often=(0, 1))
SHOWN = ("L0", "L1", "kappa", "rho", "eta", "gamma", "tau", "p", "slope", "Gamma", "joint")


def cells() -> tuple[Cell, ...]:
    """Return family, number of clients and local steps, simplest first."""
    found = [
        (("family", family), ("N", N), ("I", steps))
        for family, odd in FAMILIES
        for N, steps in (*SHAPES, *(ODD if odd else ()))
    ]
    return tuple(sorted(found, key=lambda cell: cell[1][1] * (cell[2][1] + 1)))


def family_variables() -> tuple[Variable, ...]:
    """Return the parameters of all families; those of one name are one variable."""
    found: dict[str, Variable] = {}
    for family, _ in FAMILIES:
        for u in family.variables:
            known = found.get(u.name, u)
            found[u.name] = replace(known, of=(*known.of, family))
    return tuple(found.values())


LEMMA_ROUND = Space(
    "a round under the hypotheses of Lemma 1",
    (
        *family_variables(),
        START,
        Variable("sigma", Fraction(1, 100), 3, logarithmic=True, often=(1,)),
        Variable("tau", Fraction(1, 100), 50, logarithmic=True, often=(1,)),
        PART,
    ),
    _lemma_round,
    cells=cells(),
    shows=SHOWN,
    count=600,
)


def round_space(form: str, general: bool) -> Space:
    """Return the rounds with the parameters of one form of Theorem 1."""
    return Space(
        f"a round with the parameters of Theorem 1, {form}",
        (
            *(
                replace(u, low=Fraction(1, 10**8)) if u.name == "base" else u
                for u in family_variables()
            ),
            START,
            Variable("sigma", Fraction(1, 1000), 10, logarithmic=True, often=(1,)),
            Variable("share", Fraction(1, 1000), 1, logarithmic=True, often=(1,)),
            Variable(
                "part",
                Fraction(1, 100),
                1,
                logarithmic=True,
                often=(1,),
                hypothesis="the theorem's step size",
                beyond=(1, 10**4),
            ),
        ),
        partial(_theorem_round, form=form, general=general),
        cells=cells(),
        reads=tuple(f"{form}_{j}" for j in (1, 2, 3)),
        shows=("epsilon", *SHOWN),
        count=600,
    )
