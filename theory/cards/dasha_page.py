"""DASHA-PAGE: a theorem for smooth f, and its parameters."""

import math

from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.dasha_page import DASHAPAGE, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Role, compressed_up
from certibit.theory.formulas.coupling import compression
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _CorrectedSampledDifferences(Theorem):
    """DASHA-PAGE when f is L_f-smooth and bounded from below, samples mean-squared smooth.

    With (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= difference^2 |x - y|^2 for the noises of one sample,
    K = 2 omega_av (1/a + 2 omega) and s = 2 K (2 L_tilde^2 + 3 (1 - p) difference^2)
    + 2 (1 - p) difference^2/(p n), 0 < a <= 1/(1 + 2 omega) and gamma <= 1/(L_f + sqrt(s)) give
    c = gamma/2. Psi = f(x) - inf f + (gamma/a) |g_mean - h_mean|^2 + 2 gamma omega_av (1/n) sum_i
    |g_i - h_i|^2 + (gamma/p) |h_mean - grad f(x)|^2 + 2 gamma K (1/n) sum_i |h_i - grad f_i(x)|^2.
    Proved by us; the rate is that of Tyurin, Richtarik, arXiv:2202.01268.

    Proof. f(x+) <= f(x) - (gamma/2) |grad f(x)|^2 - (1/(2 gamma) - L_f/2) D + gamma |g_mean -
    h_mean|^2 + gamma |h_mean - grad f(x)|^2 with D = |x+ - x|^2. As g_i+ - h_i+ is (1 - a) (g_i -
    h_i) plus the noise of compressing h_i+ - h_i - a (g_i - h_i), E mean |g_i+ - h_i+|^2 is at most
    (1 - a) that before plus 2 omega E mean |h_i+ - h_i|^2; that of the means has 2 omega_av and
    2 a^2 omega_av mean |g_i - h_i|^2 more. Last, E mean |h_i+ - h_i|^2 <= (2 L_tilde^2 + (1 - p)
    difference^2) D + 2 p mean |h_i - grad f_i(x)|^2, and E mean |h_i+ - grad f_i(x+)|^2 is 1 - p
    times that before plus difference^2 D, or difference^2 D/n for the means.
    """

    method = DASHAPAGE
    title = "DASHA-PAGE, nonconvex"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: DASHAPAGE, setting: Setting) -> tuple[Condition, ...]:
        largest = _largest_step(m.a, m.p, setting) if m.a > 0 and m.p > 0 else 0.0
        return (
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < a", 0.0, m.a, strict=True),
            Condition("a <= 1/(1 + 2 omega)", m.a, 1 / (1 + 2 * setting.omega)),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/(L_f + sqrt(s))", m.gamma, largest),
        )

    def lyapunov(
        self, m: DASHAPAGE, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        gradients, n = problem.grad(s.x), setting.n
        return (
            Gap(1.0, s.x),
            Squares(m.gamma / m.a, s.g_mean - mean(s.h)),
            Squares(2 * m.gamma * setting.omega_av / n, s.g - s.h),
            Squares(m.gamma / m.p, mean(s.h) - mean(gradients)),
            Squares(2 * m.gamma * compression(m.a, setting) / n, s.h - gradients),
        )

    def descent(self, m: DASHAPAGE, setting: Setting) -> float:
        return m.gamma / 2


def _largest_step(a: float, p: float, setting: Setting) -> float:
    """Return 1/(L_f + sqrt(s))."""
    changed = (1 - p) * setting.difference**2
    squares = 2 * compression(a, setting) * (2 * setting.constants.L_tilde**2 + 3 * changed)
    squares += 2 * changed / (p * setting.n)
    return 1 / (setting.constants.L_f + math.sqrt(max(0.0, squares)))


def _nonconvex(setting: Setting, p: float = 0.1) -> DASHAPAGE:
    """Take a = 1/(1 + 2 omega) and the largest gamma, for p = 0.1 or another one."""
    if not 0 < p <= 1:
        raise Refusal(f"p = {p:g} of dasha-page is no probability of exact gradients; give p > 0")
    a = 1 / (1 + 2 * setting.omega)
    return DASHAPAGE(_largest_step(a, p, setting), a, p)


CARD = Card(
    DASHAPAGE,
    label="DASHA-PAGE",
    theorems=(_CorrectedSampledDifferences(),),
    rules={"nonconvex": _nonconvex},
    bill=compressed_up,
    identities=(lambda c, n: (DASHAPAGE(0.9 / c.L, 0.4, 0.3), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#99AA33",
    marker="P",
)
