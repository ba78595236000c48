"""The proof of our theorem on normalised EF21, step by step, with an argument for each step.

An argument returns right - left as a nonnegative expression. The lemmas of EPISODE that the proof
uses are steps, too.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from certibit.theory.audit.episode.lemmas import AUXILIARY
from certibit.theory.audit.machinery.nonnegative import Nonnegative
from certibit.theory.audit.machinery.step import ProofStep, Space, Values, WrittenProof
from certibit.theory.audit.normalised_ef21.normalised_ef21_round import (
    change,
    flat_smoothness,
    smoothness,
    smoothness_of_clients,
    step_growth,
    weight,
)
from certibit.theory.audit.normalised_ef21.normalised_ef21_search import ROUND, RUN

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
