"""Stochastic gradient descent: theorems for strongly convex and for smooth f, and step sizes."""

from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.sgd import SGD, State
from certibit.theory.card import Card, Role, uncompressed_both_ways
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _Distance(Theorem):
    """Psi = |x - x*|^2."""

    method = SGD

    def lyapunov(
        self, m: SGD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(1.0, s.x - star.x),)


class BoundedVariance(_Distance):
    """SGD when f is mu-strongly convex and L_f-smooth, with noise of variance sigma^2.

    0 < gamma <= 2/(L_f + mu) gives tau = (1 - gamma mu)^2 and e = gamma^2/n. Proved by us:
    E|x+ - x*|^2 is |x - gamma grad f(x) - x*|^2 plus gamma^2 times the variance of the mean.
    """

    title = "SGD, strongly convex, bounded variance"
    rocq = "SGD.T_rounds"
    published = False

    def conditions(self, m: SGD, setting: Setting) -> tuple[Condition, ...]:
        steepest = (setting.constants.L_f + setting.mu) * m.gamma
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("(L_f + mu) gamma <= 2", steepest, 2.0),
        )

    def rate(self, m: SGD, setting: Setting) -> float:
        return (1 - m.gamma * setting.mu) ** 2

    def noise(self, m: SGD, setting: Setting) -> float:
        return m.gamma**2 / setting.n


class ExpectedSmoothness(_Distance):
    """SGD when f is mu-strongly convex and L_f-smooth, and samples are smooth in expectation.

    With (1/n) sum_i E|xi_i(x) - xi_i(x*)|^2 <= 2 A (f(x) - f*) for the noises of one sample, and
    the variance sigma^2 at the solution, 0 < gamma <= 1/(2 (L_f + A/n)) gives tau = 1 - gamma mu
    and e = 2 gamma^2/n. Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik, arXiv:1901.09401,
    whose constant of expected smoothness is L_f + A/n here; the number of the theorem, 3.1 from
    memory, was not checked.
    """

    title = "SGD, expected smoothness"
    rocq = "SGD.expected_T_rounds"
    noise_at_solution = True

    def conditions(self, m: SGD, setting: Setting) -> tuple[Condition, ...]:
        whole = setting.constants.L_f + setting.expected / setting.n
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("2 (L_f + A/n) gamma <= 1", 2 * whole * m.gamma, 1.0),
        )

    def rate(self, m: SGD, setting: Setting) -> float:
        return 1 - m.gamma * setting.mu

    def noise(self, m: SGD, setting: Setting) -> float:
        return 2 * m.gamma**2 / setting.n


class _StochasticGradientDescent(Theorem):
    """E f(x+) <= f(x) - c |grad f(x)|^2 + e sigma^2 with e = gamma^2 L_f/(2 n).

    c = gamma (1 - gamma L_f/2). Psi = f(x) - inf f, for an L_f-smooth average f, 0 < gamma < 2/L_f
    and independent noise of variance sigma^2. Ghadimi, Lan, arXiv:1309.5549, Theorem 2.1, for one
    client.
    """

    method = SGD
    title = "SGD, nonconvex"
    rocq = "SGD.nonconvex_mean"
    measure = "squared_gradient"

    def conditions(self, m: SGD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("L_f gamma < 2", setting.constants.L_f * m.gamma, 2.0, strict=True),
        )

    def lyapunov(
        self, m: SGD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Gap(1.0, s.x),)

    def descent(self, m: SGD, setting: Setting) -> float:
        return m.gamma * (1 - m.gamma * setting.constants.L_f / 2)

    def noise(self, m: SGD, setting: Setting) -> float:
        return m.gamma**2 * setting.constants.L_f / (2 * setting.n)


class _StochasticApproachConvex(Theorem):
    """E|x+ - x*|^2 <= |x - x*|^2 - c (f(x) - f*) + e sigma^2, c = 2 gamma and e = gamma^2/n.

    Psi = |x - x*|^2, for a convex, L_f-smooth average f, 0 < gamma <= 1/L_f and independent noise
    of variance sigma^2. Classical.
    """

    method = SGD
    title = "SGD, convex"
    rocq = "SGD.convex_T_rounds"
    measure = "gap"

    def conditions(self, m: SGD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/L_f", m.gamma, 1 / setting.constants.L_f),
        )

    def lyapunov(
        self, m: SGD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(1.0, s.x - star.x),)

    def descent(self, m: SGD, setting: Setting) -> float:
        return 2 * m.gamma

    def noise(self, m: SGD, setting: Setting) -> float:
        return m.gamma**2 / setting.n


def _expected(setting: Setting) -> SGD:
    """Take gamma = 1/(2 (L_f + A/n)); a smaller one has a smaller neighbourhood."""
    return SGD(1 / (2 * (setting.constants.L_f + setting.expected / setting.n)))


def _nonconvex(setting: Setting) -> SGD:
    """Take gamma = 1/L_f; a smaller one has less noise."""
    return SGD(1 / setting.constants.L_f)


CARD = Card(
    SGD,
    label="SGD",
    theorems=(
        BoundedVariance(),
        ExpectedSmoothness(),
        _StochasticGradientDescent(),
        _StochasticApproachConvex(),
    ),
    rules={"expected": _expected, "nonconvex": _nonconvex},
    bill=uncompressed_both_ways,
    identities=(lambda c, n: (SGD(0.9 / c.L), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#997700",
    marker="P",
)
