"""Clip21: its card, and a theorem on convex smooth functions, proved by us."""

import math
from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.methods.clip21 import Clip21
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Role, uncompressed_both_ways
from certibit.theory.formulas.clipping_in_a_ball import contracted, contraction_from_start
from certibit.theory.theorem import Condition


@dataclass(frozen=True)
class ClippedDifferences:
    """Clip21 on convex L-smooth f_i clips in finitely many rounds and is gradient descent then.

    With G the largest |grad f_i(x_0)|: if gamma < 2/L and gamma <= tau/(4 L G), then from round
    ceil(2 G/tau) - 2 on, counted from 0, no message is clipped, and every step is one of gradient
    descent with gamma: what is proved of that holds from there, at any strong convexity.

    Notes
    -----
    Proof. Say that the first t steps are at most tau/(2 L) long. Then |grad f(x_t)| <= G + t tau/2.
    The estimates start at 0, a message brings one nearer by tau and a step moves the gradient by at
    most tau/2: what is left after message t is at most G - (t + 2) tau/2, or nothing. So |g| <=
    2 G - tau before the first round without clipping and <= 2 G in it, and gamma |g| <= tau/(2 L).
    From there on g = grad f(x), gradients of f get no longer, and they move by at most tau/2.
    The method is that of arXiv:2305.18929; the constants are our own.
    """

    title: ClassVar[str] = "Clip21, convex smooth functions"

    def conditions(self, L: float, G: float, gamma: float, tau: float) -> tuple[Condition, ...]:
        """Return the hypotheses, evaluated."""
        return (
            Condition("0 < gamma", 0.0, gamma, strict=True),
            Condition("gamma < 2/L", gamma, 2 / L, strict=True),
            Condition("gamma <= tau/(4 L G)", gamma, tau / (4 * L * G) if G else math.inf),
        )

    def clipped_rounds(self, G: float, tau: float) -> int:
        """Return the largest number of rounds in which a message is clipped."""
        return max(0, math.ceil(2 * G / tau) - 2)


CARD = Card(
    Clip21,
    label="Clip21",
    along_runs=(ClippedDifferences(),),
    bill=uncompressed_both_ways,
    cut=contracted,
    contraction=contraction_from_start,
    identities=(lambda c, n: (Clip21(0.9 / c.L, float("inf")), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "tau": Role.CONSTANT},
    colour="#AA4499",
    marker="P",
)
