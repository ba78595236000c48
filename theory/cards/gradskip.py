"""GradSkip: its theorem and the parameters that it recommends."""

import math

from certibit.solvers.method import Functions
from certibit.solvers.methods.gradskip import GradSkip, State
from certibit.solvers.methods.scaffnew import Scaffnew
from certibit.theory.card import Card, Orders, Role, uncompressed_both_ways
from certibit.theory.cards.scaffnew import step_conditions
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _SkippedGradients(Theorem):
    """GradSkip, arXiv:2210.16402; tight.

    If gamma <= min_i p^2/(L_i (1 - q_i (1 - p^2))), then
    tau = 1 - min{gamma mu, 1 - q_max (1 - p^2)} for
    Psi = sum_i |x_i - x*|^2 + (gamma^2/p^2) sum_i |h_i - grad f_i(x*)|^2.
    """

    method = GradSkip
    title = "GradSkip"

    def conditions(self, m: GradSkip, setting: Setting) -> tuple[Condition, ...]:
        limits = [
            m.p**2 / (L * _not_skipped(m.p**2, q))
            for L, q in zip(setting.constants.L_i.tolist(), m.q, strict=True)
        ]
        limit = Condition("gamma <= min_i p^2/(L_i (1 - q_i (1 - p^2)))", m.gamma, min(limits))
        return (
            *step_conditions(m.gamma, m.p, limit),
            Condition("0 <= q_i", 0.0, min(m.q)),
            Condition("q_i <= 1", max(m.q), 1.0),
        )

    def lyapunov(
        self, m: GradSkip, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        dual = (m.gamma / m.p) ** 2
        return Squares(1.0, s.x - star.x), Squares(dual, s.h - star.h)

    def rate(self, m: GradSkip, setting: Setting) -> float:
        return 1 - min(m.gamma * setting.mu, _not_skipped(m.p**2, max(m.q)))


def _published(setting: Setting) -> GradSkip:
    """Take gamma = 1/L, p = 1/sqrt(kappa), q_i = (1 - 1/kappa_i)/(1 - 1/kappa), kappa_i = L_i/mu.

    Then tau = 1 - 1/kappa, and client i evaluates at most min{kappa_i, sqrt(kappa)} gradients per
    round in the mean.
    """
    mu, kappa = setting.mu, setting.kappa
    q = tuple(
        (1 - mu / L) / (1 - 1 / kappa) if kappa > 1 else 1.0 for L in setting.constants.L_i.tolist()
    )
    return GradSkip(gamma=1 / setting.L, p=1 / math.sqrt(kappa), q=q)


def _not_skipped(p: float, q: float) -> float:
    """Return 1 - q (1 - p); for q = 1 it is p to the last digit."""
    return 1 - q + q * p


def _gradients(m: GradSkip) -> float:
    """Return the mean of 1/(1 - q_i (1 - p)): until the client's coin or that of all says stop."""
    return sum(1 / _not_skipped(m.p, q) for q in m.q) / len(m.q)


CARD = Card(
    GradSkip,
    label="GradSkip",
    theorems=(_SkippedGradients(),),
    rules={"published": _published},
    orders=Orders.of("sqrt(kappa)", "d*sqrt(kappa)"),
    bill=uncompressed_both_ways,
    gradients=_gradients,
    identities=(lambda c, n: (GradSkip(1 / c.L, 0.4, (1.0,) * n), Scaffnew(1 / c.L, 0.4)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#E69F00",
    marker="P",
)
