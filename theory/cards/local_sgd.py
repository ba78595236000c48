"""Local SGD: a theorem for smooth f_i that differ by zeta, and its parameters."""

from certibit.data.errors import Refusal
from certibit.solvers.method import Functions
from certibit.solvers.methods.local_sgd import LocalSGD, State
from certibit.solvers.methods.sgd import SGD
from certibit.theory.card import Card, Role, uncompressed_both_ways
from certibit.theory.potential import ClassConstants, Gap, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _DriftingClients(Theorem):
    """Local SGD when f is bounded from below, each f_i L-smooth, noise of variance sigma^2.

    With (1/n) sum_i |grad f_i(x) - grad f(x)|^2 <= zeta^2 and 0 < gamma I L <= 1/2 one round has
    c = gamma I/2 - D, e = L gamma^2 I/n + gamma^3 L^2 I (I - 1) and the coefficient D of zeta^2,
    D = (2/3) gamma^3 L^2 I (I - 1) (2 I - 1). Psi = f(x) - inf f. Proved by us; the terms are those
    of Koloskova, Loizou, Boreiri, Jaggi, Stich, arXiv:2003.10422, whose constants are not stated.

    Proof. Let d be the mean over i and the I steps of grad f_i(y_i), V_k = (1/n) sum_i E|y_i - x|^2
    after k steps, and V their sum. The steps are -gamma I d plus noise of the mean of variance
    gamma^2 I sigma^2/n, so that E f(x+) <= f(x) - (gamma I/2) (|grad f(x)|^2 + |d|^2 - E|grad f(x)
    - d|^2) + L gamma^2 I^2 E|d|^2 + L gamma^2 I sigma^2/n, and E|grad f(x) - d|^2 <= L^2 V/I. Since
    V_k <= 2 gamma^2 k sigma^2 + 2 gamma^2 k sum_{j < k} (2 L^2 V_j + 2 zeta^2 + 2 |grad f(x)|^2),
    V <= 2 gamma^2 I (I - 1) (sigma^2 + (2/3) (2 I - 1) (zeta^2 + |grad f(x)|^2)).
    """

    method = LocalSGD
    title = "local SGD, nonconvex"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: LocalSGD, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma I L <= 1/2", m.gamma * m.I * setting.L, 0.5),
        )

    def lyapunov(
        self, m: LocalSGD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Gap(1.0, s.x),)

    def descent(self, m: LocalSGD, setting: Setting) -> float:
        return m.gamma * m.I / 2 - self.dissimilarity(m, setting)

    def noise(self, m: LocalSGD, setting: Setting) -> float:
        drift = m.gamma**3 * setting.L**2 * m.I * (m.I - 1)
        return setting.L * m.gamma**2 * m.I / setting.n + drift

    def dissimilarity(self, m: LocalSGD, setting: Setting) -> float:
        return 2 / 3 * m.gamma**3 * setting.L**2 * m.I * (m.I - 1) * (2 * m.I - 1)


def _nonconvex(setting: Setting, I: int = 4) -> LocalSGD:
    """Take gamma = 1/(4 I L), for I = 4 local steps or another number."""
    if I < 1:
        raise Refusal(f"I = {I!r} of local-sgd is no number of local steps; give one from 1")
    return LocalSGD(1 / (4 * I * setting.L), I)


CARD = Card(
    LocalSGD,
    label="local SGD",
    theorems=(_DriftingClients(),),
    rules={"nonconvex": _nonconvex},
    bill=uncompressed_both_ways,
    identities=(lambda c, n: (LocalSGD(0.9 / c.L, 1), SGD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "I": Role.COUNT},
    colour="#DDAA33",
    marker="*",
)
