"""Accelerated gradient descent: the classical theorem and its parameters."""

import math

from bitbound.solvers.methods.agd import AGD
from bitbound.theory.theorem import Card, Condition, Setting, Theorem


class Accelerated(Theorem):
    """AGD with constant momentum contracts by 1 - q for gamma <= 1/L_f and q <= sqrt(gamma mu).

    f is mu-strongly convex and L_f-smooth. Classical (Nesterov, "Lectures on convex optimization",
    Springer 2018, Section 2.2).
    """

    method = AGD
    title = "accelerated gradient descent, classical"

    def conditions(self, m: AGD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/L_f", m.gamma, 1 / setting.constants.L_f),
            Condition("0 < q", 0.0, m.q, strict=True),
            Condition("q <= sqrt(gamma mu)", m.q, math.sqrt(m.gamma * setting.mu)),
        )

    def rate(self, m: AGD, setting: Setting) -> float:
        return 1 - m.q


def classical(setting: Setting) -> AGD:
    """Gamma = 1/L_f, q = sqrt(mu/L_f)."""
    L_f = setting.constants.L_f
    return AGD(gamma=1 / L_f, q=math.sqrt(setting.mu / L_f))


CARD = Card(AGD, (Accelerated(),), {"classical": classical})
