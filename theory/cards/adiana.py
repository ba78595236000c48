"""ADIANA: one theorem for both variants; the two published parameter sets and a tuned one."""

import math
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from certibit.data.problem import Constants
from certibit.solvers.backend import where
from certibit.solvers.method import Functions, Gradients, Messages, Method
from certibit.solvers.methods.adiana import ADIANA, State
from certibit.solvers.methods.agd import AGD
from certibit.theory.card import Card, Orders, Role
from certibit.theory.potential import ClassConstants, Gap, Potential, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


@dataclass(frozen=True)
class _CoinFirst(ADIANA):
    """ADIANA whose step begins with the coin that moves the reference point to y."""

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        """Move the reference point, then do a step in which it stays."""
        moves = channel.coin(self.p)
        w = where(moves, s.y, s.w)
        gradient = where(moves, problem.grad(w, active=moves), s.gradient)
        stays = replace(self, p=0.0, variant="I")
        return ADIANA.communicate(stays, replace(s, w=w, gradient=gradient), problem, channel)


class _BeforeTheCoin:
    """The Lyapunov function of ADIANA, variant II, in the mean over the coin.

    The values of f are those of the theorem's; h_i - grad f_i(w) keeps its weight.
    """

    def lyapunov(
        self, m: ADIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        """Return the terms at a state."""
        reference = m.theta_2 + m.theta_1 / 2 if m.theta_2 else 0.0
        shifts = 8 * m.eta * setting.omega_av / m.alpha
        return (
            Squares(m.theta_1 / (2 * m.gamma * m.beta), s.z - star.z),
            Gap(1.0, s.y),
            Gap((1 - m.p) * reference / m.p, s.w),
            Squares(shifts / setting.n, s.h - s.gradient),
        )


def cut_before_the_coin(m: Method) -> tuple[Method, Potential] | None:
    """Return ADIANA of variant II in these steps, and their Lyapunov function."""
    if not (isinstance(m, ADIANA) and m.variant == "II"):
        return None
    return _CoinFirst(**{one.name: getattr(m, one.name) for one in fields(m)}), _BeforeTheCoin()


Variant = Literal["I", "II"]
Values = NDArray[np.float64]


class Acceleration(Theorem):
    """ADIANA, variants I and II, when each f_i is convex and L-smooth and f mu-strongly convex.

    With P = p/alpha, chi = eta omega_av L and B = 24 chi P (1 + 2 P) for variant I, 32 chi P
    (1 + 2 P) for variant II: if alpha <= 1/(1 + omega), eta <= 1/(2 L), gamma theta_1 <= eta/2,
    max{1/2, 1 - gamma mu} <= beta < 1 and

    * (I) 3 chi + B <= theta_2 and B <= 1 - theta_1 - theta_2,
    * (II) 4 chi + B <= theta_2, B <= 1 and theta_2 + theta_1/2 < 1,

    then tau = 1 - min{1 - beta, theta_1/(2 c), p theta_1/(2 theta_2 + theta_1), alpha/4} with c = 1
    (I) or c = 1 - theta_2 - theta_1/2 (II). If theta_2 = 0 then omega_av = 0, w and the shifts have
    no influence, and tau = 1 - min{1 - beta, theta_1}. Psi = (theta_1/(2 gamma beta)) |z - x*|^2
    + c (f(y) - f*) + ((theta_2 + theta_1/2)/p) (f(w) - f*) + nu (1/n) sum_i |h_i - grad f_i(w)|^2
    with nu = 6 eta omega_av/alpha (I) or 8 eta omega_av/alpha (II); without the term of w if
    theta_2 = 0. It covers the parameters of Li et al., arXiv:2002.11364, and of He, Huang, Yuan,
    arXiv:2305.16297; proved by us with these weights.
    """

    method = ADIANA
    title = "ADIANA, variants I and II"

    def conditions(self, m: ADIANA, setting: Setting) -> tuple[Condition, ...]:
        chi, moves = m.eta * setting.omega_av * setting.L, m.p / m.alpha
        first = m.variant == "I"
        b = (24 if first else 32) * chi * moves * (1 + 2 * moves)
        noise = (3 if first else 4) * chi + b
        common = (
            Condition("0 < alpha", 0.0, m.alpha, strict=True),
            Condition("alpha <= 1/(1 + omega)", m.alpha, 1 / (1 + setting.omega)),
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < eta", 0.0, m.eta, strict=True),
            Condition("eta <= 1/(2 L)", m.eta, 1 / (2 * setting.L)),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma theta_1 <= eta/2", m.gamma * m.theta_1, m.eta / 2),
            Condition("1 - gamma mu <= beta", 1 - m.gamma * setting.mu, m.beta),
            Condition("1/2 <= beta", 0.5, m.beta),
            Condition("beta < 1", m.beta, 1.0, strict=True),
            Condition("0 < theta_1", 0.0, m.theta_1, strict=True),
            Condition("0 <= theta_2", 0.0, m.theta_2),
            Condition("theta_1 + theta_2 < 1", m.theta_1 + m.theta_2, 1.0, strict=True),
        )
        if first:
            return (
                *common,
                Condition("3 chi + B <= theta_2", noise, m.theta_2),
                Condition("B <= 1 - theta_1 - theta_2", b, 1 - m.theta_1 - m.theta_2),
            )
        return (
            *common,
            Condition("4 chi + B <= theta_2", noise, m.theta_2),
            Condition("B <= 1", b, 1.0),
            Condition("theta_2 + theta_1/2 < 1", m.theta_2 + m.theta_1 / 2, 1.0, strict=True),
        )

    def lyapunov(
        self, m: ADIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        first = m.variant == "I"
        reference = m.theta_2 + m.theta_1 / 2 if m.theta_2 else 0.0
        shifts = (6 if first else 8) * m.eta * setting.omega_av / m.alpha
        return (
            Squares(m.theta_1 / (2 * m.gamma * m.beta), s.z - star.z),
            Gap(1.0 if first else 1 - reference, s.y),
            Gap(reference / m.p, s.w),
            Squares(shifts / setting.n, s.h - s.gradient),
        )

    def rate(self, m: ADIANA, setting: Setting) -> float:
        if m.theta_2 == 0:
            return 1 - min(1 - m.beta, m.theta_1)
        weight = 1 if m.variant == "I" else 1 - m.theta_2 - m.theta_1 / 2
        reference = m.p * m.theta_1 / (2 * m.theta_2 + m.theta_1)
        return 1 - min(1 - m.beta, m.theta_1 / (2 * weight), reference, m.alpha / 4)


def _published(setting: Setting, variant: Variant = "I") -> ADIANA:
    """Return the original parameters, arXiv:2002.11364, with n/omega written as 1/omega_av.

    alpha = 1/(1 + omega), theta_2 = 1/2, p = min{1, max{1, sqrt(n/(32 omega)) - 1}/(2(1 + omega))},
    eta = min{1/(2 L), n/(64 omega L (2 p (omega + 1) + 1)^2)}, theta_1 = min{1/4, sqrt(eta mu/p)},
    gamma = eta/(2 (theta_1 + eta mu)), beta = 1 - gamma mu.
    """
    omega, omega_av = setting.omega, setting.omega_av
    p, eta = 1.0, 1 / (2 * setting.L)
    if omega > 0:
        p = min(1.0, max(1.0, math.sqrt(1 / (32 * omega_av)) - 1) / (2 * (1 + omega)))
        eta = min(eta, 1 / (64 * omega_av * setting.L * (2 * p * (omega + 1) + 1) ** 2))
    theta_1 = min(0.25, math.sqrt(eta * setting.mu / p))
    gamma = eta / (2 * (theta_1 + eta * setting.mu))
    return _with_shifts(setting, variant, theta_1, 0.5, eta, gamma, p)


def _refined(setting: Setting, variant: Variant = "I") -> ADIANA:
    """Return the parameters of He, Huang, Yuan, arXiv:2305.16297, n/omega written as 1/omega_av.

    theta_1 = 1/(3 sqrt(kappa)), theta_2 = 1/(3 sqrt(n) + 3 n/omega), alpha = 1/(1 + omega),
    p = alpha, eta = n theta_2/(120 omega L), gamma = eta/(2 theta_1 + eta mu), beta = 1 - gamma mu.
    """
    omega_av = setting.omega_av
    theta_1 = 1 / (3 * math.sqrt(setting.kappa))
    scale = 3 * (1 + omega_av * math.sqrt(setting.n))
    eta = 1 / (120 * setting.L * scale)
    gamma = eta / (2 * theta_1 + eta * setting.mu)
    p = 1 / (1 + setting.omega)
    return _with_shifts(setting, variant, theta_1, omega_av / scale, eta, gamma, p)


def _best(setting: Setting, variant: Variant = "I") -> ADIANA:
    """Return the parameters with the smallest factor of the theorem.

    p, theta_1 and theta_2 are searched on a grid that is refined around its best point, with
    alpha = 1/(1 + omega), eta as large as the theorem allows and gamma = eta/(2 theta_1 + eta mu).
    Without compression theta_2 = 0, p = 1, eta = 1/(2 L) and theta_1 = gamma mu.
    """
    if setting.omega == 0:
        return _uncompressed(setting, variant)
    smallest = [1e-2 / (1 + setting.omega), 1e-3 / math.sqrt(setting.kappa), 1e-4]
    largest = [1.0, 0.5, 0.9]
    for _ in range(6):
        axes = [np.geomspace(*ends, 25) for ends in zip(smallest, largest, strict=True)]
        p, theta_1, theta_2 = np.meshgrid(*axes, indexing="ij")
        rho, eta, gamma = _progress(setting, variant, p, theta_1, theta_2)
        place = tuple(int(i) for i in np.unravel_index(np.argmax(rho), rho.shape))
        smallest = [float(axis[max(i - 3, 0)]) for axis, i in zip(axes, place, strict=True)]
        largest = [float(axis[min(i + 3, 24)]) for axis, i in zip(axes, place, strict=True)]
    return _with_shifts(
        setting, variant, *(float(values[place]) for values in (theta_1, theta_2, eta, gamma, p))
    )


def _uncompressed(setting: Setting, variant: Variant) -> ADIANA:
    eta = 1 / (2 * setting.L)
    s = eta * setting.mu
    theta_1 = (math.sqrt(s * s + 8 * s) - s) / 4
    return _with_shifts(setting, variant, theta_1, 0.0, eta, eta / (2 * theta_1 + s), 1.0)


def _progress(
    setting: Setting, variant: Variant, p: Values, theta_1: Values, theta_2: Values
) -> tuple[Values, Values, Values]:
    """Return 1 - tau, -inf where nothing is proved, and the eta and gamma that it is for."""
    first = variant == "I"
    noise, jumps = setting.omega_av * setting.L, p * (1 + setting.omega)
    b = (24 if first else 32) * noise * jumps * (1 + 2 * jumps)
    room = 1 - theta_1 - theta_2
    reference = theta_2 / ((3 if first else 4) * noise + b)
    eta = np.minimum(np.minimum(reference, (room if first else 1) / b), 1 / (2 * setting.L))
    gamma = eta / (2 * theta_1 + eta * setting.mu)
    weight = 1 if first else 1 - theta_2 - theta_1 / 2
    rho = np.minimum(gamma * setting.mu, theta_1 / (2 * weight))
    rho = np.minimum(rho, p * theta_1 / (2 * theta_2 + theta_1))
    rho = np.minimum(rho, 0.25 / (1 + setting.omega))
    return np.where((gamma * setting.mu <= 0.5) & (room > 0), rho, -np.inf), eta, gamma


def _with_shifts(
    setting: Setting,
    variant: Variant,
    theta_1: float,
    theta_2: float,
    eta: float,
    gamma: float,
    p: float,
) -> ADIANA:
    """Add alpha = 1/(1 + omega) and beta = 1 - gamma mu."""
    return ADIANA(
        theta_1=theta_1,
        theta_2=theta_2,
        eta=eta,
        gamma=gamma,
        alpha=1 / (1 + setting.omega),
        beta=1 - gamma * setting.mu,
        p=p,
        variant=variant,
    )


def _accelerated(c: Constants, n: int) -> tuple[Method, Method]:
    """Without compression and w, and with the right step sizes: accelerated gradient descent."""
    q = math.sqrt(c.mu / c.L_f)
    return ADIANA(
        theta_1=q / (1 + q), theta_2=0.0, eta=1 / c.L_f, gamma=1 / math.sqrt(c.mu * c.L_f),
        alpha=0.7, beta=1 - q, p=0.4,
    ), AGD(1 / c.L_f, q)  # fmt: skip


CARD = Card(
    ADIANA,
    label="ADIANA",
    theorems=(Acceleration(),),
    rules={"published": _published, "refined": _refined, "best": _best},
    orders=Orders.of(  # the refined analysis of arXiv:2305.16297
        "(1 + omega/sqrt(n))*sqrt(kappa) + omega", "(1 + d/sqrt(n))*sqrt(kappa) + d"
    ),
    bill=lambda m, n, vector, message: (2 * message, vector),
    identities=(_accelerated,),
    cut=cut_before_the_coin,
    roles={"eta": Role.STEP_SIZE, "p": Role.PROBABILITY, "beta": Role.MOMENTUM},
    colour="#0072B2",
    marker="s",
)
