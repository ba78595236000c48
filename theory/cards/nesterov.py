"""Accelerated gradient descent with growing momentum: its theorem for convex functions."""

from dataclasses import dataclass
from typing import Any, ClassVar

from certibit.data.problem import Constants
from certibit.solvers.method import Functions, Method, Needs, Varying
from certibit.solvers.methods.adiana import ADIANA
from certibit.solvers.methods.agd import State
from certibit.solvers.methods.nesterov import Nesterov
from certibit.theory.card import Card, Role, uncompressed_both_ways
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, RunTheorem


class GrowingMomentum(RunTheorem):
    """f(x_T) - f* <= 2 |x_0 - x*|^2/(gamma (T + 1)^2) for 0 < gamma <= 1/L_f.

    Psi = |x - x*|^2, for a convex, L_f-smooth average f. Su, Boyd, Candes, arXiv:1503.01243,
    Theorem 6.
    """

    method = Nesterov
    title = "accelerated gradient descent, convex"

    def conditions(self, m: Nesterov, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/L_f", m.gamma, 1 / setting.constants.L_f),
        )

    def lyapunov(
        self, m: Nesterov, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(1.0, s.x - star.x),)

    def weight(self, m: Nesterov, setting: Setting) -> tuple[float, ...]:
        return m.gamma / 2, m.gamma, m.gamma / 2


def _convex(setting: Setting) -> Nesterov:
    """Take gamma = 1/L_f."""
    return Nesterov(gamma=1 / setting.constants.L_f)


@dataclass(frozen=True)
class _ThreeSequences(Varying):
    """ADIANA without compression and w, with growing momentum: the same in the form with z."""

    gamma: float

    name: ClassVar[str] = "adiana with growing momentum"
    needs: ClassVar[Needs] = ADIANA.needs

    def at(self, t: Any) -> ADIANA:
        theta = 2 / (t + 2)
        return ADIANA(
            theta_1=theta, theta_2=0.0, eta=self.gamma, gamma=self.gamma / theta,
            alpha=0.7, beta=1.0, p=0.4,
        )  # fmt: skip


def _three_sequences(c: Constants, n: int) -> tuple[Method, Method]:
    return _ThreeSequences(1 / c.L_f), Nesterov(1 / c.L_f)


CARD = Card(
    Nesterov,
    label="Nesterov",
    theorems=(GrowingMomentum(),),
    rules={"convex": _convex},
    bill=uncompressed_both_ways,
    identities=(_three_sequences,),
    roles={"gamma": Role.STEP_SIZE},
    colour="#8A5CFF",
    marker="h",
)
