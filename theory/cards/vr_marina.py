"""VR-MARINA: a theorem for smooth f, and its parameters."""

import math

from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.vr_marina import VRMARINA, State
from certibit.theory.card import Card, Role
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _CompressedSampledDifferences(Theorem):
    """VR-MARINA when f is L_f-smooth and bounded from below, and samples are mean-squared smooth.

    With (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= difference^2 |x - y|^2 for the noises of one sample
    and s = omega_av L_tilde^2 + (omega_av + 1/n) difference^2,
    gamma <= 1/(L_f + sqrt(s (1 - p)/p)) gives c = gamma/2. Gorbunov, Burlachenko, Li, Richtarik,
    arXiv:2102.07845, where omega_av = omega/n; the number of the theorem was not checked.
    Psi = f(x) - inf f + (gamma/(2 p)) |g - grad f(x)|^2.
    """

    method = VRMARINA
    title = "VR-MARINA, nonconvex"
    rocq = "VRMARINA.accuracy"
    measure = "squared_gradient"

    def conditions(self, m: VRMARINA, setting: Setting) -> tuple[Condition, ...]:
        some = Condition("0 < p", 0.0, m.p, strict=True)
        return (
            some,
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + sqrt(s (1 - p)/p))",
                m.gamma,
                some.then(lambda: _largest_step(m.p, setting), 0.0),
            ),
        )

    def lyapunov(
        self, m: VRMARINA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return Gap(1.0, s.x), Squares(m.gamma / (2 * m.p), s.g - mean(problem.grad(s.x)))

    def descent(self, m: VRMARINA, setting: Setting) -> float:
        return m.gamma / 2

    def noise(self, m: VRMARINA, setting: Setting) -> float:
        """Return 0: the variance at one point does not enter."""
        return 0.0


def _largest_step(p: float, setting: Setting) -> float:
    """Return 1/(L_f + sqrt(s (1 - p)/p)), s = omega_av (L_tilde^2 + difference^2) + ..."""
    squares = setting.omega_av * setting.constants.L_tilde**2
    squares += (setting.omega_av + 1 / setting.n) * setting.difference**2
    return 1 / (setting.constants.L_f + math.sqrt(max(0.0, squares * (1 - p) / p)))


def _nonconvex(setting: Setting) -> VRMARINA:
    """Take p = 1/(1 + omega) or, where this is 1, p = 0.1, and the largest step of the theorem."""
    p = 1 / (1 + setting.omega) if setting.omega > 0 else 0.1
    return VRMARINA(_largest_step(p, setting), p)


CARD = Card(
    VRMARINA,
    label="VR-MARINA",
    theorems=(_CompressedSampledDifferences(),),
    rules={"nonconvex": _nonconvex},
    bill=lambda m, n, vector, message: (m.p * vector + (1 - m.p) * message, vector),
    identities=(lambda c, n: (VRMARINA(0.9 / c.L, 0.4), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#447799",
    marker=">",
)
