"""EF21-SGDM: a theorem for smooth f, and its parameters."""

import math

from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.ef21_sgdm import EF21SGDM, State
from certibit.theory.card import Card, Role, compressed_up
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _MomentumErrorFeedback(Theorem):
    """EF21-SGDM when f is L_f-smooth and bounded from below, each f_i L_i-smooth.

    With theta = 1 - sqrt(1 - alpha) and beta = (1 - alpha)/theta, gamma <= 1/(L_f +
    sqrt(2 ((1 - eta) L_f/eta)^2 + 4 (beta/theta) ((1 - eta)^2 + eta^2) L_tilde^2)) gives
    c = gamma/2 and e = gamma (eta/n + 2 beta eta^3/theta + (1 - alpha) eta^2/theta).
    Psi = f(x) - inf f + (gamma/eta) |v_mean - grad f(x)|^2 + (2 gamma beta eta/theta) (1/n) sum_i
    |v_i - grad f_i(x)|^2 + (gamma/theta) (1/n) sum_i |g_i - v_i|^2. Proved by us; the rate of
    Fatkhullin, Tyurin, Richtarik, arXiv:2305.15155, has the same three terms of noise.

    Proof. f(x+) <= f(x) - (gamma/2) |grad f(x)|^2 - (1/(2 gamma) - L_f/2) |x+ - x|^2 + (gamma/2)
    |g_mean - grad f(x)|^2, and the last square is at most twice |g_mean - v_mean|^2 plus twice
    |v_mean - grad f(x)|^2. As v_i+ - grad f_i(x+) is (1 - eta) (v_i - grad f_i(x) + grad f_i(x) -
    grad f_i(x+)) plus eta times the noise, its mean square is at most (1 - eta) that before plus
    ((1 - eta)^2/eta) |grad f_i(x+) - grad f_i(x)|^2 + eta^2 sigma^2; the same holds for the means
    with sigma^2/n. As v_i+ - g_i is v_i - g_i - eta (v_i - grad f_i(x)) + eta (grad f_i(x+) -
    grad f_i(x)) plus eta times the noise, E|g_i+ - v_i+|^2 is at most (1 - theta) |g_i - v_i|^2 +
    2 beta eta^2 (|v_i - grad f_i(x)|^2 + |grad f_i(x+) - grad f_i(x)|^2) + (1 - alpha) eta^2
    sigma^2.
    """

    method = EF21SGDM
    title = "EF21-SGDM, nonconvex"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: EF21SGDM, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < alpha", 0.0, setting.alpha, strict=True),
            Condition("0 < eta", 0.0, m.eta, strict=True),
            Condition("eta <= 1", m.eta, 1.0),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + sqrt(2 ((1 - eta) L_f/eta)^2 + 4 (beta/theta) ...))",
                m.gamma,
                _largest_step(m.eta, setting) if m.eta > 0 else 0.0,
            ),
        )

    def lyapunov(
        self, m: EF21SGDM, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        theta, beta = _rates(setting.alpha)
        gradients = problem.grad(s.x)
        return (
            Gap(1.0, s.x),
            Squares(m.gamma / m.eta, mean(s.v) - mean(gradients)),
            Squares(2 * m.gamma * beta * m.eta / theta / setting.n, s.v - gradients),
            Squares(m.gamma / theta / setting.n, s.g - s.v),
        )

    def descent(self, m: EF21SGDM, setting: Setting) -> float:
        return m.gamma / 2

    def noise(self, m: EF21SGDM, setting: Setting) -> float:
        theta, beta = _rates(setting.alpha)
        kept = (2 * beta * m.eta + 1 - setting.alpha) * m.eta**2 / theta
        return m.gamma * (m.eta / setting.n + kept)


def _rates(alpha: float | None) -> tuple[float, float]:
    """Return theta = 1 - sqrt(1 - alpha) and beta = (1 - alpha)/theta."""
    if alpha is None:
        raise Refusal("the potential of EF21-SGDM needs contractive compressors; give alpha")
    theta = 1 - math.sqrt(1 - alpha)
    return theta, (1 - alpha) / theta


def _largest_step(eta: float, setting: Setting) -> float:
    (theta, beta), constants = _rates(setting.alpha), setting.constants
    late = 2 * ((1 - eta) * constants.L_f / eta) ** 2
    lost = 4 * beta / theta * ((1 - eta) ** 2 + eta**2) * constants.L_tilde**2
    return 1 / (constants.L_f + math.sqrt(late + lost))


def _nonconvex(setting: Setting, eta: float = 0.1) -> EF21SGDM:
    """Take the largest step of the theorem for the weight eta = 1/10 of a sample, or another."""
    if not 0 < eta <= 1:
        raise Refusal(f"eta = {eta:g} is no weight of a sample; give a number above 0, at most 1")
    return EF21SGDM(_largest_step(eta, setting), eta)


CARD = Card(
    EF21SGDM,
    label="EF21-SGDM",
    theorems=(_MomentumErrorFeedback(),),
    rules={"nonconvex": _nonconvex},
    bill=compressed_up,
    identities=(lambda c, n: (EF21SGDM(0.5 / c.L, 1.0), EF21(0.5 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#5566AA",
    marker="v",
)
