"""EPISODE's lemmas and claims about one round, as steps checked by exact enumeration."""

from dataclasses import replace
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.rounds import JOINT, LEMMA_ROUND, hessian_values, round_space
from certibit.theory.audit.machinery.step import Amendment, ProofStep, Severity, Values, steps_on
from certibit.theory.cards.episode import Theorem1


def _square(v: Values) -> Any:
    return v.sigma**2 * v.p


def _deviation_bound(v: Values) -> Any:
    """Return the end of (35): I^2 Gamma^2 times the bound (14)."""
    return (v.I * v.Gamma) ** 2 * v.round.lemma_3_square(v.slope, v.p, v.k)


def _lemma_4(general: bool) -> Any:
    def bound(v: Values) -> Any:
        plain = v.round.V(v.slope, v.k, general)
        return v.p * plain + (1 - v.p) * v.round.U(v.slope, v.k, general)

    return bound


def _lemma_5_of_f(general: bool) -> Any:
    """Return the right side of (19): Lemma 5 at f, with f's own or the mean's constants."""

    def bound(v: Values) -> Any:
        base = v.A * v.L0 + (v.B * v.L1 * v.kappa if general else 0)
        slope = v.B * v.L1 * v.slope * (v.rho if general else 1)
        return v.claim_1 + v.claim_2 + (base + slope) / 2 * v.moved

    return bound


JOINTLY = Amendment("f is (L0, L1)-smooth", {"space": LEMMA_ROUND.having(JOINT)}, restricts=True)

_step = steps_on(LEMMA_ROUND)

