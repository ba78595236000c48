"""DIANA: theorems for strongly convex, convex and smooth f_i, with the step sizes of each."""

import math

import scipy

from certibit.solvers.method import Functions
from certibit.solvers.methods.diana import DIANA, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


def _conditions(m: DIANA, setting: Setting, limit: Condition) -> tuple[Condition, ...]:
    return (
        Condition("0 < gamma", 0.0, m.gamma, strict=True),
        limit,
        Condition("0 < alpha", 0.0, m.alpha, strict=True),
        Condition("alpha <= 1/(1 + omega)", m.alpha, 1 / (1 + setting.omega)),
    )


class _Shifts(Theorem):
    """Psi = |x - x*|^2 + (4 omega_av/alpha) gamma^2 (1/n) sum_i |h_i - grad f_i(x*)|^2."""

    method = DIANA

    def lyapunov(
        self, m: DIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        shifts = 4 * setting.omega_av / m.alpha * m.gamma**2 / setting.n
        return Squares(1.0, s.x - star.x), Squares(shifts, s.h - star.h)


class _VersionA(_Shifts):
    """DIANA when only f is mu-strongly convex, each f_i convex and L-smooth.

    gamma <= 1/(L_f + 6 omega_av L) and 0 < alpha <= 1/(1 + omega) give
    tau = max{1 - gamma mu, 1 - alpha/2}. The constants are those of Gorbunov, Hanzely, Richtarik,
    arXiv:1905.11261; proved by us with this potential.
    """

    title = "DIANA, f strongly convex"
    rocq = "DIANAVersionA.a_accuracy"

    def conditions(self, m: DIANA, setting: Setting) -> tuple[Condition, ...]:
        limit = 1 / (setting.constants.L_f + 6 * setting.omega_av * setting.L)
        return _conditions(m, setting, Condition("gamma <= 1/(L_f + 6 omega_av L)", m.gamma, limit))

    def rate(self, m: DIANA, setting: Setting) -> float:
        return max(1 - m.gamma * setting.mu, 1 - m.alpha / 2)


class _VersionB(_Shifts):
    """DIANA when each f_i is mu-strongly convex and L-smooth; tight.

    gamma <= 2/((L + mu)(1 + 6 omega_av)) and 0 < alpha <= 1/(1 + omega) give
    tau = max{1 - 2 gamma mu L/(mu + L), 1 - alpha/2}. The step of the original papers,
    arXiv:1901.09269 and arXiv:1904.05115.
    """

    title = "DIANA, every f_i strongly convex"
    rocq = "DIANA.accuracy"

    def conditions(self, m: DIANA, setting: Setting) -> tuple[Condition, ...]:
        limit = 2 / ((setting.L + setting.mu) * (1 + 6 * setting.omega_av))
        return _conditions(
            m, setting, Condition("gamma <= 2/((L + mu)(1 + 6 omega_av))", m.gamma, limit)
        )

    def rate(self, m: DIANA, setting: Setting) -> float:
        contraction = 2 * m.gamma * setting.mu * setting.L / (setting.mu + setting.L)
        return max(1 - contraction, 1 - m.alpha / 2)


class CoupledShifts(Theorem):
    """DIANA when each f_i is mu-strongly convex and L-smooth, with the best weight of the shifts.

    0 < alpha <= 1/(1 + omega), rho = 2 gamma mu L/(mu + L) < alpha, r = 1/sqrt(1 - rho/alpha) and
    gamma <= 2/((L + mu)(1 + (1 + r)^2 omega_av)) give tau = 1 - rho: up to 1.5 times the step of
    version b. Psi = |x - x*|^2 + omega_av gamma^2 ((1 + 1/r)/(alpha - rho)) (1/n) sum_i |h_i - grad
    f_i(x*)|^2. Proved by us: with G_i = grad f_i(x) - grad f_i(x*) and h_i from grad f_i(x*),
    E|x+ - x*|^2 is at most (1 - rho) |x - x*|^2 - m mean |G_i|^2 + W mean |G_i - h_i|^2 for m = 2
    gamma/(L + mu) - gamma^2, W = omega_av gamma^2, and E|h_i+|^2 at most (1 - alpha) |h_i|^2 +
    alpha |G_i|^2; the form in G_i and h_i that is left is at most 0 if m >= (1 + r)^2 W.
    """

    method = DIANA
    title = "DIANA, every f_i strongly convex, coupled weights"
    rocq = "DIANA.coupled_T_rounds"
    published = False

    def conditions(self, m: DIANA, setting: Setting) -> tuple[Condition, ...]:
        slow = self._slow(m, setting)
        largest = slow.then(lambda: _coupled_step(slow.left / m.alpha, setting), 0.0)
        name = "gamma <= 2/((L + mu)(1 + (1 + r)^2 omega_av))"
        return (slow, *_conditions(m, setting, Condition(name, m.gamma, largest)))

    def lyapunov(
        self, m: DIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        slow = self._slow(m, setting)
        room = 1 - slow.left / m.alpha
        shifts = slow.then(lambda: (1 + math.sqrt(room)) / (room * m.alpha), 0.0)
        weight = setting.omega_av * m.gamma**2 * shifts / setting.n
        return Squares(1.0, s.x - star.x), Squares(weight, s.h - star.h)

    def rate(self, m: DIANA, setting: Setting) -> float:
        return 1 - _contraction(m.gamma, setting)

    def _slow(self, m: DIANA, setting: ClassConstants) -> Condition:
        """Return the hypothesis rho < alpha, without which r and the weight are not defined."""
        rho = _contraction(m.gamma, setting)
        return Condition("2 gamma mu L/(mu + L) < alpha", rho, m.alpha, strict=True)


class ConvexShifts(Theorem):
    """DIANA when each f_i is convex and L-smooth: E[Psi+] <= Psi - c (f(x) - f*).

    gamma <= 1/(L (1 + 4 omega_av)) and 0 < alpha <= 1/(1 + omega) give c = 2 gamma.
    Psi = |x - x*|^2 + (2 omega_av/alpha) gamma^2 (1/n) sum_i |h_i - grad f_i(x*)|^2. The rate 1/T
    is that of Khaled, Sebbouh, Loizou, Gower, Richtarik, arXiv:2006.11573. Proved by us with these
    constants: with G_i = grad f_i(x) - grad f_i(x*) and h_i from grad f_i(x*), <grad f(x), x - x*>
    is at least f(x) - f* + mean |G_i|^2/(2 L), so that E|x+ - x*|^2 is at most |x - x*|^2 - 2 gamma
    (f(x) - f*) - (gamma/L - gamma^2) mean |G_i|^2 + omega_av gamma^2 mean |G_i - h_i|^2; the last
    mean is at most 2 mean |G_i|^2 + 2 mean |h_i|^2, and E|h_i+|^2 at most (1 - alpha) |h_i|^2 +
    alpha |G_i|^2.
    """

    method = DIANA
    title = "DIANA, convex"
    rocq = "DIANA.convex_T_rounds"
    measure = "gap"
    published = False

    def conditions(self, m: DIANA, setting: Setting) -> tuple[Condition, ...]:
        limit = 1 / (setting.L * (1 + 4 * setting.omega_av))
        name = "gamma <= 1/(L (1 + 4 omega_av))"
        return _conditions(m, setting, Condition(name, m.gamma, limit))

    def lyapunov(
        self, m: DIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        shifts = 2 * setting.omega_av / m.alpha * m.gamma**2 / setting.n
        return Squares(1.0, s.x - star.x), Squares(shifts, s.h - star.h)

    def descent(self, m: DIANA, setting: Setting) -> float:
        return 2 * m.gamma


class _SmoothShifts(Theorem):
    """DIANA when f is bounded from below, each f_i L-smooth, noise of variance sigma^2.

    gamma <= 1/(2 L), gamma L sqrt(omega_av (2 + alpha)) <= alpha/2 and 0 < alpha <= 1/(1 + omega)
    give, with B = 2 L gamma^2 omega_av/alpha and D = B (1 + 2/alpha) L^2 gamma^2, c = gamma -
    L gamma^2/2 - D and e = (L gamma^2/2 + D) (omega_av + 1/n) + B (1 + alpha/2) alpha^2 (1 +
    omega). Psi = f(x) - inf f + B (1/n) sum_i |h_i - grad f_i(x)|^2. Proved by us; that DIANA
    converges there is in Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269.

    Proof. The step is -gamma grad f(x) in the mean, with a variance of at most gamma^2 (omega_av
    (H + sigma^2) + sigma^2/n) for H = (1/n) sum_i |h_i - grad f_i(x)|^2. The mean of E|h_i + alpha
    m_i - grad f_i(x)|^2 is at most (1 - alpha) H + alpha^2 (1 + omega) sigma^2, and that of E|h_i+
    - grad f_i(x+)|^2 at most 1 + alpha/2 times this plus (1 + 2/alpha) L^2 E|x+ - x|^2. Of H there
    is left L gamma^2 omega_av/2 + B (1 - alpha/2) + B (1 + 2/alpha) L^2 gamma^2 omega_av <= B.
    """

    method = DIANA
    title = "DIANA, nonconvex"
    rocq = "DIANANonconvex.nonconvex_accuracy"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: DIANA, setting: Setting) -> tuple[Condition, ...]:
        noise = m.gamma * setting.L * math.sqrt(setting.omega_av * (2 + m.alpha))
        return (
            *_conditions(m, setting, Condition("gamma <= 1/(2 L)", m.gamma, 1 / (2 * setting.L))),
            Condition("gamma L sqrt(omega_av (2 + alpha)) <= alpha/2", noise, m.alpha / 2),
        )

    def lyapunov(
        self, m: DIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        weight = _weight_of_shifts(m, setting) / setting.n
        return Gap(1.0, s.x), Squares(weight, s.h - problem.grad(s.x))

    def descent(self, m: DIANA, setting: Setting) -> float:
        return m.gamma - self._moved(m, setting)

    def noise(self, m: DIANA, setting: Setting) -> float:
        kept = (1 + m.alpha / 2) * m.alpha**2 * (1 + setting.omega)
        of_step = self._moved(m, setting) * (setting.omega_av + 1 / setting.n)
        return of_step + _weight_of_shifts(m, setting) * kept

    def _moved(self, m: DIANA, setting: Setting) -> float:
        """Return L gamma^2/2 + B (1 + 2/alpha) L^2 gamma^2, what E|x+ - x|^2/gamma^2 counts."""
        shifts = _weight_of_shifts(m, setting) * (1 + 2 / m.alpha)
        return (setting.L / 2 + shifts * setting.L**2) * m.gamma**2


def _weight_of_shifts(m: DIANA, setting: ClassConstants) -> float:
    """Return B = 2 L gamma^2 omega_av/alpha."""
    return 2 * setting.L * m.gamma**2 * setting.omega_av / m.alpha


def _contraction(gamma: float, setting: ClassConstants) -> float:
    return 2 * gamma * setting.mu * setting.L / (setting.mu + setting.L)


def _coupled_step(used: float, setting: Setting) -> float:
    """Return the largest step for a given ratio rho/alpha."""
    noise = (1 + 1 / math.sqrt(1 - used)) ** 2 * setting.omega_av
    return 2 / ((setting.L + setting.mu) * (1 + noise))


def _best(setting: Setting) -> DIANA:
    """Take alpha = 1/(1 + omega), and the largest gamma of the theorem with coupled weights."""
    alpha = 1 / (1 + setting.omega)

    def room(used: float) -> float:
        return _contraction(_coupled_step(used, setting), setting) / alpha - used

    most = 1 - 1e-6
    used = scipy.optimize.brentq(room, 0.0, most, xtol=1e-300) if room(most) < 0 else most
    return DIANA(used * alpha / _contraction(1.0, setting), alpha)


def _version_a(setting: Setting) -> DIANA:
    """Take alpha = 1/(1 + omega), gamma = 1/(L_f + 6 omega_av L)."""
    gamma = 1 / (setting.constants.L_f + 6 * setting.omega_av * setting.L)
    return DIANA(gamma, 1 / (1 + setting.omega))


def _version_b(setting: Setting) -> DIANA:
    """Take alpha = 1/(1 + omega), gamma = min{alpha/(2 mu), 2/((L + mu)(1 + 6 omega_av))}."""
    alpha = 1 / (1 + setting.omega)
    gamma = 2 / ((setting.L + setting.mu) * (1 + 6 * setting.omega_av))
    return DIANA(min(alpha / (2 * setting.mu), gamma), alpha)


def _convex(setting: Setting) -> DIANA:
    """Take alpha = 1/(1 + omega), gamma = 1/(L (1 + 4 omega_av))."""
    return DIANA(1 / (setting.L * (1 + 4 * setting.omega_av)), 1 / (1 + setting.omega))


def _nonconvex(setting: Setting) -> DIANA:
    """Take alpha = 1/(1 + omega), gamma = min{1/2, alpha/(2 sqrt(omega_av (2 + alpha)))}/L."""
    alpha = 1 / (1 + setting.omega)
    noise = math.sqrt(setting.omega_av * (2 + alpha))
    return DIANA(1 / (2 * setting.L * max(1.0, noise / alpha)), alpha)


CARD = Card(
    DIANA,
    label="DIANA",
    theorems=(_VersionA(), _VersionB(), CoupledShifts(), _SmoothShifts(), ConvexShifts()),
    rules={
        "b": _version_b,
        "a": _version_a,
        "best": _best,
        "convex": _convex,
        "nonconvex": _nonconvex,
    },
    orders=Orders.of("(1 + omega/n)*kappa + omega", "(1 + d/n)*kappa + d"),
    bill=compressed_up,
    identities=(lambda c, n: (DIANA(0.9 / c.L, 1.0), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#56B4E9",
    marker="^",
)
