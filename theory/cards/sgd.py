"""Stochastic gradient descent: the theorem for smooth f and its step size."""

from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.sgd import SGD, State
from certibit.theory.bill import uncompressed_both_ways
from certibit.theory.card import Card, Role
from certibit.theory.potential import ClassConstants, Gap, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, DescentTheorem


class StochasticGradientDescent(DescentTheorem):
    """E f(x+) <= f(x) - gamma (1 - gamma L_f/2) |grad f(x)|^2 + (gamma^2 L_f/(2 n)) sigma^2.

    Psi = f(x) - inf f, for an L_f-smooth average f, 0 < gamma < 2/L_f and independent noise of
    variance sigma^2. Ghadimi, Lan, arXiv:1309.5549, Theorem 2.1, for one client.
    """

    method = SGD
    title = "SGD, nonconvex"

    def conditions(self, m: SGD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("L_f gamma < 2", setting.constants.L_f * m.gamma, 2.0, strict=True),
        )

    def lyapunov(
        self, m: SGD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Gap(1.0, s.x),)

    def descent(self, m: SGD, setting: Setting) -> float:
        return m.gamma * (1 - m.gamma * setting.constants.L_f / 2)

    def noise(self, m: SGD, setting: Setting) -> float:
        return m.gamma**2 * setting.constants.L_f / (2 * setting.n)


def _nonconvex(setting: Setting) -> SGD:
    """Take gamma = 1/L_f; a smaller one has less noise."""
    return SGD(1 / setting.constants.L_f)


CARD = Card(
    SGD,
    label="SGD",
    descents=(StochasticGradientDescent(),),
    rules={"nonconvex": _nonconvex},
    bill=uncompressed_both_ways,
    identities=(lambda c, n: (SGD(0.9 / c.L), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#997700",
    marker="P",
)
