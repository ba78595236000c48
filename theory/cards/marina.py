"""MARINA: the theorem for strongly convex f and its parameters."""

import math

from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.marina import MARINA, State
from certibit.theory.card import Card, Orders, Role
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _GradientDifferences(Theorem):
    """MARINA when f is L_f-smooth with |grad f|^2 >= 2 mu (f - f*), each f_i L_i-smooth.

    gamma <= min{1/(L_f + L_tilde sqrt(2 (1 - p) omega_av/p)), p/(2 mu)} gives tau = 1 - gamma mu.
    Gorbunov, Burlachenko, Li, Richtarik, arXiv:2102.07845, the case of the Polyak-Lojasiewicz
    condition; proved by us with these constants. Psi = f(x) - f* + (gamma/p) |g - grad f(x)|^2.
    """

    method = MARINA
    title = "MARINA, Polyak-Lojasiewicz"
    rocq = "MARINA.PL_accuracy"

    def conditions(self, m: MARINA, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(2 (1 - p) omega_av/p))",
                m.gamma,
                _largest_step(m.p, setting),
            ),
            Condition("gamma <= p/(2 mu)", m.gamma, m.p / (2 * setting.mu)),
        )

    def lyapunov(
        self, m: MARINA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return Gap(1.0, s.x), Squares(m.gamma / m.p, s.g - mean(s.gradient))

    def rate(self, m: MARINA, setting: Setting) -> float:
        return 1 - m.gamma * setting.mu


class _GradientDifferencesNonconvex(Theorem):
    """MARINA when f is L_f-smooth and bounded from below, each f_i L_i-smooth.

    gamma <= 1/(L_f + L_tilde sqrt((1 - p) omega_av/p)) gives c = gamma/2. Gorbunov, Burlachenko,
    Li, Richtarik, arXiv:2102.07845. Psi = f(x) - inf f
    + (gamma/(2 p)) |g - grad f(x)|^2.
    """

    method = MARINA
    title = "MARINA, nonconvex"
    rocq = "MARINA.accuracy"
    measure = "squared_gradient"

    def conditions(self, m: MARINA, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt((1 - p) omega_av/p))",
                m.gamma,
                _largest_step(m.p, setting, 1.0),
            ),
        )

    def lyapunov(
        self, m: MARINA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return Gap(1.0, s.x), Squares(m.gamma / (2 * m.p), s.g - mean(s.gradient))

    def descent(self, m: MARINA, setting: Setting) -> float:
        return m.gamma / 2


def _largest_step(p: float, setting: Setting, share: float = 2.0) -> float:
    """Return 1/(L_f + L_tilde sqrt(share (1 - p) omega_av/p))."""
    noise = math.sqrt(max(0.0, share * (1 - p) * setting.omega_av / p))
    return 1 / (setting.constants.L_f + setting.constants.L_tilde * noise)


def _published(setting: Setting) -> MARINA:
    """Take p = 1/(1 + omega), which is k/d for rand-k, and the largest step of the theorem.

    gamma = min{1/(L_f + L_tilde sqrt(2 (1 - p) omega_av/p)), p/(2 mu)}.
    """
    p = 1 / (1 + setting.omega)
    return MARINA(min(_largest_step(p, setting), p / (2 * setting.mu)), p)


def _nonconvex(setting: Setting) -> MARINA:
    """Take p = 1/(1 + omega), gamma = 1/(L_f + L_tilde sqrt((1 - p) omega_av/p)), for nonconvex f.

    The nonconvex theorem of arXiv:2102.07845, whose L is the L_tilde here.
    """
    p = 1 / (1 + setting.omega)
    return MARINA(_largest_step(p, setting, 1.0), p)


CARD = Card(
    MARINA,
    label="MARINA",
    theorems=(_GradientDifferences(), _GradientDifferencesNonconvex()),
    rules={"published": _published, "nonconvex": _nonconvex},
    orders=Orders.of("omega + kappa*(1 + omega/sqrt(n))", "(1 + d/sqrt(n))*kappa + d"),
    bill=lambda m, n, vector, message: (m.p * vector + (1 - m.p) * message, vector),
    identities=(lambda c, n: (MARINA(0.9 / c.L, 0.4), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#44AA99",
    marker=">",
)
