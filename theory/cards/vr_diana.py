"""VR-DIANA: a theorem for strongly convex f, and its parameters."""

from certibit.data.errors import Refusal
from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.vr_diana import VRDIANA, State
from certibit.theory.card import Card, Role, compressed_up
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _ShiftsAndReferencePoint(Theorem):
    """VR-DIANA when f is mu-strongly convex, each f_i convex and L-smooth, samples as for L-SVRG.

    With (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= 2 A (f(x) - f(y) - <grad f(y), x - y>) for the noises
    of one sample and q = 1/n + 5 omega_av, 0 < alpha <= 1/(1 + omega) and gamma <= 1/(L_f + 6
    omega_av L + 6 q A) give tau = max{1 - gamma mu, 1 - alpha/2, 1 - p/2}. Psi = |x - x*|^2
    + (4 omega_av/alpha) gamma^2 (1/n) sum_i |h_i - grad f_i(x*)|^2 + (w/p) (f(w) - f*) with the
    larger w of 8 q A gamma^2 and 2 gamma (1 - gamma (L + 6 omega_av L + 2 q A)), which are equal at
    the largest step if L_f = L. Proved by us; in Horvath, Kovalev, Mishchenko, Stich, Richtarik,
    arXiv:1904.05115, it is gamma <= 1/(L (1 + 36 (omega + 1)/n)) where A is L, as we remember it
    without having checked it: this is less.

    Proof. Let G_i and h_i be less grad f_i(x*), and V = 4 A (f(x) - f* + f(w) - f*), which bounds
    the mean variance of the g_i. The mean square of the step is at most gamma^2 times |mean G_i|^2
    + (1/n + omega_av) V + 2 omega_av mean (|G_i|^2 + |h_i|^2), and E mean |h_i+|^2 at most
    (1 - alpha) mean |h_i|^2 + alpha (mean |G_i|^2 + V). As |mean G_i|^2 <= 2 L_f (f(x) - f*) and
    mean |G_i|^2 <= 2 L (f(x) - f*), the factor of f(x) - f* is at most 2 gamma (gamma (L_f + 6
    omega_av L + 2 q A) - 1) + w, and that of f(w) - f* is 4 q A gamma^2 + w (1/p - 1).
    """

    method = VRDIANA
    title = "VR-DIANA"
    published = False
    noise_at_solution = True

    def conditions(self, m: VRDIANA, setting: Setting) -> tuple[Condition, ...]:
        limit = _largest_step(setting)
        return (
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < alpha", 0.0, m.alpha, strict=True),
            Condition("alpha <= 1/(1 + omega)", m.alpha, 1 / (1 + setting.omega)),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/(L_f + 6 omega_av L + 6 q A)", m.gamma, limit),
        )

    def lyapunov(
        self, m: VRDIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        shifts = 4 * setting.omega_av / m.alpha * m.gamma**2 / setting.n
        noise, slope = setting.expected * _q(setting), (1 + 6 * setting.omega_av) * setting.L
        most = 2 * m.gamma * (1 - m.gamma * (slope + 2 * noise))
        reference = max(8 * noise * m.gamma**2, most) / m.p
        return (
            Squares(1.0, s.x - star.x),
            Squares(shifts, s.h - star.h),
            Gap(reference, s.w),
        )

    def rate(self, m: VRDIANA, setting: Setting) -> float:
        return max(1 - m.gamma * setting.mu, 1 - m.alpha / 2, 1 - m.p / 2)


def _q(setting: ClassConstants) -> float:
    return 1 / setting.n + 5 * setting.omega_av


def _largest_step(setting: Setting) -> float:
    constants = setting.constants.L_f + 6 * setting.omega_av * setting.L
    return 1 / (constants + 6 * _q(setting) * setting.expected)


def _largest(setting: Setting, p: float | None = None) -> VRDIANA:
    """Take alpha = 1/(1 + omega), the largest gamma, and p = min{1, 2 gamma mu} or another p."""
    gamma = _largest_step(setting)
    p = min(1.0, 2 * gamma * setting.mu) if p is None else p
    if not 0 < p <= 1:
        raise Refusal(f"p = {p:g} of vr-diana is no probability of a new point; give 0 < p <= 1")
    return VRDIANA(gamma, 1 / (1 + setting.omega), p)


CARD = Card(
    VRDIANA,
    label="VR-DIANA",
    theorems=(_ShiftsAndReferencePoint(),),
    rules={"largest": _largest},
    bill=compressed_up,
    identities=(lambda c, n: (VRDIANA(0.9 / c.L, 1.0, 0.4), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#227755",
    marker="<",
)
