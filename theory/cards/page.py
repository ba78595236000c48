"""PAGE: a theorem for smooth f, and its parameters."""

import math

from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.page import PAGE, State
from certibit.theory.card import Card, Role, uncompressed_both_ways
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _SampledDifferences(Theorem):
    """PAGE when f is L_f-smooth and bounded from below, and samples are mean-squared smooth.

    With (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= difference^2 |x - y|^2 for the noises of one sample,
    gamma <= 1/(L_f + difference sqrt((1 - p)/(p n))) gives c = gamma/2. Li, Bao, Zhang, Richtarik,
    arXiv:2008.10898, Theorem 1, with difference = L/sqrt(b) for n = 1 and b samples; Gorbunov,
    Burlachenko, Li, Richtarik, arXiv:2102.07845, for n clients.
    Psi = f(x) - inf f + (gamma/(2 p)) |g - grad f(x)|^2.
    """

    method = PAGE
    title = "PAGE, nonconvex"
    rocq = "PAGE.accuracy"
    measure = "squared_gradient"

    def conditions(self, m: PAGE, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + difference sqrt((1 - p)/(p n)))",
                m.gamma,
                _largest_step(m.p, setting),
            ),
        )

    def lyapunov(
        self, m: PAGE, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return Gap(1.0, s.x), Squares(m.gamma / (2 * m.p), s.g - mean(problem.grad(s.x)))

    def descent(self, m: PAGE, setting: Setting) -> float:
        return m.gamma / 2

    def noise(self, m: PAGE, setting: Setting) -> float:
        """Return 0: the variance at one point does not enter."""
        return 0.0


def _largest_step(p: float, setting: Setting) -> float:
    """Return 1/(L_f + difference sqrt((1 - p)/(p n)))."""

    def largest() -> float:
        reduced = math.sqrt(max(0.0, (1 - p) / (p * setting.n)))
        return 1 / (setting.constants.L_f + setting.difference * reduced)

    return Condition("0 < p", 0.0, p, strict=True).then(largest, 0.0)


def _nonconvex(setting: Setting, p: float = 0.1) -> PAGE:
    """Take gamma = 1/(L_f + difference sqrt((1 - p)/(p n))), for p = 0.1 or another one.

    For batches of b of m rows the paper takes p = b/(m + b).
    """
    if not 0 < p <= 1:
        raise Refusal(f"p = {p:g} of page is no probability of exact gradients; give 0 < p <= 1")
    return PAGE(_largest_step(p, setting), p)


CARD = Card(
    PAGE,
    label="PAGE",
    theorems=(_SampledDifferences(),),
    rules={"nonconvex": _nonconvex},
    bill=uncompressed_both_ways,
    identities=(lambda c, n: (PAGE(0.9 / c.L, 0.4), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#AA7744",
    marker="d",
)
