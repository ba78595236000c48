"""L-SVRG: a theorem for strongly convex f, and its parameters."""

from certibit.data.errors import Refusal
from certibit.solvers.method import Functions
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.l_svrg import LSVRG, State
from certibit.theory.card import Card, Role
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class ReferencePoint(Theorem):
    """L-SVRG when f is mu-strongly convex and L_f-smooth, and samples are smooth in expectation.

    With (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= 2 A (f(x) - f(y) - <grad f(y), x - y>) for the noises
    of one sample, gamma <= 1/(L_f + 6 A/n) gives tau = max{1 - gamma mu, 1 - p/2}.
    Psi = |x - x*|^2 + (w/p) (f(w) - f*), w = max{8 A gamma^2/n, 2 gamma (1 - gamma (L + 2 A/n))},
    which are equal at the largest step if L_f = L. Proved by us, as Kovalev, Horvath, Richtarik,
    arXiv:1901.08689 (number and text of the theorem not checked), for n = 1 and gamma <= 1/(6 L),
    whose Psi has the mean square of the sampled gradients at w, less those at x*, for its bound
    2 L (f(w) - f*).

    Proof. E|g|^2 is |grad f(x)|^2 plus the variance, at most 2 L_f (f(x) - f*) + (4 A/n) (f(x) - f*
    + f(w) - f*), and E f(w+) = (1 - p) f(w) + p f(x). With <grad f(x), x - x*> >= f(x) - f* +
    (mu/2) |x - x*|^2 the factor of f(x) - f* is at most 2 gamma (gamma (L_f + 2 A/n) - 1) + w, and
    that of f(w) - f* is 4 A gamma^2/n + w (1/p - 1) <= (w/p) (1 - p/2).
    """

    method = LSVRG
    title = "L-SVRG"
    rocq = "LSVRG.accuracy"
    published = False
    noise_at_solution = True

    def conditions(self, m: LSVRG, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/(L_f + 6 A/n)", m.gamma, _largest_step(setting)),
        )

    def lyapunov(
        self, m: LSVRG, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        noise = setting.expected / setting.n
        most = 2 * m.gamma * (1 - m.gamma * (setting.L + 2 * noise))
        reference = max(8 * noise * m.gamma**2, most) / m.p
        return Squares(1.0, s.x - star.x), Gap(reference, s.w)

    def rate(self, m: LSVRG, setting: Setting) -> float:
        return max(1 - m.gamma * setting.mu, 1 - m.p / 2)


def _largest_step(setting: Setting) -> float:
    return 1 / (setting.constants.L_f + 6 * setting.expected / setting.n)


def _largest(setting: Setting, p: float | None = None) -> LSVRG:
    """Take gamma = 1/(L_f + 6 A/n) and p = min{1, 2 gamma mu}, or another p.

    The paper takes p = 1/m for m samples.
    """
    gamma = _largest_step(setting)
    p = min(1.0, 2 * gamma * setting.mu) if p is None else p
    if not 0 < p <= 1:
        raise Refusal(f"p = {p:g} of l-svrg is no probability of a new point; give 0 < p <= 1")
    return LSVRG(gamma, p)


CARD = Card(
    LSVRG,
    label="L-SVRG",
    theorems=(ReferencePoint(),),
    rules={"largest": _largest},
    bill=lambda m, n, vector, message: ((1 + m.p) * vector, vector),
    identities=(lambda c, n: (LSVRG(0.9 / c.L, 0.4), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY},
    colour="#885522",
    marker="h",
)
