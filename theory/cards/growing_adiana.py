"""ADIANA with growing momentum: a theorem for convex functions, and its parameters."""

from certibit.solvers.method import Functions
from certibit.solvers.methods.adiana import State
from certibit.solvers.methods.growing_adiana import GrowingADIANA
from certibit.theory.card import Card, Role
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, RunTheorem


class _GrowingMomentumCompressed(RunTheorem):
    """E f(y_T) - f* <= 32 Psi_0/(eta (T + t_0 - 1)^2) for convex, L-smooth f_i.

    With chi = eta omega_av L, if alpha <= 1/(1 + omega), eta <= 1/(2 L), t_0 >= 8/alpha,
    2 - theta_2 <= 2 t_0 (p - theta_2), 2 chi + 32 p chi/alpha^2 <= theta_2 and 32 p chi/alpha^2
    <= 1 - theta_2 - 4/t_0. With theta = 4/(t_0 - 1) and m = eta/(2 theta^2), Psi = |z - x*|^2/2
    + m (f(y) - f*) + (m (theta_2 + theta/2)/p) (f(w) - f*) + (4 m eta omega_av/alpha)
    (1/n) sum_i |h_i - grad f_i(w)|^2. Proved by us: Psi_t, with t + t_0 in the place of t_0, has
    E Psi_(t+1) <= Psi_t. With D(v) = f(v) - f(x) - <grad f(x), v - x>, theta and m of step t and
    the variance V of g, E|z+ - x*|^2/2 + m E(f(y+) - f*) <= |z - x*|^2/2 + m ((1 - theta - theta_2)
    (f(y) - f* - D(y)) + theta_2 (f(w) - f* - D(w)) + eta V/2). The mean H of |h_i - grad f_i(w)|^2
    has V <= 2 omega_av (2 L D(w) + H) and E H+ <= (1 - alpha/2) H + (8 p L/alpha) (D(w) + D(y)).
    """

    method = GrowingADIANA
    title = "ADIANA with growing momentum, convex"
    published = False

    def conditions(self, m: GrowingADIANA, setting: Setting) -> tuple[Condition, ...]:
        chi = m.eta * setting.omega_av * setting.L
        moved = 32 * m.p * chi / m.alpha**2
        return (
            Condition("0 < alpha", 0.0, m.alpha, strict=True),
            Condition("alpha <= 1/(1 + omega)", m.alpha, 1 / (1 + setting.omega)),
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < eta", 0.0, m.eta, strict=True),
            Condition("eta <= 1/(2 L)", m.eta, 1 / (2 * setting.L)),
            Condition("0 <= theta_2", 0.0, m.theta_2),
            Condition("8/alpha <= t_0", 8 / m.alpha, m.t_0),
            Condition(
                "2 - theta_2 <= 2 t_0 (p - theta_2)", 2 - m.theta_2, 2 * m.t_0 * (m.p - m.theta_2)
            ),
            Condition("2 chi + 32 p chi/alpha^2 <= theta_2", 2 * chi + moved, m.theta_2),
            Condition("32 p chi/alpha^2 <= 1 - theta_2 - 4/t_0", moved, 1 - m.theta_2 - 4 / m.t_0),
        )

    def lyapunov(
        self, m: GrowingADIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return potential_at(0, m, s, star, setting)

    def weight(self, m: GrowingADIANA, setting: Setting) -> tuple[float, ...]:
        first, unit = m.t_0 - 1, m.eta / 32
        return unit * first**2, 2 * unit * first, unit


def potential_at(t: int, m: GrowingADIANA, s: State, star: State, setting: ClassConstants) -> Terms:
    """Return Psi_t of the theorem."""
    theta = 4 / (t + m.t_0 - 1)
    weight = m.eta / (2 * theta**2)
    shifts = 4 * m.eta * setting.omega_av / m.alpha
    return (
        Squares(0.5, s.z - star.z),
        Gap(weight, s.y),
        Gap(weight * (m.theta_2 + theta / 2) / m.p, s.w),
        Squares(weight * shifts / setting.n, s.h - s.gradient),
    )


def _convex(setting: Setting) -> GrowingADIANA:
    """Take alpha = p = 1/(1 + omega), theta_2 = p/2, t_0 = 12/alpha, and the largest eta."""
    alpha = 1 / (1 + setting.omega)
    t_0 = 12 / alpha
    chi = min(alpha / 2 / (2 + 32 / alpha), alpha * (1 - alpha / 2 - 4 / t_0) / 32)
    eta = 1 / (2 * setting.L)
    if setting.omega_av:
        eta = min(eta, chi / (setting.omega_av * setting.L))
    return GrowingADIANA(theta_2=alpha / 2, eta=eta, alpha=alpha, p=alpha, t_0=t_0)


CARD = Card(
    GrowingADIANA,
    label="ADIANA, growing",
    theorems=(_GrowingMomentumCompressed(),),
    rules={"convex": _convex},
    bill=lambda m, n, vector, message: (2 * message, vector),
    roles={"eta": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#7FD4C1",
    marker="s",
)
