"""EF21: the theorem for strongly convex f and its step size."""

import math

from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.ef21 import EF21, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.formulas.error_feedback import best_feedback_step, error_root, feedback_factor
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _ErrorFeedback(Theorem):
    """EF21 when f is L_f-smooth with |grad f|^2 >= 2 mu (f - f*), each f_i L_i-smooth.

    With theta = 1 - sqrt(1 - alpha) and beta = (1 - alpha)/theta, gamma <= min{1/(L_f + L_tilde
    sqrt(2 beta/theta)), theta/(2 mu)} gives tau = 1 - gamma mu. Richtarik, Sokolov, Fatkhullin,
    arXiv:2106.05203, the case of the Polyak-Lojasiewicz condition; proved by us with these
    constants. Psi = f(x) - f* + (gamma/theta) (1/n) sum_i |g_i - grad f_i(x)|^2, per round.
    """

    method = EF21
    title = "EF21, Polyak-Lojasiewicz"
    rocq = "EF21.accuracy"

    def conditions(self, m: EF21, setting: Setting) -> tuple[Condition, ...]:
        theta = _theta(setting.alpha)
        return (
            Condition("0 < alpha", 0.0, setting.alpha, strict=True),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(2 beta/theta))",
                m.gamma,
                _largest_step(setting),
            ),
            Condition("gamma <= theta/(2 mu)", m.gamma, theta / (2 * setting.mu)),
        )

    def lyapunov(
        self, m: EF21, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        errors = m.gamma / _theta(setting.alpha) / setting.n
        return Gap(1.0, s.x), Squares(errors, s.g - problem.grad(s.x))

    def rate(self, m: EF21, setting: Setting) -> float:
        return 1 - m.gamma * setting.mu


class TightErrorFeedback(Theorem):
    """EF21 when each f_i is mu-strongly convex and L-smooth; tight at gamma*.

    With s = sqrt(1 - alpha) > 0, gamma* of :func:`best_feedback_step` and rho of
    :func:`best_feedback_factor`: gamma <= gamma* gives tau = 1 - (gamma/gamma*)(1 - rho). Psi =
    s |grad f(x)|^2 + (1/n) sum_i |grad f_i(x) - g_i|^2. arXiv:2506.05271 for one client at gamma*,
    arXiv:2605.31594 for more; proved by us for any number. With y = mean_i grad f_i(x), e_i = g_i -
    grad f_i(x) and h_i = (grad f_i(x) - grad f_i(x+))/gamma, E[Psi+]/s is at most |y - gamma mean
    h|^2 + (s/n) sum_i |e_i + gamma h_i|^2, as the step is gamma (y + mean e) and <h_i - mu (y +
    mean e), L (y + mean e) - h_i> >= 0 in the mean: the proof is that of EF, letter by letter.
    """

    method = EF21
    title = "EF21, every f_i strongly convex"
    rocq = "EF21Tight.tight_T_rounds"

    def conditions(self, m: EF21, setting: Setting) -> tuple[Condition, ...]:
        largest = best_feedback_step(setting.mu, setting.L, setting.alpha)
        return (
            Condition("0 < alpha", 0.0, setting.alpha, strict=True),
            Condition("alpha < 1", setting.alpha, 1.0, strict=True),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= (2/(L + mu)) (1 - s)/(1 + s)", m.gamma, largest),
        )

    def lyapunov(
        self, m: EF21, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        gradients = problem.grad(s.x)
        mean_gradient = mean(gradients) - mean(problem.grad(star.x))
        return (
            Squares(error_root(setting.alpha), mean_gradient),
            Squares(1 / setting.n, s.g - gradients),
        )

    def rate(self, m: EF21, setting: Setting) -> float:
        return feedback_factor(m.gamma, setting.mu, setting.L, setting.alpha)


class _ErrorFeedbackNonconvex(Theorem):
    """EF21 when f is L_f-smooth and bounded from below, each f_i L_i-smooth.

    With theta = 1 - sqrt(1 - alpha) and beta = (1 - alpha)/theta, gamma <= 1/(L_f + L_tilde
    sqrt(beta/theta)) gives c = gamma/2. Richtarik, Sokolov, Fatkhullin, arXiv:2106.05203.
    Psi = f(x) - inf f + (gamma/(2 theta)) (1/n) sum_i |g_i - grad f_i(x)|^2.
    """

    method = EF21
    title = "EF21, nonconvex"
    rocq = "EF21Nonconvex.nonconvex_accuracy"
    measure = "squared_gradient"

    def conditions(self, m: EF21, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < alpha", 0.0, setting.alpha, strict=True),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(beta/theta))",
                m.gamma,
                _largest_step(setting, 1.0),
            ),
        )

    def lyapunov(
        self, m: EF21, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        errors = m.gamma / (2 * _theta(setting.alpha)) / setting.n
        return Gap(1.0, s.x), Squares(errors, s.g - problem.grad(s.x))

    def descent(self, m: EF21, setting: Setting) -> float:
        return m.gamma / 2


def _theta(alpha: float | None) -> float:
    """Return 1 - sqrt(1 - alpha), by which the estimates' errors contract."""
    if alpha is None:
        raise Refusal("the potential of EF21 needs contractive compressors; give alpha")
    return 1 - math.sqrt(1 - alpha)


def _largest_step(setting: Setting, share: float = 2.0) -> float:
    """Return 1/(L_f + L_tilde sqrt(share beta/theta))."""
    constants, noise = setting.constants, math.sqrt(share * (1 - setting.alpha))
    return 1 / (constants.L_f + constants.L_tilde * noise / _theta(setting.alpha))


def _published(setting: Setting) -> EF21:
    """Take the largest gamma of the theorem.

    theta = 1 - sqrt(1 - alpha), beta = (1 - alpha)/theta and gamma = min{1/(L_f + L_tilde
    sqrt(2 beta/theta)), theta/(2 mu)}.
    """
    return EF21(min(_largest_step(setting), _theta(setting.alpha) / (2 * setting.mu)))


def _nonconvex(setting: Setting) -> EF21:
    """Take the largest gamma for nonconvex f.

    theta = 1 - sqrt(1 - alpha), beta = (1 - alpha)/theta and gamma = 1/(L_f + L_tilde
    sqrt(beta/theta)): the nonconvex theorem of arXiv:2106.05203.
    """
    return EF21(_largest_step(setting, 1.0))


def _best(setting: Setting) -> EF21:
    """Take gamma = (2/(L + mu)) (1 - s)/(1 + s), s = sqrt(1 - alpha)."""
    return EF21(best_feedback_step(setting.mu, setting.L, setting.alpha))


CARD = Card(
    EF21,
    label="EF21",
    theorems=(_ErrorFeedback(), TightErrorFeedback(), _ErrorFeedbackNonconvex()),
    rules={"published": _published, "best": _best, "nonconvex": _nonconvex},
    orders=Orders.of("(1 + omega)*kappa", "d*kappa"),
    bill=compressed_up,
    identities=(lambda c, n: (EF21(0.9 / c.L), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#332288",
    marker="<",
)
