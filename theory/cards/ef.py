"""EF: the tight theorem for f_i with the same minimiser, and its step size."""

from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.ef import EF, State
from certibit.solvers.methods.gd import GD
from certibit.theory.bill import compressed_up
from certibit.theory.card import Card, Role
from certibit.theory.formulas.error_feedback import (
    best_feedback_step,
    error_root,
    feedback_factor,
)
from certibit.theory.orders import Orders
from certibit.theory.potential import ClassConstants, Squares, Terms
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
        return (
            Squares(1.0, s.x - star.x - mean(s.e)),
            Squares(1 / (errors * setting.n) if errors else 0.0, s.e),
        )

    def rate(self, m: EF, setting: Setting) -> float:
        return feedback_factor(m.gamma, setting.mu, setting.L, setting.alpha)


def _best(setting: Setting) -> EF:
    """Take gamma = (2/(L + mu)) (1 - s)/(1 + s), s = sqrt(1 - alpha)."""
    return EF(best_feedback_step(setting.mu, setting.L, setting.alpha))


CARD = Card(
    EF,
    label="EF",
    theorems=(Feedback(),),
    rules={"best": _best},
    orders=Orders.of("(1 + omega)*kappa", "d*kappa"),
    bill=compressed_up,
    identities=(lambda c, n: (EF(0.9 / c.L), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#8877EE",
    marker="D",
)
