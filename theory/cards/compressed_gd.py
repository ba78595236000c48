"""Compressed gradient descent: the tight theorem for one client, and its step size."""

import math

from certibit.solvers.method import Functions
from certibit.solvers.methods.compressed_gd import CompressedGD, State
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.potential import ClassConstants, Gap, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _InexactGradients(Theorem):
    """Compressed gradient descent on one mu-strongly convex, L-smooth f; tight at gamma*.

    With s = sqrt(1 - alpha), a = (1 - s) mu, b = (1 + s) L and gamma* = 2/(a + b): gamma <= gamma*
    gives tau = 1 - (gamma/gamma*) (1 - ((b - a)/(b + a))^2). Psi = f - f*. De Klerk, Glineur,
    Taylor, arXiv:1709.05191, for gamma*; f(x - gamma c) is convex in gamma.

    With more clients of one minimiser the messages may cancel, and nothing moves, if s >=
    2 sqrt(mu L)/(L + mu): this is the least cosine of grad f_i(x) and x - x*, which two clients may
    have on either side. Below, small steps bring x nearer, for <mean c_i, x - x*> is at least the
    mean of (cosine - s) |grad f_i(x)| |x - x*|.
    """

    method = CompressedGD
    title = "compressed gradient descent, one client"
    rocq = "CompressedGD.accuracy"

    def conditions(self, m: CompressedGD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("n <= 1", setting.n, 1),
            Condition("0 < alpha", 0.0, setting.alpha, strict=True),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 2/((1 - s) mu + (1 + s) L)", m.gamma, 2 / sum(_ends(setting))),
        )

    def lyapunov(
        self, m: CompressedGD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Gap(1.0, s.x),)

    def rate(self, m: CompressedGD, setting: Setting) -> float:
        a, b = _ends(setting)
        return 1 - m.gamma * (a + b) / 2 * (1 - ((b - a) / (b + a)) ** 2)


def _ends(setting: Setting) -> tuple[float, float]:
    """Return (1 - s) mu and (1 + s) L, between which compressed slopes are."""
    s = math.sqrt(1 - setting.alpha)
    return (1 - s) * setting.mu, (1 + s) * setting.L


def _best(setting: Setting) -> CompressedGD:
    """Take gamma = 2/((1 - s) mu + (1 + s) L), s = sqrt(1 - alpha)."""
    return CompressedGD(2 / sum(_ends(setting)))


CARD = Card(
    CompressedGD,
    label="compressed GD",
    theorems=(_InexactGradients(),),
    rules={"best": _best},
    orders=Orders.of("(1 + omega)*kappa", "d*kappa"),
    bill=compressed_up,
    identities=(lambda c, n: (CompressedGD(0.9 / c.L), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE},
    colour="#AA9944",
    marker="H",
)
