"""FedCOMGATE: a theorem for damped tracking, and the published parameters."""

from certibit.solvers.method import Functions
from certibit.solvers.methods.fedcomgate import FedCOMGATE, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Orders, Role
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class Damped(Theorem):
    """FedCOMGATE of all clients, with alpha <= 1/(1 + omega) and exact gradients, per round.

    If gamma_s >= 1 and eta_s = K eta gamma_s <= 1/(L (5 + 8 omega_av)), then
    tau = max{1 - eta_s mu/2, 1 - alpha/2}, for every K, of
    Psi = |x - x*|^2 + (b/alpha) eta_s^2 (1/n) sum_i |delta_i - grad f_i(x*)|^2 with
    b = 1 + 9 omega_av/2; proved by us, with u = eta_s L,
    D = f(x) - f*, C = (1/n) sum_i |delta_i - grad f_i(x*)|^2: the drift of the local models is
    E <= (eta_s^2/3) (4 L D + 2 C), and

        |x - x*|^2  becomes at most  (1 - eta_s mu/2) |x - x*|^2 - (2 eta_s - 4 L eta_s^2) D
                                     + 2 u (1 + u) E + eta_s^2 omega_av (4 L D + 2 C),
        C           becomes at most  (1 - alpha) C + alpha ((8/3) L D + 4 L^2 E).

    With the weight (b/alpha) eta_s^2 of C the claim needs
    u (4 + 4 omega_av + 16 b/6) + (8/3) u^2 (1 + u + 2 b u) <= 2 and
    2 omega_av + (4/3) u (1 + u + 2 b u) <= b/2: true for u <= 1/(5 + 8 omega_av).
    """

    method = FedCOMGATE
    title = "FedCOMGATE, damped"
    published = False

    def conditions(self, m: FedCOMGATE, setting: Setting) -> tuple[Condition, ...]:
        step = m.K * m.eta * m.gamma_s
        limit = 1 / (setting.L * (5 + 8 * setting.omega_av))
        return (
            Condition("0 < K eta gamma_s", 0.0, step, strict=True),
            Condition("K eta gamma_s <= 1/(L (5 + 8 omega_av))", step, limit),
            Condition("1 <= gamma_s", 1.0, m.gamma_s),
            Condition("0 < alpha", 0.0, m.alpha, strict=True),
            Condition("alpha <= 1/(1 + omega)", m.alpha, 1 / (1 + setting.omega)),
            Condition("n <= S", setting.n, setting.n if m.S is None else m.S),
        )

    def lyapunov(
        self, m: FedCOMGATE, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        step = m.K * m.eta * m.gamma_s
        tracking = (1 + 4.5 * setting.omega_av) / m.alpha * step**2 / setting.n
        return Squares(1.0, s.x - star.x), Squares(tracking, s.delta - star.delta)

    def rate(self, m: FedCOMGATE, setting: Setting) -> float:
        return max(1 - m.K * m.eta * m.gamma_s * setting.mu / 2, 1 - m.alpha / 2)


def _damped(setting: Setting, K: int = 5) -> FedCOMGATE:
    """Take alpha = 1/(1 + omega), gamma_s = 1, eta = 1/(K L (5 + 8 omega_av)); K is open."""
    eta = 1 / (K * setting.L * (5 + 8 * setting.omega_av))
    return FedCOMGATE(K, eta, gamma_s=1.0, alpha=1 / (1 + setting.omega))


def _published(setting: Setting, K: int = 5) -> FedCOMGATE:
    """Take alpha = 1, gamma_s = 1, eta = 1/(K L (1 + omega)); diverges for omega > 1. K is open.

    arXiv:2007.01154 asks for eta of the order of 1/(L (1 + omega) K gamma_s) and assumes a bound
    on the aggregated compression error.
    """
    eta = 1 / (K * setting.L * (1 + setting.omega))
    return FedCOMGATE(K, eta, gamma_s=1.0, alpha=1.0)


def _bill(m: FedCOMGATE, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of a message up and a vector down, and of the model where a cohort begins."""
    share = (m.S or n) / n
    return share * message, share * vector * (1 if share == 1 else 2)


CARD = Card(
    FedCOMGATE,
    label="FedCOMGATE",
    theorems=(Damped(),),
    rules={"damped": _damped, "published": _published},
    orders=Orders.of("(1 + omega)*kappa", "d*kappa"),
    bill=_bill,
    identities=(lambda c, n: (FedCOMGATE(1, 0.6 / c.L, 1.5, 0.8), GD(0.9 / c.L)),),
    roles={"eta": Role.STEP_SIZE, "gamma_s": Role.STEP_SIZE, "K": Role.COUNT, "S": Role.COUNT},
    colour="#661100",
    marker="*",
)
