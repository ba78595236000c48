"""EF21: the theorem for strongly convex f and its step size."""

import math

from bitbound.solvers.methods.ef21 import EF21
from bitbound.theory.theorem import Card, Condition, Setting, Theorem


class ErrorFeedback(Theorem):
    """EF21 when f is L_f-smooth with |grad f|^2 >= 2 mu (f - f*), each f_i L_i-smooth.

    With theta = 1 - sqrt(1 - alpha) and beta = (1 - alpha)/theta, gamma <= min{1/(L_f + L_tilde
    sqrt(2 beta/theta)), theta/(2 mu)} gives tau = 1 - gamma mu. Richtarik, Sokolov, Fatkhullin,
    arXiv:2106.05203, the case of the Polyak-Lojasiewicz condition; proved with these constants.
    """

    method = EF21
    title = "EF21, Polyak-Lojasiewicz"

    def conditions(self, m: EF21, setting: Setting) -> tuple[Condition, ...]:
        contraction = setting.compressor.alpha(setting.d)
        return (
            Condition("0 < alpha", 0.0, m.alpha, strict=True),
            Condition("alpha <= alpha of the compressor", m.alpha, contraction),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(2 beta/theta))",
                m.gamma,
                _largest_step(m.alpha, m.theta, setting),
            ),
            Condition("gamma <= theta/(2 mu)", m.gamma, m.theta / (2 * setting.mu)),
        )

    def rate(self, m: EF21, setting: Setting) -> float:
        return 1 - m.gamma * setting.mu


def _largest_step(alpha: float, theta: float, setting: Setting) -> float:
    constants = setting.constants
    return 1 / (constants.L_f + constants.L_tilde * math.sqrt(2 * (1 - alpha)) / theta)


def paper(setting: Setting) -> EF21:
    """Return the largest step of the theorem, min{1/(L_f + L_tilde sqrt(2 beta/theta)), ...}."""
    alpha = setting.compressor.alpha(setting.d)
    theta = 1 - math.sqrt(1 - alpha)
    return EF21(min(_largest_step(alpha, theta, setting), theta / (2 * setting.mu)), alpha)


CARD = Card(EF21, (ErrorFeedback(),), {"paper": paper})
