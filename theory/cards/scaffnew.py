"""Scaffnew: the original theorem, a sharper one, and the parameters of each."""

import math

from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.scaffnew import Scaffnew, State
from certibit.theory.card import Card, Orders, Role, uncompressed_both_ways
from certibit.theory.formulas.coupling import Coupling, best_coupling
from certibit.theory.formulas.gradient_step import gradient_step_factor
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


def step_conditions(
    gamma: float, p: float, limit: Condition
) -> tuple[Condition, Condition, Condition, Condition]:
    """Return the conditions on a step size, with its limit, and on a probability."""
    return (
        Condition("0 < gamma", 0.0, gamma, strict=True),
        limit,
        Condition("0 < p", 0.0, p, strict=True),
        Condition("p <= 1", p, 1.0),
    )


class _ControlVariates(Theorem):
    """Psi = sum_i |x_i - x*|^2 + (gamma^2/p^2) sum_i |h_i - grad f_i(x*)|^2."""

    method = Scaffnew

    def lyapunov(
        self, m: Scaffnew, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        dual = (m.gamma / m.p) ** 2
        return Squares(1.0, s.x - star.x), Squares(dual, s.h - star.h)


class _Original(_ControlVariates):
    """Scaffnew for gamma <= 1/L: tau = 1 - min{gamma mu, p^2}. Source: arXiv:2202.09357."""

    title = "Scaffnew, original"
    rocq = "Scaffnew.original_T_rounds"

    def conditions(self, m: Scaffnew, setting: Setting) -> tuple[Condition, ...]:
        return step_conditions(m.gamma, m.p, Condition("gamma <= 1/L", m.gamma, 1 / setting.L))

    def rate(self, m: Scaffnew, setting: Setting) -> float:
        return 1 - min(m.gamma * setting.mu, m.p**2)


class Sharper(_ControlVariates):
    """Scaffnew for gamma < 2/L: tau = max{(1 - gamma mu)^2, (1 - gamma L)^2, 1 - p^2}; tight.

    The case s = n of CompressedScaffnew, arXiv:2210.13277.
    """

    title = "Scaffnew, sharper"
    rocq = "Scaffnew.T_rounds"

    def conditions(self, m: Scaffnew, setting: Setting) -> tuple[Condition, ...]:
        limit = Condition("gamma < 2/L", m.gamma, 2 / setting.L, strict=True)
        return step_conditions(m.gamma, m.p, limit)

    def rate(self, m: Scaffnew, setting: Setting) -> float:
        return max(gradient_step_factor(m.gamma, setting.mu, setting.L), 1 - m.p**2)


class CoupledScaffnew(Theorem):
    """Scaffnew for gamma < 2/L with models and control variates coupled: at least as fast.

    1.6 times at gamma = 1/L and p = 1/sqrt(kappa), equal with the rule ``best``, and more for rarer
    rounds of shorter steps: 12.9 times at kappa = 100, p = 0.01, gamma = 0.1/L.
    Psi = sum_i |x_i - x* - beta gamma (h_i - h_i*)|^2 + gamma^2 (C - beta^2) sum_i |h_i - h_i*|^2
    with h_i* = grad f_i(x*), and tau, beta and C of :func:`best_coupling` with rho = 1, eta = p.
    A coupled Lyapunov function for ProxSkip was published by Hu and Huang, "Tighter Analysis for
    ProxSkip", ICML 2023 (PMLR 202:13469). Proved by us with these constants.
    """

    method = Scaffnew
    title = "Scaffnew, coupled potential"
    published = False

    def conditions(self, m: Scaffnew, setting: Setting) -> tuple[Condition, ...]:
        limit = Condition("gamma < 2/L", m.gamma, 2 / setting.L, strict=True)
        return step_conditions(m.gamma, m.p, limit)

    def lyapunov(
        self, m: Scaffnew, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        coupling, h = _coupling(m, setting), s.h - star.h
        dual = m.gamma**2 * (coupling.C - coupling.beta**2)
        return Squares(1.0, s.x - star.x - coupling.beta * m.gamma * h), Squares(dual, h)

    def rate(self, m: Scaffnew, setting: Setting) -> float:
        return 1 - _coupling(m, setting).decrease


def _coupling(m: Scaffnew, setting: ClassConstants) -> Coupling:
    return best_coupling(m.gamma * setting.mu, m.gamma * setting.L, m.p, 1.0, m.p)


def _published(setting: Setting) -> Scaffnew:
    """Take gamma = 1/L and p = 1/sqrt(kappa)."""
    return Scaffnew(gamma=1 / setting.L, p=1 / math.sqrt(setting.kappa))


def _best(setting: Setting) -> Scaffnew:
    """Take gamma = 2/(L + mu), and p = 2 sqrt(kappa)/(kappa + 1): balanced.

    Both parts of the rate are then tau_0 = (1 - gamma mu)^2, and p = sqrt(1 - tau_0).
    """
    kappa = setting.kappa
    return Scaffnew(gamma=2 / (setting.L + setting.mu), p=2 * math.sqrt(kappa) / (kappa + 1))


CARD = Card(
    Scaffnew,
    label="Scaffnew",
    theorems=(_Original(), Sharper(), CoupledScaffnew()),
    rules={"published": _published, "best": _best},
    orders=Orders.of("sqrt(kappa)", "d*sqrt(kappa)"),
    bill=uncompressed_both_ways,
    identities=(lambda c, n: (Scaffnew(0.9 / c.L, 1.0), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#882255",
    marker="d",
)
