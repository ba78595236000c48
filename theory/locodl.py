"""LoCoDL: Theorem 3.1 and the parameters that it recommends."""

import math

from bitbound.solvers.methods.locodl import LoCoDL
from bitbound.theory.constants import gradient_step_factor
from bitbound.theory.theorem import Condition, Entry, Setting, Theorem


class Theorem31(Theorem):
    """LoCoDL, Theorem 3.1 of arXiv:2403.04348; tight.

    If 0 < gamma < 2/L, 2 rho - rho^2 (1 + omega_av) - chi >= 0 and the compressors are in
    U(omega), then tau = max{(1 - gamma mu)^2, (1 - gamma L)^2, 1 - p^2 chi/(1 + 2 omega)}.
    L and mu are those of the f_i and of g.
    """

    method = LoCoDL
    title = "LoCoDL, Theorem 3.1"

    def conditions(self, m: LoCoDL, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma < 2/L", m.gamma, 2 / setting.L, strict=True),
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < chi", 0.0, m.chi, strict=True),
            Condition(
                "chi <= 2 rho - rho^2 (1 + omega_av)",
                m.chi,
                2 * m.rho - m.rho**2 * (1 + setting.omega_av),
            ),
            Condition("omega of the compressor <= omega", setting.omega, m.omega),
        )

    def rate(self, m: LoCoDL, setting: Setting) -> float:
        gradient = gradient_step_factor(m.gamma, setting.mu, setting.L)
        return max(gradient, 1 - m.p**2 * m.chi / (1 + 2 * m.omega))


def paper(setting: Setting) -> LoCoDL:
    """Corollary 3.2: gamma = 1/L, chi = rho = 1/(1 + omega_av), p of equation (9).

    p = min{1, sqrt((1 + omega_av)(1 + omega)/kappa)}, which is (9) for rand-k. The corollary asks
    for gamma = Theta(1/L); 1/L is taken.
    """
    omega, omega_av = setting.omega, setting.omega_av
    p = min(1.0, math.sqrt((1 + omega_av) * (1 + omega) / setting.kappa))
    rho = 1 / (1 + omega_av)
    return LoCoDL(gamma=1 / setting.L, chi=rho, rho=rho, p=p, omega=omega)


def balanced(setting: Setting) -> LoCoDL:
    """Gamma = 2/(L + mu), and p such that both parts of the rate are equal.

    p = min{1, sqrt((1 - tau_0)(1 + 2 omega)(1 + omega_av))} with tau_0 = (1 - gamma mu)^2.
    """
    omega, omega_av = setting.omega, setting.omega_av
    gamma = 2 / (setting.L + setting.mu)
    tau = gradient_step_factor(gamma, setting.mu, setting.L)
    p = min(1.0, math.sqrt((1 - tau) * (1 + 2 * omega) * (1 + omega_av)))
    rho = 1 / (1 + omega_av)
    return LoCoDL(gamma=gamma, chi=rho, rho=rho, p=p, omega=omega)


ENTRY = Entry(LoCoDL, (Theorem31(),), {"paper": paper, "balanced": balanced})
