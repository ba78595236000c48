"""EF: the tight theorem for f_i with the same minimiser, one for smooth f_i, and their steps."""

import math

from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.ef import EF, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.formulas.error_feedback import best_feedback_step, error_root, feedback_factor
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class Feedback(Theorem):
    """EF when each f_i is mu-strongly convex, L-smooth and least at x*; tight at gamma*.

    With s = sqrt(1 - alpha) > 0, gamma* of :func:`best_feedback_step` and rho of
    :func:`best_feedback_factor`: gamma <= gamma* gives tau = 1 - (gamma/gamma*)(1 - rho). Psi =
    |x - x* - mean_i e_i|^2 + (1/s) (1/n) sum_i |e_i|^2. arXiv:2506.05271 for one client at gamma*;
    proved by us for any number: with y = x - x* - mean e and g_i = grad f_i(x), E[Psi+] <=
    |y - gamma mean g|^2 + (s/n) sum_i |e_i + gamma g_i|^2. Of e_i and g_i, the means are as with
    one client, where rho Psi - E[Psi+] - (lambda/(L - mu)) <g - mu x, L x - g> is a square; at
    x = 0 it says that the deviations from the means shrink as fast. The bound is convex in gamma
    and at most Psi at 0.
    """

    method = EF
    title = "EF, every f_i strongly convex, one minimiser"
    rocq = "EF.accuracy"

    def conditions(self, m: EF, setting: Setting) -> tuple[Condition, ...]:
        largest = best_feedback_step(setting.mu, setting.L, setting.alpha)
        return (
            Condition("all f_i have the same minimiser", float(not setting.shared_minimiser), 0.0),
            Condition("0 < alpha", 0.0, setting.alpha, strict=True),
            Condition("alpha < 1", setting.alpha, 1.0, strict=True),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= (2/(L + mu)) (1 - s)/(1 + s)", m.gamma, largest),
        )

    def lyapunov(
        self, m: EF, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        errors = error_root(setting.alpha)
        some = Condition("0 < s", 0.0, errors, strict=True)
        weight = some.then(lambda: 1 / (errors * setting.n), 0.0)
        return Squares(1.0, s.x - star.x - mean(s.e)), Squares(weight, s.e)

    def rate(self, m: EF, setting: Setting) -> float:
        return feedback_factor(m.gamma, setting.mu, setting.L, setting.alpha)


class _VirtualModel(Theorem):
    """EF when f is bounded from below, each f_i L-smooth, noise of variance sigma^2.

    With s = sqrt(1 - alpha), (1/n) sum_i |grad f_i(x) - grad f(x)|^2 <= zeta^2, y = x - mean_i e_i
    and w = gamma L^2/(2 (1 - s)): c = (gamma/2) (1 - gamma L) - w gamma^2 s^2/(1 - s), e =
    gamma^2 L/(2 n) + w gamma^2 s^2, and w gamma^2 s^2/(1 - s^2) before zeta^2, 0 for n = 1.
    Psi = f(y) - inf f + w (1/n) sum_i |e_i|^2. Proved by us; the terms are those of Stich,
    Karimireddy, arXiv:1909.05350.

    Proof. y+ is y less gamma times the mean of the sampled gradients, and -<grad f(y), grad f(x)>
    <= -|grad f(x)|^2/2 + (L^2/2) |y - x|^2, so that E f(y+) <= f(y) - (gamma/2) (1 - gamma L)
    |grad f(x)|^2 + (gamma L^2/2) |mean e|^2 + gamma^2 L sigma^2/(2 n). The mean of E|e_i+|^2 is
    at most s^2 times that of |e_i + gamma grad f_i(x)|^2 plus s^2 gamma^2 sigma^2. Of the former
    the part of the means is at most s |mean e|^2 + (s^2/(1 - s)) gamma^2 |grad f(x)|^2, and the
    deviations from them at most the mean of |e_i - mean e|^2 + (s^2/(1 - s^2)) gamma^2 |grad f_i(x)
    - grad f(x)|^2.
    """

    method = EF
    title = "EF, nonconvex"
    rocq = "EFNonconvex.nonconvex_mean"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: EF, setting: Setting) -> tuple[Condition, ...]:
        u = m.gamma * setting.L
        name = "gamma L + (gamma L s/(1 - s))^2 < 1"
        return (
            Condition("0 < alpha", 0.0, setting.alpha, strict=True),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(name, u + _kept(setting.alpha) ** 2 * u**2, 1.0, strict=True),
        )

    def lyapunov(
        self, m: EF, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return Gap(1.0, s.x - mean(s.e)), Squares(_weight(m, setting) / setting.n, s.e)

    def descent(self, m: EF, setting: Setting) -> float:
        s = error_root(setting.alpha)
        lost = _weight(m, setting) * m.gamma**2 * s**2 / (1 - s)
        return m.gamma / 2 * (1 - m.gamma * setting.L) - lost

    def noise(self, m: EF, setting: Setting) -> float:
        kept = _weight(m, setting) * error_root(setting.alpha) ** 2
        return m.gamma**2 * (setting.L / (2 * setting.n) + kept)

    def dissimilarity(self, m: EF, setting: Setting) -> float:
        s = error_root(setting.alpha)
        several = Condition("1 < n", 1, setting.n, strict=True)
        return several.then(lambda: _weight(m, setting) * (m.gamma * s) ** 2 / (1 - s**2), 0.0)


def _kept(alpha: float | None) -> float:
    """Return s/(1 - s)."""
    s = error_root(alpha)
    return s / (1 - s)


def _weight(m: EF, setting: ClassConstants) -> float:
    """Return w = gamma L^2/(2 (1 - s))."""
    return m.gamma * setting.L**2 / (2 * (1 - error_root(setting.alpha)))


def _nonconvex(setting: Setting) -> EF:
    """Take the gamma with the largest c: 1/(L (1 + sqrt(1 + 3 (s/(1 - s))^2)))."""
    root = math.sqrt(1 + 3 * _kept(setting.alpha) ** 2)
    return EF(1 / (setting.L * (1 + root)))


def _best(setting: Setting) -> EF:
    """Take gamma = (2/(L + mu)) (1 - s)/(1 + s), s = sqrt(1 - alpha)."""
    return EF(best_feedback_step(setting.mu, setting.L, setting.alpha))


CARD = Card(
    EF,
    label="EF",
    theorems=(Feedback(), _VirtualModel()),
    rules={"best": _best, "nonconvex": _nonconvex},
    orders=Orders.of("(1 + omega)*kappa", "d*kappa"),
    bill=compressed_up,
    identities=(lambda c, n: (EF(0.9 / c.L), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#8877EE",
    marker="D",
)
