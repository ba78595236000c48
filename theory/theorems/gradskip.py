"""GradSkip: its theorem and the parameters that it recommends."""

import math

from bitbound.solvers.methods.gradskip import GradSkip
from bitbound.theory.theorem import Card, Condition, Setting, Theorem
from bitbound.theory.theorems.scaffnew import step_conditions


class SkippedGradients(Theorem):
    """GradSkip, arXiv:2210.16402; tight.

    If gamma <= min_i p^2/(L_i (1 - q_i (1 - p^2))), then
    tau = 1 - min{gamma mu, 1 - q_max (1 - p^2)}.
    """

    method = GradSkip
    title = "GradSkip"

    def conditions(self, m: GradSkip, setting: Setting) -> tuple[Condition, ...]:
        limits = [
            m.p**2 / (L * (1 - q * (1 - m.p**2)))
            for L, q in zip(setting.constants.L_i.tolist(), m.q, strict=True)
        ]
        limit = Condition("gamma <= min_i p^2/(L_i (1 - q_i (1 - p^2)))", m.gamma, min(limits))
        return (
            *step_conditions(m.gamma, m.p, limit),
            Condition("0 <= q_i", 0.0, min(m.q)),
            Condition("q_i <= 1", max(m.q), 1.0),
        )

    def rate(self, m: GradSkip, setting: Setting) -> float:
        return 1 - min(m.gamma * setting.mu, 1 - max(m.q) * (1 - m.p**2))


def paper(setting: Setting) -> GradSkip:
    """Gamma = 1/L, p = 1/sqrt(kappa), q_i = (1 - 1/kappa_i)/(1 - 1/kappa), kappa_i = L_i/mu.

    Then tau = 1 - 1/kappa, and client i evaluates 1/(1 - q_i (1 - p)) <= min{kappa_i, sqrt(kappa)}
    gradients per round in the mean.
    """
    mu, kappa = setting.mu, setting.kappa
    q = tuple(
        (1 - mu / L) / (1 - 1 / kappa) if kappa > 1 else 1.0 for L in setting.constants.L_i.tolist()
    )
    return GradSkip(gamma=1 / setting.L, p=1 / math.sqrt(kappa), q=q)


CARD = Card(GradSkip, (SkippedGradients(),), {"paper": paper})
