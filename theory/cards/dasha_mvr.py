"""DASHA-MVR: a theorem for smooth f, and its parameters."""

import math

from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.dasha_mvr import DASHAMVR, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Role, compressed_up
from certibit.theory.formulas.coupling import compression
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _CorrectedMomentum(Theorem):
    """DASHA-MVR when f is L_f-smooth and bounded from below, samples mean-squared smooth.

    With (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= difference^2 |x - y|^2 for the noises of one sample,
    whose variance is at most sigma^2, K = 2 omega_av (1/a + 2 omega) and l = (1 - b) difference,
    0 < a <= 1/(1 + 2 omega), 0 < b <= 1 and gamma <= 1/(L_f + sqrt(4 K (L_tilde^2 + (1 + 2 b) l^2)
    + 4 l^2/(b n))) give c = gamma/2 and e = gamma (2 b/n + 2 b^2 K (1 + 2 b)). Psi = f(x) - inf f
    + (gamma/a) |g_mean - h_mean|^2 + 2 gamma omega_av (1/n) sum_i |g_i - h_i|^2
    + (gamma/b) |h_mean - grad f(x)|^2 + 2 b gamma K (1/n) sum_i |h_i - grad f_i(x)|^2.
    Proved by us; the rate is that of Tyurin, Richtarik, arXiv:2202.01268.

    Proof. As for DASHA-PAGE, with D = |x+ - x|^2, but for the estimates: h_i+ - grad f_i(x+) is
    (1 - b) (h_i - grad f_i(x)) plus b xi_i(x+) + (1 - b) (xi_i(x+) - xi_i(x)), whose mean square is
    at most N = 2 b^2 sigma^2 + 2 l^2 D, and N/n for the means. So E mean |h_i+ - h_i|^2 <=
    2 L_tilde^2 D + 2 b^2 mean |h_i - grad f_i(x)|^2 + N.
    """

    method = DASHAMVR
    title = "DASHA-MVR, nonconvex"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: DASHAMVR, setting: Setting) -> tuple[Condition, ...]:
        largest = _largest_step(m.a, m.b, setting) if m.a > 0 and m.b > 0 else 0.0
        return (
            Condition("0 < b", 0.0, m.b, strict=True),
            Condition("b <= 1", m.b, 1.0),
            Condition("0 < a", 0.0, m.a, strict=True),
            Condition("a <= 1/(1 + 2 omega)", m.a, 1 / (1 + 2 * setting.omega)),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/(L_f + sqrt(4 K (L_tilde^2 + ...", m.gamma, largest),
        )

    def lyapunov(
        self, m: DASHAMVR, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        gradients, n = problem.grad(s.x), setting.n
        return (
            Gap(1.0, s.x),
            Squares(m.gamma / m.a, s.g_mean - mean(s.h)),
            Squares(2 * m.gamma * setting.omega_av / n, s.g - s.h),
            Squares(m.gamma / m.b, mean(s.h) - mean(gradients)),
            Squares(2 * m.b * m.gamma * compression(m.a, setting) / n, s.h - gradients),
        )

    def descent(self, m: DASHAMVR, setting: Setting) -> float:
        return m.gamma / 2

    def noise(self, m: DASHAMVR, setting: Setting) -> float:
        sent = 2 * m.b**2 * compression(m.a, setting) * (1 + 2 * m.b)
        return m.gamma * (2 * m.b / setting.n + sent)


def _largest_step(a: float, b: float, setting: Setting) -> float:
    """Return 1/(L_f + sqrt(4 K (L_tilde^2 + (1 + 2 b) l^2) + 4 l^2/(b n)))."""
    kept = ((1 - b) * setting.difference) ** 2
    squares = compression(a, setting) * (setting.constants.L_tilde**2 + (1 + 2 * b) * kept)
    return 1 / (setting.constants.L_f + math.sqrt(4 * (squares + kept / (b * setting.n))))


def _nonconvex(setting: Setting, b: float = 0.1) -> DASHAMVR:
    """Take a = 1/(1 + 2 omega) and the largest gamma, for b = 0.1 or another one."""
    if not 0 < b <= 1:
        raise Refusal(f"b = {b:g} of dasha-mvr is no weight of a sample; give 0 < b <= 1")
    a = 1 / (1 + 2 * setting.omega)
    return DASHAMVR(_largest_step(a, b, setting), a, b)


CARD = Card(
    DASHAMVR,
    label="DASHA-MVR",
    theorems=(_CorrectedMomentum(),),
    rules={"nonconvex": _nonconvex},
    bill=compressed_up,
    identities=(lambda c, n: (DASHAMVR(0.9 / c.L, 0.4, 1.0), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#CC6677",
    marker="X",
)
