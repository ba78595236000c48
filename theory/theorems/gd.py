"""Gradient descent: the classical theorem and its step sizes."""

from bitbound.solvers.methods.gd import GD
from bitbound.theory.gradient_step import gradient_step_factor
from bitbound.theory.theorem import Card, Condition, Setting, Theorem


class GradientDescent(Theorem):
    """|x - x*|^2 contracts by max{(1 - gamma mu)^2, (1 - gamma L_f)^2} for 0 < gamma < 2/L_f.

    L_f is the smoothness of the average f. Classical; tight.
    """

    method = GD
    title = "gradient descent, classical"

    def conditions(self, m: GD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma < 2/L_f", m.gamma, 2 / setting.constants.L_f, strict=True),
        )

    def rate(self, m: GD, setting: Setting) -> float:
        return gradient_step_factor(m.gamma, setting.mu, setting.constants.L_f)


def optimal(setting: Setting) -> GD:
    """Gamma = 2/(L_f + mu), the smallest factor."""
    return GD(gamma=2 / (setting.constants.L_f + setting.mu))


def monotone(setting: Setting) -> GD:
    """Gamma = 1/L_f."""
    return GD(gamma=1 / setting.constants.L_f)


CARD = Card(GD, (GradientDescent(),), {"1/L": monotone, "optimal": optimal})