ROUNDS = (
    _step(
        "(8)",
        "unclipped: |x_t - x| <= 2 eta I (2 sigma + tau)",
        lambda v: v.plain_distance,
        lambda v: v.round.plain_distance,
        feeds=("(14)", "(15)", "before (19)"),
    ),
    _step(
        "(9)",
        "clipped: |x_t - x| <= gamma I",
        lambda v: v.clipped_distance,
        lambda v: v.round.clipped_distance,
        feeds=("Claim 1", "before (19)"),
    ),
    ProofStep(
        "Lemma 2",
        "|f_i''| <= L0 + L1(kappa + (rho+1)(tau + 2 sigma)) near an unclipped start",
        replace(LEMMA_ROUND, count=200),
        hessian_values,
        lambda v: v.round.L,
        feeds=("(17)",),
    ),
    _step(
        "(16)",
        "E|x_{t+1} - x|^2 <= (1/I+1) E|x_t - x|^2 + (I+1) eta^2 E|f_i' - G_i + G|^2 + p eta^2 s^2",
        lambda v: v.distance[1:],
        lambda v: (
            v.distance[:-1] * (v.number(1) / v.I + 1)
            + v.eta**2 * ((v.I + 1) * v.direction + _square(v))
        ),
        feeds=("(14)", "(15)"),
    ),
    _step(
        "(17)",
        "E|f_i'(x_t) - G_i + G|^2 <= 4 L^2 E|x_t - x|^2 + 4 p sigma^2 + 2 E|G|^2",
        lambda v: v.direction,
        lambda v: 4 * v.round.L**2 * v.distance[:-1] + 4 * _square(v) + 2 * v.control_square,
        feeds=("(14)", "(15)"),
    ),
    _step(
        "(14)",
        "E[1(A)|x_t - x|^2] <= 36 p I^2 eta^2 |f'|^2 + 126 p I^2 eta^2 sigma^2",
        lambda v: v.distance[1:],
        lambda v: v.round.lemma_3_square(v.slope, v.p, v.k),
        feeds=("(35) ends",),
        movable=("square", "square_noise"),
    ),
    _step(
        "(15)",
        "E[1(A)|x_t - x|^2] <= 18 p I^2 eta gamma |f'| + 18 p I^2 eta^2 (tau sigma + 5 sigma^2)",
        lambda v: v.distance[1:],
        lambda v: v.round.lemma_3_linear(v.slope, v.p, v.k),
        feeds=("(20)",),
        movable=("linear",),
    ),
    _step(
        "before (19)",
        "|x_{r+1} - x| <= max{2 eta I (2 sigma + tau), gamma I} <= C/L1",
        lambda v: np.stack(
            [v.farthest, np.maximum(v.round.plain_distance, v.round.clipped_distance)]
        ),
        lambda v: np.stack(
            [np.maximum(v.round.plain_distance, v.round.clipped_distance), v.C / v.L1]
        ),
        feeds=("(19)",),
    ),
    _step(
        "(19)",
        "Lemma 5 applied to f: E f(x_{r+1}) - f(x) <= ... + (A L0 + B L1|f'|)/2 E|x_{r+1} - x|^2",
        lambda v: v.change,
        _lemma_5_of_f(False),
        feeds=("Lemma 4",),
        amendments=(
            JOINTLY,
            Amendment.of(
                "L0 + (B/A) L1 kappa for L0, rho L1 for L1",
                Severity.GAP_IN_THEOREM,
                right=_lemma_5_of_f(True),
            ),
        ),
    ),
    _step(
        "(20)",
        "|f'| E|x_{r+1} - x|^2 <= |f'| (15) + (1-p) gamma^2 I^2 |f'|",
        lambda v: v.slope * v.moved,
        lambda v: (
            v.slope
            * (v.round.lemma_3_linear(v.slope, v.p, v.k) + (1 - v.p) * v.round.clipped_distance**2)
        ),
        feeds=("Lemma 4, smooth f",),
    ),
    _step(
        "Claim 1",
        "the decrease in a clipped round",
        lambda v: v.claim_1,
        lambda v: v.round.claim_1(v.slope, v.p, v.k),
        feeds=("Lemma 4, smooth f",),
        movable=("U_noise",),
    ),
    _step(
        "(34)",
        "I<f', sum g> = p I^2/2 |f'|^2 + E|mean sum f'(x_t^i)|^2/2 - E|sum(mean f_i' - f')|^2/2",
        lambda v: -v.I * v.claim_2 / v.eta,
        lambda v: (v.p * (v.I * v.slope) ** 2 + v.Q_of_f - v.deviation) / 2,
        equality=True,
        feeds=("Claim 2, f_i",),
        amendments=(
            Amendment.of(
                "f_i'(x_t^i) for f'(x_t^i)",
                right=lambda v: (v.p * (v.I * v.slope) ** 2 + v.Q - v.deviation) / 2,
            ),
        ),
    ),
    _step(
        "(35) line 2",
        "E|sum(mean f_i'(x_t) - f'(x))|^2 <= I sum mean E|f_i'(x_t^i) - f'(x)|^2",
        lambda v: v.deviation,
        lambda v: v.deviation_from_mean,
        feeds=("(35) ends",),
    ),
    _step(
        "(35) line 3",
        "I sum mean E|f_i'(x_t^i) - f'(x)|^2 <= 18 p I^4 eta^2 Gamma^2 (2|f'|^2 + 7 sigma^2)",
        lambda v: v.deviation_from_mean,
        _deviation_bound,
        feeds=("(35) ends",),
        amendments=(Amendment.of("f_i'(x) for f'(x)", left=lambda v: v.deviation_from_own),),
    ),
    _step(
        "(35) ends",
        "E|sum(mean f_i'(x_t) - f'(x))|^2 <= 18 p I^4 eta^2 Gamma^2 (2|f'|^2 + 7 sigma^2)",
        lambda v: v.deviation,
        _deviation_bound,
        feeds=("Claim 2, f_i",),
        movable=("square", "square_noise"),
    ),
    _step(
        "after (35)",
        "E[1(A) Z] <= p E[Z], Z = |sum(mean f_i' - f')|^2: the indicator becomes p",
        lambda v: v.deviation,
        lambda v: v.p * v.deviation_anywhere,
        feeds=("Claim 2, f_i",),
        amendments=(
            Amendment.of(
                "keep the indicator", Severity.GAP_IN_PROOF, right=lambda v: v.deviation_anywhere
            ),
        ),
    ),
    _step(
        "Claim 2",
        "the decrease in an unclipped round, with grad f(x_t^i) in its last term",
        lambda v: v.claim_2,
        lambda v: v.round.claim_2(v.slope, v.p, v.Q_of_f, v.k),
        feeds=("Claim 2, f_i",),
        amendments=(
            Amendment.of(
                "f_i'(x_t^i) for f'(x_t^i)", right=lambda v: v.round.claim_2(v.slope, v.p, v.Q, v.k)
            ),
        ),
    ),
    _step(
        "Claim 2, f_i",
        "the decrease in an unclipped round, with grad f_i(x_t^i) in its last term",
        lambda v: v.claim_2,
        lambda v: v.round.claim_2(v.slope, v.p, v.Q, v.k),
        feeds=("Lemma 4, smooth f",),
        movable=("claim_2", "claim_2_noise"),
    ),
    _step(
        "(36) line 3",
        "2E|sum F|^2 <= 4E|sum f_i'|^2 + 4 p E|sum(F - f_i')|^2, all on A",
        lambda v: v.noisy_square,
        lambda v: 2 * v.Q + 2 * v.p * v.noise_square,
        feeds=("Claim 3",),
        amendments=(
            Amendment.of(
                "without the p",
                Severity.WRONG_CONSTANT,
                right=lambda v: 2 * v.Q + 2 * v.noise_square,
            ),
        ),
    ),
    _step(
        "(37)",
        "E|mean sum (F - f_i')|^2 <= p I sigma^2/N",
        lambda v: v.noise_square,
        lambda v: v.I * _square(v) / v.N,
        feeds=("Claim 3",),
    ),
    _step(
        "Claim 3",
        "E|x_{r+1} - x|^2 <= 2(1-p) gamma^2 I^2 + 4 p I sigma^2 eta^2/N + 4 eta^2 Q",
        lambda v: v.moved,
        lambda v: v.round.claim_3(v.p, v.Q, v.k),
        feeds=("Lemma 4, smooth f",),
        movable=("claim_3_clipped", "claim_3_noise", "claim_3_square"),
    ),
    _step(
        "Lemma 4",
        "E f(x_{r+1}) - f(x) <= E[1(A) V + 1(not A) U]",
        lambda v: v.change,
        _lemma_4(False),
        amendments=(
            JOINTLY,
            Amendment.of("the general V and U", Severity.GAP_IN_THEOREM, right=_lemma_4(True)),
        ),
    ),
    ProofStep(
        "Lemma 4, smooth f",
        "the same where f itself is (L0, L1)-smooth",
        LEMMA_ROUND.having(JOINT),
        lambda v: v.change,
        _lemma_4(False),
    ),
    _step(
        "Lemma 4 general",
        "the same with B L1 rho for B L1 and A L0 + B L1 kappa for A L0 in V, likewise in U",
        lambda v: v.change,
        _lemma_4(True),
    ),
)


def descent(form: Theorem1, key: str) -> ProofStep:
    """Return the inequality that the theorem sums up, with its own parameters, by enumeration."""
    space = round_space(key, form.general)
    return ProofStep(
        f"descent {key}",
        "E f(x_{r+1}) - f(x) <= -(1/4) eps eta I |f'| + (1/2) eps^2 eta I",
        space,
        lambda v: v.change,
        lambda v: v.eta * v.I * v.epsilon * (2 * v.epsilon - v.slope) / 4,
        amendments=(
            ()
            if form.general
            else (
                Amendment("f is (L0, L1)-smooth", {"space": space.having(JOINT)}, restricts=True),
            )
        ),
        constants=", ".join(map(str, form.limits)),
    )
