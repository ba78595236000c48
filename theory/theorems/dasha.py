"""DASHA: the theorem for strongly convex f and its parameters."""

import math

from bitbound.solvers.methods.dasha import DASHA
from bitbound.theory.theorem import Card, Condition, Setting, Theorem


class CorrectedDifferences(Theorem):
    """DASHA when f is L_f-smooth with |grad f|^2 >= 2 mu (f - f*), each f_i L_i-smooth.

    0 < a <= 1/(1 + 2 omega) and gamma <= min{1/(L_f + L_tilde sqrt(4 omega_av (1/a + 4 omega))),
    a/(2 mu)} give tau = 1 - gamma mu; for a = 1/(1 + 2 omega) the root is that of
    4 omega_av (1 + 6 omega). Tyurin, Richtarik, arXiv:2202.01268, the case of the
    Polyak-Lojasiewicz condition; proved with these constants.
    """

    method = DASHA
    title = "DASHA, Polyak-Lojasiewicz"

    def conditions(self, m: DASHA, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < a", 0.0, m.a, strict=True),
            Condition("a <= 1/(1 + 2 omega)", m.a, 1 / (1 + 2 * setting.omega)),
            Condition("omega_av of the compressor <= omega_av", setting.omega_av, m.omega_av),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(4 omega_av (1/a + 4 omega)))",
                m.gamma,
                _largest_step(m.a, m.omega_av, setting),
            ),
            Condition("gamma <= a/(2 mu)", m.gamma, m.a / (2 * setting.mu)),
        )

    def rate(self, m: DASHA, setting: Setting) -> float:
        return 1 - m.gamma * setting.mu


def _largest_step(a: float, omega_av: float, setting: Setting) -> float:
    noise = math.sqrt(4 * omega_av * (1 / a + 4 * setting.omega))
    return 1 / (setting.constants.L_f + setting.constants.L_tilde * noise)


def paper(setting: Setting) -> DASHA:
    """Take a = 1/(1 + 2 omega) and the largest step of the theorem."""
    a, omega_av = 1 / (1 + 2 * setting.omega), setting.omega_av
    gamma = min(_largest_step(a, omega_av, setting), a / (2 * setting.mu))
    return DASHA(gamma, a, omega_av)


CARD = Card(DASHA, (CorrectedDifferences(),), {"paper": paper})
