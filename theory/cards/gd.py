"""Gradient descent: the classical theorem and its step sizes."""

from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD, State
from certibit.theory.card import Card, Orders, Role, uncompressed_both_ways
from certibit.theory.formulas.gradient_step import gradient_step_factor
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, RunTheorem, Theorem


class GradientDescent(Theorem):
    """|x - x*|^2 contracts by max{(1 - gamma mu)^2, (1 - gamma L_f)^2} for 0 < gamma < 2/L_f.

    Psi = |x - x*|^2; L_f is the smoothness of the average f. Classical; tight.
    """

    method = GD
    title = "gradient descent, classical"
    rocq = "GD.accuracy"

    def conditions(self, m: GD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma < 2/L_f", m.gamma, 2 / setting.constants.L_f, strict=True),
        )

    def lyapunov(
        self, m: GD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(1.0, s.x - star.x),)

    def rate(self, m: GD, setting: Setting) -> float:
        return gradient_step_factor(m.gamma, setting.mu, setting.constants.L_f)


class _GradientDescentNonconvex(Theorem):
    """f(x+) <= f(x) - gamma (1 - gamma L_f/2) |grad f(x)|^2 for 0 < gamma < 2/L_f.

    Psi = f(x) - inf f, for an L_f-smooth average f. Nesterov, Lectures on Convex Optimization
    (2018), Section 1.2.3.
    """

    method = GD
    title = "gradient descent, nonconvex"
    rocq = "GD.nonconvex_accuracy"
    measure = "squared_gradient"

    def conditions(self, m: GD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma L_f < 2", m.gamma * setting.constants.L_f, 2.0, strict=True),
        )

    def lyapunov(
        self, m: GD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Gap(1.0, s.x),)

    def descent(self, m: GD, setting: Setting) -> float:
        return m.gamma * (1 - m.gamma * setting.constants.L_f / 2)


class LastIterate(RunTheorem):
    """f(x_T) - f* <= |x_0 - x*|^2/(2/L_f + 4 gamma T) for 0 < gamma <= 1/L_f.

    Psi = |x - x*|^2, for a convex, L_f-smooth average f; attained by Huber functions. Drori,
    Teboulle, Mathematical Programming 145 (2014), Theorem 3.1.
    """

    method = GD
    title = "gradient descent, convex, last iterate"

    def conditions(self, m: GD, setting: Setting) -> tuple[Condition, ...]:
        return _short_steps(m, setting)

    def lyapunov(
        self, m: GD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(1.0, s.x - star.x),)

    def weight(self, m: GD, setting: Setting) -> tuple[float, ...]:
        return 2 / setting.constants.L_f, 4 * m.gamma


class ApproachConvex(Theorem):
    """|x+ - x*|^2 <= |x - x*|^2 - c (f(x) - f*) with c = 2 gamma, for 0 < gamma <= 1/L_f.

    Psi = |x - x*|^2, for a convex, L_f-smooth average f. Classical; tight.
    """

    method = GD
    title = "gradient descent, convex"
    rocq = "GD.convex_T_rounds"
    measure = "gap"

    def conditions(self, m: GD, setting: Setting) -> tuple[Condition, ...]:
        return _short_steps(m, setting)

    def lyapunov(
        self, m: GD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(1.0, s.x - star.x),)

    def descent(self, m: GD, setting: Setting) -> float:
        return 2 * m.gamma


def _short_steps(m: GD, setting: Setting) -> tuple[Condition, ...]:
    return (
        Condition("0 < gamma", 0.0, m.gamma, strict=True),
        Condition("gamma <= 1/L_f", m.gamma, 1 / setting.constants.L_f),
    )


def _optimal(setting: Setting) -> GD:
    """Take gamma = 2/(L_f + mu), the smallest factor."""
    return GD(gamma=2 / (setting.constants.L_f + setting.mu))


def _monotone(setting: Setting) -> GD:
    """Take gamma = 1/L_f."""
    return GD(gamma=1 / setting.constants.L_f)


CARD = Card(
    GD,
    label="GD",
    theorems=(GradientDescent(), _GradientDescentNonconvex(), LastIterate(), ApproachConvex()),
    rules={"1/L": _monotone, "optimal": _optimal},
    orders=Orders.of("kappa", "d*kappa"),
    bill=uncompressed_both_ways,
    roles={"gamma": Role.STEP_SIZE},
    colour="#666666",
    marker="",
)
