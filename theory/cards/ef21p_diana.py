"""EF21-P with DIANA: a theorem with compression both ways, and its step sizes."""

from certibit.solvers.method import Functions
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef21p_diana import EF21PDIANA, State
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class BothWays(Theorem):
    """EF21-P with DIANA when each f_i is mu-strongly convex and L-smooth.

    gamma <= min{1/(2 (L + mu)(1 + 6 omega_av)), alpha_down/(9 (L + mu))} and 0 < beta <=
    1/(1 + omega) give tau = max{1 - gamma mu L/(L + mu), 1 - beta/2, 1 - alpha_down/2}. Psi =
    |x - x*|^2 + |x - w|^2 + (8 omega_av/beta) gamma^2 (1/n) sum_i |h_i - grad f_i(x*)|^2.
    Proved by us: with w = x + e and G = mean_i |grad f_i(w) - grad f_i(x*)|^2, E|x+ - x*|^2 +
    E|x+ - w|^2 has the gradient in -2 gamma <grad f(w), w - x*> - 4 gamma <grad f(w), -e>, where
    the first is at most -2 gamma (mu L/(L + mu)) (|x - x*|^2/2 - |e|^2) - 2 gamma G/(L + mu) and
    the second at most gamma G/(L + mu) + 4 gamma (L + mu) |e|^2; what is left of G pays for the
    noise and the shifts, and E|e|^2 <= (1 - alpha_down) |x - w|^2 for 4.5 gamma (L + mu) |e|^2.
    """

    method = EF21PDIANA
    title = "EF21-P with DIANA, every f_i strongly convex"
    published = False

    def conditions(self, m: EF21PDIANA, setting: Setting) -> tuple[Condition, ...]:
        up, down = _largest_steps(setting)
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/(2 (L + mu)(1 + 6 omega_av))", m.gamma, up),
            Condition("gamma <= alpha_down/(9 (L + mu))", m.gamma, down),
            Condition("0 < beta", 0.0, m.beta, strict=True),
            Condition("beta <= 1/(1 + omega)", m.beta, 1 / (1 + setting.omega)),
        )

    def lyapunov(
        self, m: EF21PDIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        shifts = 8 * setting.omega_av / m.beta * m.gamma**2 / setting.n
        return (
            Squares(1.0, s.x - star.x),
            Squares(1.0, s.x - s.w),
            Squares(shifts, s.h - star.h),
        )

    def rate(self, m: EF21PDIANA, setting: Setting) -> float:
        contraction = m.gamma * setting.mu * setting.L / (setting.mu + setting.L)
        return 1 - min(contraction, m.beta / 2, setting.alpha_down / 2)


def _largest_steps(setting: Setting) -> tuple[float, float]:
    """Return the largest step sizes that the noise of the clients and of the server allow."""
    total = setting.L + setting.mu
    return 1 / (2 * total * (1 + 6 * setting.omega_av)), setting.alpha_down / (9 * total)


def _largest(setting: Setting) -> EF21PDIANA:
    """Beta = 1/(1 + omega), and the largest step size of the theorem."""
    return EF21PDIANA(min(_largest_steps(setting)), 1 / (1 + setting.omega))


CARD = Card(
    EF21PDIANA,
    label="EF21-P + DIANA",
    theorems=(BothWays(),),
    rules={"largest": _largest},
    orders=Orders.of(
        "(1/alpha_down + omega/n)*kappa + omega + 1/alpha_down",
        "(1/alpha_down + d/n)*kappa + d + 1/alpha_down",
    ),
    bill=compressed_up,
    identities=(lambda c, n: (EF21PDIANA(0.3 / c.L, 0.8), DIANA(0.3 / c.L, 0.8)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#117733",
    marker="h",
)
