"""EF-BV: theorems for compressors of a bias and a variance, and its parameters."""

import math

from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.ef_bv import EFBV, State
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import SLACK, Condition, Theorem


def _conditions(m: EFBV, setting: Setting) -> tuple[Condition, ...]:
    r, r_av = _left(m, setting)
    return (
        Condition("0 < lambda_", 0.0, m.lambda_, strict=True),
        Condition("lambda_ <= 1", m.lambda_, 1.0),
        Condition("0 < nu", 0.0, m.nu, strict=True),
        Condition("nu <= 1", m.nu, 1.0),
        Condition("r < 1", r, 1.0, strict=True),
        Condition("r_av = 0 if r = 0", if_zero(r, r_av), 0.0),
        Condition("0 < gamma", 0.0, m.gamma, strict=True),
        Condition(
            "gamma <= 1/(L_f + L_tilde sqrt(r_av)/(q - sqrt(r)))",
            m.gamma,
            _largest_step(m, setting),
        ),
    )


class _Errors:
    """Psi = f(x) - inf f + b |g - grad f(x)|^2 + (b r_av/(r s)) (1/n) sum_i |h_i - grad f_i(x)|^2.

    b = gamma/(1 + r), and 1 + s = q/sqrt(r).
    """

    def lyapunov(
        self, m: EFBV, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        r, r_av = _left(m, setting)
        b, gradients = m.gamma / (1 + r), problem.grad(s.x)
        inside = Condition("0 < r < 1", 0.0, r * (1 - r), strict=True)
        apart = inside.then(lambda: b * r_av / (math.sqrt(r) * (_root(r) - math.sqrt(r))), 0.0)
        return (
            Gap(1.0, s.x),
            Squares(b, s.g - mean(gradients)),
            Squares(apart / setting.n, s.h - gradients),
        )


class _BiasAndVariance(_Errors, Theorem):
    """EF-BV when f is L_f-smooth with |grad f|^2 >= 2 mu (f - f*), each f_i L_i-smooth.

    With eta, omega and omega_av of the compressors about their mean,
    r = (1 - lambda_ + lambda_ eta)^2 + lambda_^2 omega,
    r_av = (1 - nu + nu eta)^2 + nu^2 omega_av and
    q = sqrt((1 + r)/2), 0 < lambda_, nu <= 1, r < 1 and
    gamma <= 1/(L_f + L_tilde sqrt(r_av)/(q - sqrt(r))) give
    tau = max{1 - gamma mu, (1 + r)/2}. Condat, Yi, Richtarik, arXiv:2205.04180, the case of the
    Polyak-Lojasiewicz condition without a regulariser; the number of the theorem was not checked.
    Psi = f(x) - f* + b |g - grad f(x)|^2 + (b r_av/(r s)) (1/n) sum_i |h_i - grad f_i(x)|^2, with
    b = gamma/(1 + r) and 1 + s = q/sqrt(r), has in the mean over the last message at most the value
    of theirs, f(x) - f* and b r_av (1 + 1/s) times the same sum before the message; proved by us:

    Let G be the mean of the |h_i - grad f_i(x)|^2 and D = |x+ - x|^2. f(x+) <= f(x) - (gamma/2)
    |grad f(x)|^2 - (1/(2 gamma) - L_f/2) D + (gamma/2) |g - grad f(x)|^2. What is sent has the mean
    square H <= (1 + s) G + (1 + 1/s) L_tilde^2 D, and lambda_ C and nu C lose r and, in the mean
    over the clients, r_av of it: E G+ <= r H and E|g+ - grad f(x+)|^2 <= r_av H. So the multiple of
    G becomes (1 + s)^2 r = (1 + r)/2 times its weight, that of |g - grad f(x)|^2 is gamma/2 = b (1
    + r)/2, and D is paid by the step size.
    """

    method = EFBV
    title = "EF-BV, Polyak-Lojasiewicz"
    rocq = "EFBV.accuracy"

    def conditions(self, m: EFBV, setting: Setting) -> tuple[Condition, ...]:
        return _conditions(m, setting)

    def rate(self, m: EFBV, setting: Setting) -> float:
        r, _ = _left(m, setting)
        return max(1 - m.gamma * setting.mu, (1 + r) / 2)


class _BiasAndVarianceNonconvex(_Errors, Theorem):
    """EF-BV when f is L_f-smooth and bounded from below, each f_i L_i-smooth.

    With the conditions and Psi of the theorem about a factor, which has the proof, c = gamma/2.
    Condat, Yi, Richtarik, arXiv:2205.04180, the nonconvex case without a regulariser; the number of
    the theorem was not checked.
    """

    method = EFBV
    title = "EF-BV, nonconvex"
    rocq = "EFBV.nonconvex_accuracy"
    measure = "squared_gradient"

    def conditions(self, m: EFBV, setting: Setting) -> tuple[Condition, ...]:
        return _conditions(m, setting)

    def descent(self, m: EFBV, setting: Setting) -> float:
        return m.gamma / 2


def _left(m: EFBV, setting: ClassConstants) -> tuple[float, float]:
    """Return r and r_av: the parts of a vector that lambda_ C and nu C lose, the last in mean."""
    eta, omega, omega_av = setting.bias_and_variance
    return (
        (1 - m.lambda_ + m.lambda_ * eta) ** 2 + m.lambda_**2 * omega,
        (1 - m.nu + m.nu * eta) ** 2 + m.nu**2 * omega_av,
    )


def if_zero(r: float, r_av: float) -> float:
    """Return r_av where r is 0, and 0 elsewhere."""
    return 0.0 if r else r_av


def _root(r: float) -> float:
    """Return q = sqrt((1 + r)/2)."""
    return math.sqrt((1 + r) / 2)


def _largest_step(m: EFBV, setting: Setting) -> float:
    """Return 1/(L_f + L_tilde sqrt(r_av)/(q - sqrt(r))), q = sqrt((1 + r)/2)."""
    r, r_av = _left(m, setting)

    def largest() -> float:
        lost = math.sqrt(r_av) / (_root(r) - math.sqrt(r))
        return 1 / (setting.constants.L_f + setting.constants.L_tilde * lost)

    return Condition("r < 1", r, 1.0, strict=True).then(largest, 0.0)


def _published(setting: Setting) -> EFBV:
    """Take lambda_ and nu that minimise r and r_av, and the largest gamma of the theorems.

    lambda_ = min{1, (1 - eta)/((1 - eta)^2 + omega)},
    nu = min{1, (1 - eta)/((1 - eta)^2 + omega_av)}.
    """
    eta, omega, omega_av = setting.bias_and_variance
    best = ((1 - eta) / ((1 - eta) ** 2 + own) for own in (omega, omega_av))
    lambda_, nu = (1.0 if own > 1 - SLACK else own for own in best)
    step = _largest_step(EFBV(1.0, lambda_, nu), setting)
    return EFBV(step, lambda_, nu)


CARD = Card(
    EFBV,
    label="EF-BV",
    theorems=(_BiasAndVariance(), _BiasAndVarianceNonconvex()),
    rules={"published": _published},
    orders=Orders.of("(1 + omega)*kappa", "d*kappa"),
    bill=compressed_up,
    identities=(
        lambda c, n: (EFBV(0.9 / c.L, 1.0, 1.0), EF21(0.9 / c.L)),
        lambda c, n: (EFBV(0.3 / c.L, 0.5, 1.0), DIANA(0.3 / c.L, 0.5)),
    ),
    roles={"gamma": Role.STEP_SIZE},
    colour="#CC3311",
    marker="d",
)
