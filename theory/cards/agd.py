"""Accelerated gradient descent: the classical theorem and its parameters."""

import math

from certibit.solvers.method import Functions
from certibit.solvers.methods.agd import AGD, State
from certibit.theory.card import Card, Orders, Role, uncompressed_both_ways
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class Accelerated(Theorem):
    """AGD with constant momentum contracts by 1 - q for gamma <= 1/L_f and q <= sqrt(gamma mu).

    Psi = f(x) - f* + (q^2/(2 gamma)) |z - x*|^2 with z = y + (y - x)/q, per round; f is
    mu-strongly convex and L_f-smooth. Classical (Nesterov, "Lectures on convex optimization",
    Springer 2018, Section 2.2).
    """

    method = AGD
    title = "accelerated gradient descent, classical"
    rocq = "AGD.accuracy"

    def conditions(self, m: AGD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/L_f", m.gamma, 1 / setting.constants.L_f),
            Condition("0 < q", 0.0, m.q, strict=True),
            Condition("q <= sqrt(gamma mu)", m.q, math.sqrt(m.gamma * setting.mu)),
        )

    def lyapunov(
        self, m: AGD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        z = s.y + (s.y - s.x) / m.q
        return Gap(1.0, s.x), Squares(m.q**2 / (2 * m.gamma), z - star.x)

    def rate(self, m: AGD, setting: Setting) -> float:
        return 1 - m.q


def _classical(setting: Setting) -> AGD:
    """Take gamma = 1/L_f, q = sqrt(mu/L_f)."""
    L_f = setting.constants.L_f
    return AGD(gamma=1 / L_f, q=math.sqrt(setting.mu / L_f))


CARD = Card(
    AGD,
    label="AGD",
    theorems=(Accelerated(),),
    rules={"classical": _classical},
    orders=Orders.of("sqrt(kappa)", "d*sqrt(kappa)"),
    bill=uncompressed_both_ways,
    roles={"gamma": Role.STEP_SIZE},
    colour="#1F1FFF",
    marker="8",
)
