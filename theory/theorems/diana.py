"""DIANA: two theorems, with the step sizes of each."""

from bitbound.solvers.methods.diana import DIANA
from bitbound.theory.theorem import Card, Condition, Setting, Theorem


def _conditions(m: DIANA, setting: Setting, limit: Condition) -> tuple[Condition, ...]:
    return (
        Condition("0 < gamma", 0.0, m.gamma, strict=True),
        limit,
        Condition("0 < alpha", 0.0, m.alpha, strict=True),
        Condition("alpha <= 1/(1 + omega)", m.alpha, 1 / (1 + setting.omega)),
        Condition("omega_av of the compressor <= omega_av", setting.omega_av, m.omega_av),
    )


class VersionA(Theorem):
    """DIANA when only f is mu-strongly convex, each f_i convex and L-smooth.

    gamma <= 1/(L_f + 6 omega_av L) and 0 < alpha <= 1/(1 + omega) give
    tau = max{1 - gamma mu, 1 - alpha/2}. Proved with the definition of the Lyapunov function
    sigma^2 = (1/n) sum_i |h_i - grad f_i(x*)|^2, weight 4 omega_av gamma^2/alpha; the constants of
    Gorbunov, Hanzely, Richtarik, arXiv:1905.11261.
    """

    method = DIANA
    title = "DIANA, f strongly convex"

    def conditions(self, m: DIANA, setting: Setting) -> tuple[Condition, ...]:
        limit = 1 / (setting.constants.L_f + 6 * m.omega_av * setting.L)
        return _conditions(m, setting, Condition("gamma <= 1/(L_f + 6 omega_av L)", m.gamma, limit))

    def rate(self, m: DIANA, setting: Setting) -> float:
        return max(1 - m.gamma * setting.mu, 1 - m.alpha / 2)


class VersionB(Theorem):
    """DIANA when each f_i is mu-strongly convex and L-smooth; tight.

    gamma <= 2/((L + mu)(1 + 6 omega_av)) and 0 < alpha <= 1/(1 + omega) give
    tau = max{1 - 2 gamma mu L/(mu + L), 1 - alpha/2}. The step of the original papers,
    arXiv:1901.09269 and arXiv:1904.05115.
    """

    method = DIANA
    title = "DIANA, every f_i strongly convex"

    def conditions(self, m: DIANA, setting: Setting) -> tuple[Condition, ...]:
        limit = 2 / ((setting.L + setting.mu) * (1 + 6 * m.omega_av))
        return _conditions(
            m, setting, Condition("gamma <= 2/((L + mu)(1 + 6 omega_av))", m.gamma, limit)
        )

    def rate(self, m: DIANA, setting: Setting) -> float:
        contraction = 2 * m.gamma * setting.mu * setting.L / (setting.mu + setting.L)
        return max(1 - contraction, 1 - m.alpha / 2)


def version_a(setting: Setting) -> DIANA:
    """Alpha = 1/(1 + omega), gamma = 1/(L_f + 6 omega_av L)."""
    omega_av = setting.omega_av
    gamma = 1 / (setting.constants.L_f + 6 * omega_av * setting.L)
    return DIANA(gamma, 1 / (1 + setting.omega), omega_av)


def version_b(setting: Setting) -> DIANA:
    """Alpha = 1/(1 + omega), gamma = min{alpha/(2 mu), 2/((L + mu)(1 + 6 omega_av))}."""
    omega_av, alpha = setting.omega_av, 1 / (1 + setting.omega)
    gamma = 2 / ((setting.L + setting.mu) * (1 + 6 * omega_av))
    return DIANA(min(alpha / (2 * setting.mu), gamma), alpha, omega_av)


CARD = Card(DIANA, (VersionA(), VersionB()), {"b": version_b, "a": version_a})
