"""DASHA: the theorem for strongly convex f and its parameters."""

import math

from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.dasha import DASHA, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _CorrectedDifferences(Theorem):
    """DASHA when f is L_f-smooth with |grad f|^2 >= 2 mu (f - f*), each f_i L_i-smooth.

    0 < a <= 1/(1 + 2 omega) and gamma <= min{1/(L_f + L_tilde sqrt(4 omega_av (1/a + 4 omega))),
    a/(2 mu)} give tau = 1 - gamma mu; for a = 1/(1 + 2 omega) the root is that of
    4 omega_av (1 + 6 omega). Tyurin, Richtarik, arXiv:2202.01268, the case of the
    Polyak-Lojasiewicz condition; proved by us with these constants. Psi = f(x) - f*
    + (gamma/a) |g_mean - grad f(x)|^2 + 4 gamma omega_av (1/n) sum_i |g_i - grad f_i(x)|^2.
    """

    method = DASHA
    title = "DASHA, Polyak-Lojasiewicz"
    rocq = "DASHA.PL_accuracy"

    def conditions(self, m: DASHA, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < a", 0.0, m.a, strict=True),
            Condition("a <= 1/(1 + 2 omega)", m.a, 1 / (1 + 2 * setting.omega)),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(4 omega_av (1/a + 4 omega)))",
                m.gamma,
                _largest_step(m.a, setting),
            ),
            Condition("gamma <= a/(2 mu)", m.gamma, m.a / (2 * setting.mu)),
        )

    def lyapunov(
        self, m: DASHA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (
            Gap(1.0, s.x),
            Squares(m.gamma / m.a, s.g_mean - mean(s.gradient)),
            Squares(4 * m.gamma * setting.omega_av / setting.n, s.g - s.gradient),
        )

    def rate(self, m: DASHA, setting: Setting) -> float:
        return 1 - m.gamma * setting.mu


class _CorrectedDifferencesNonconvex(Theorem):
    """DASHA when f is L_f-smooth and bounded from below, each f_i L_i-smooth.

    a = 1/(1 + 2 omega) and gamma <= 1/(L_f + L_tilde sqrt(16 omega_av (1 + 2 omega))) give
    c = gamma/2. Tyurin, Richtarik, arXiv:2202.01268. Psi = f(x) - inf f
    + gamma (1 + 2 omega) |g_mean - grad f(x)|^2 + 2 gamma omega_av (1/n) sum_i
    |g_i - grad f_i(x)|^2.
    """

    method = DASHA
    title = "DASHA, nonconvex"
    rocq = "DASHA.accuracy"
    measure = "squared_gradient"

    def conditions(self, m: DASHA, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < a", 0.0, m.a, strict=True),
            Condition("a (1 + 2 omega) <= 1", m.a * (1 + 2 * setting.omega), 1.0),
            Condition("1 <= a (1 + 2 omega)", 1.0, m.a * (1 + 2 * setting.omega)),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(16 omega_av (1 + 2 omega)))",
                m.gamma,
                _largest_nonconvex_step(setting),
            ),
        )

    def lyapunov(
        self, m: DASHA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        omega = setting.omega
        return (
            Gap(1.0, s.x),
            Squares(m.gamma * (1 + 2 * omega), s.g_mean - mean(s.gradient)),
            Squares(2 * m.gamma * setting.omega_av / setting.n, s.g - s.gradient),
        )

    def descent(self, m: DASHA, setting: Setting) -> float:
        return m.gamma / 2


def _largest_nonconvex_step(setting: Setting) -> float:
    noise = math.sqrt(16 * setting.omega_av * (1 + 2 * setting.omega))
    return 1 / (setting.constants.L_f + setting.constants.L_tilde * noise)


def _largest_step(a: float, setting: Setting) -> float:
    noise = math.sqrt(4 * setting.omega_av * (1 / a + 4 * setting.omega))
    return 1 / (setting.constants.L_f + setting.constants.L_tilde * noise)


def _published(setting: Setting) -> DASHA:
    """Take a = 1/(1 + 2 omega) and the largest step of the theorem.

    gamma = min{1/(L_f + L_tilde sqrt(4 omega_av (1/a + 4 omega))), a/(2 mu)}.
    """
    a = 1 / (1 + 2 * setting.omega)
    return DASHA(min(_largest_step(a, setting), a / (2 * setting.mu)), a)


def _nonconvex(setting: Setting) -> DASHA:
    """Take a = 1/(1 + 2 omega), the largest gamma for nonconvex f.

    gamma = 1/(L_f + L_tilde sqrt(16 omega_av (1 + 2 omega))), omega_av = omega/n for independent
    compressors. The nonconvex theorem of arXiv:2202.01268.
    """
    return DASHA(_largest_nonconvex_step(setting), 1 / (1 + 2 * setting.omega))


CARD = Card(
    DASHA,
    label="DASHA",
    theorems=(_CorrectedDifferences(), _CorrectedDifferencesNonconvex()),
    rules={"published": _published, "nonconvex": _nonconvex},
    orders=Orders.of("omega + kappa*(1 + omega/sqrt(n))", "(1 + d/sqrt(n))*kappa + d"),
    bill=compressed_up,
    identities=(lambda c, n: (DASHA(0.9 / c.L, 0.4), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#999933",
    marker="p",
)
