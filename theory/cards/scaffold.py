"""SCAFFOLD: theorems for cohorts, the published one, one for smooth f_i, and their step sizes."""

import math

from certibit.data.errors import Refusal
from certibit.solvers.method import Functions
from certibit.solvers.methods.fedcomgate import FedCOMGATE
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.scaffold import SCAFFOLD, State
from certibit.theory.card import Card, Orders, Role
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _ControlVariates(Theorem):
    """Psi = |x - x*|^2 + (b/m) (K eta_l eta_g)^2 sum_i |c_i - grad f_i(x*)|^2, b = 3/5 + 3 w."""

    method = SCAFFOLD

    def lyapunov(
        self, m: SCAFFOLD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        b = 3 / 5 + 3 * _sampling_variance(setting.n, m.m)
        control = b / m.m * (m.K * m.eta_l * m.eta_g) ** 2
        return Squares(1.0, s.x - star.x), Squares(control, s.c_i - star.c_i)


class Cohorts(_ControlVariates):
    """SCAFFOLD with uniform cohorts of m clients and exact gradients, either option, per round.

    Let w = (n - m)/(m (n - 1)). If s = K eta_l eta_g <= 1/(4 L (1 + 2 w)) and eta_g >= 1, then
    tau = max{1 - s mu/2, 1 - m/(8 n)}, for every K; with full participation, w = 0 and
    tau = 1 - s mu/2; proved by us, with u = s L, D = f(x) - f*,
    C = (1/n) sum_i |c_i - grad f_i(x*)|^2: gradient steps do not increase the norm of a gradient,
    so the drift of the local models is E <= (s^2/3) (4 L D + 2 C), whoever is drawn, and

        |x - x*|^2  becomes at most  (1 - s mu/2) |x - x*|^2 - (2 s - 4 L s^2) D
                                     + 2 u (1 + u) E + s^2 w (4 L D + 2 C),
        C           becomes at most  (1 - m/n) C + (m/n) (4 L D + 2 L^2 E).

    With the weight (n/m) b s^2, b = 3/5 + 3 w, of C the claim needs
    u (4 + 4 w + 4 b) + (8/3) u^2 (1 + u + b u) <= 2 and
    2 w + (4/3) u (1 + u + b u) <= (7/8) b: true for u <= 1/(4 + 8 w).
    """

    title = "SCAFFOLD, cohorts"
    published = False

    def conditions(self, m: SCAFFOLD, setting: Setting) -> tuple[Condition, ...]:
        step = m.K * m.eta_l * m.eta_g
        return (
            Condition("0 < K eta_l eta_g", 0.0, step, strict=True),
            Condition("K eta_l eta_g <= 1/(4 L (1 + 2 w))", step, _largest_step(setting, m.m)),
            Condition("1 <= eta_g", 1.0, m.eta_g),
            Condition("1 <= m", 1, m.m),
            Condition("m <= n", m.m, setting.n),
        )

    def rate(self, m: SCAFFOLD, setting: Setting) -> float:
        step = m.K * m.eta_l * m.eta_g
        return max(1 - step * setting.mu / 2, 1 - m.m / (8 * setting.n))


class Published(_ControlVariates):
    """SCAFFOLD with cohorts of m clients, the published theorem without noise, per round.

    If eta_g >= 1, eta_l <= 1/(81 L K eta_g) and eta_l <= m/(15 mu n K eta_g), then
    tau = 1 - K eta_l eta_g mu/2. Karimireddy et al., arXiv:1910.06378, bound a weighted mean of the
    models after R rounds by exp(-min{m/(30 n), mu/(162 L)} R) up to logarithms, which is tau^R at
    the largest steps. With the potential of :class:`Cohorts` it follows from that theorem:
    81 >= 4 (1 + 2 w) and mu K eta_l eta_g/2 <= m/(30 n).
    """

    title = "SCAFFOLD, published"

    def conditions(self, m: SCAFFOLD, setting: Setting) -> tuple[Condition, ...]:
        step = m.K * m.eta_l * m.eta_g
        slow = m.m / (15 * setting.mu * setting.n)
        return (
            Condition("0 < K eta_l eta_g", 0.0, step, strict=True),
            Condition("K eta_l eta_g <= 1/(81 L)", step, 1 / (81 * setting.L)),
            Condition("K eta_l eta_g <= m/(15 mu n)", step, slow),
            Condition("1 <= eta_g", 1.0, m.eta_g),
            Condition("1 <= m", 1, m.m),
            Condition("m <= n", m.m, setting.n),
        )

    def rate(self, m: SCAFFOLD, setting: Setting) -> float:
        return 1 - m.K * m.eta_l * m.eta_g * setting.mu / 2


class _RandomLocalSteps(Theorem):
    """SCAFFOLD with all clients, option II, when each f_i is L-smooth, noise of variance sigma^2.

    With eta_l > 0, eta_g > 0, s = K eta_l eta_g <= 12/(25 L), K eta_l <= 1/(8 L), p = (4/9)
    (eta_l L)^2 (K - 1) (2 K - 1) and A = s p/(2 (1 - 4 p)) one round has c = s/2 - A and e = L
    s^2/(n K) + (2/3) s (eta_l L)^2 (K - 1) + A (2/K + (16/3) (eta_l L)^2 (K - 1) + 8 (L s)^2/(n
    K)). Psi = f(x) - inf f + A (1/n) sum_i |c_i - grad f_i(x)|^2. Proved by us, for f that is
    bounded from below; the rate of Karimireddy et al., arXiv:1910.06378, for functions that need
    not be convex has the same terms.

    Proof. Let B^2 = |grad f(x)|^2 + (1/n) sum_i |c_i - grad f_i(x)|^2. As c is the mean of the c_i,
    r_k^2 = (1/n) sum_i E|y_i - x|^2 after k local steps has r_(k+1)^2 <= ((1 + eta_l L) r_k +
    eta_l B)^2 + eta_l^2 sigma^2, so that r_k <= exp(K eta_l L) eta_l (k B + sqrt(k) sigma), and the
    mean V of r_k^2 over the K steps is at most (4/3) eta_l^2 (K - 1) ((2 K - 1) B^2/3 + sigma^2).
    Let d be the mean over i and the K steps of grad f_i(y_i). x+ is x less s d and noise of the
    mean of variance s^2 sigma^2/(n K), so that E f(x+) <= f(x) - (s/2) (|grad f(x)|^2 + E|d|^2 -
    L^2 V) + L s^2 E|d|^2 + L s^2 sigma^2/(n K). As c_i+ is the mean of the sampled gradients, the
    mean of E|c_i+ - grad f_i(x+)|^2 is at most 2 sigma^2/K + 4 L^2 V + 4 L^2 E|x+ - x|^2.
    """

    method = SCAFFOLD
    title = "SCAFFOLD, nonconvex"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: SCAFFOLD, setting: Setting) -> tuple[Condition, ...]:
        step = m.K * m.eta_l * m.eta_g
        return (
            Condition("option II", float(m.option != "II"), 0.0),
            Condition("n <= m", setting.n, m.m),
            Condition("m <= n", m.m, setting.n),
            Condition("0 < eta_l", 0.0, m.eta_l, strict=True),
            Condition("0 < eta_g", 0.0, m.eta_g, strict=True),
            Condition("K eta_l eta_g <= 12/(25 L)", step, 12 / (25 * setting.L)),
            Condition("K eta_l <= 1/(8 L)", m.K * m.eta_l, 1 / (8 * setting.L)),
        )

    def lyapunov(
        self, m: SCAFFOLD, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        weight = _weight_of_drift(m, setting) / setting.n
        return Gap(1.0, s.x), Squares(weight, s.c_i - problem.grad(s.x))

    def descent(self, m: SCAFFOLD, setting: Setting) -> float:
        return m.K * m.eta_l * m.eta_g / 2 - _weight_of_drift(m, setting)

    def noise(self, m: SCAFFOLD, setting: Setting) -> float:
        step, drift = m.K * m.eta_l * m.eta_g, (m.eta_l * setting.L) ** 2 * (m.K - 1)
        shared = setting.L * step / (setting.n * m.K)
        controls = 2 / m.K + 16 / 3 * drift + 8 * setting.L * step * shared
        return step * (shared + 2 / 3 * drift) + _weight_of_drift(m, setting) * controls


def _weight_of_drift(m: SCAFFOLD, setting: ClassConstants) -> float:
    """Return A = s p/(2 (1 - 4 p)), s = K eta_l eta_g, p = (4/9) (eta_l L)^2 (K - 1) (2 K - 1)."""
    p = 4 / 9 * (m.eta_l * setting.L) ** 2 * (m.K - 1) * (2 * m.K - 1)
    return m.K * m.eta_l * m.eta_g * p / (2 * (1 - 4 * p))


def _sampling_variance(n: int, m: int) -> float:
    """Variance factor of the mean of m of n vectors, drawn without replacement.

    E|mean_S - mean|^2 <= (n - m)/(m (n - 1)) (1/n) sum_i |a_i|^2; 0 for m = n.
    """
    return (n - m) / (m * (n - 1)) if n > 1 else 0.0


def _largest_step(setting: Setting, m: int) -> float:
    """Return 1/(4 L (1 + 2 w)), the bound on K eta_l eta_g."""
    return 1 / (4 * setting.L * (1 + 2 * _sampling_variance(setting.n, m)))


def _published(setting: Setting, K: int = 5, m: int | None = None) -> SCAFFOLD:
    """Eta_g = sqrt(m), eta_l = min{1/(81 L K eta_g), m/(15 mu n K eta_g)}.

    The step sizes of the published theorem for strongly convex f_i, arXiv:1910.06378. The number K
    of local steps and the cohort size m are open, by default 5 and n; no promise depends on K.
    """
    m = _cohort(setting, m)
    step = min(1 / (81 * setting.L), m / (15 * setting.mu * setting.n))
    return SCAFFOLD(K, eta_l=step / (K * math.sqrt(m)), eta_g=math.sqrt(m), m=m)


def _best(setting: Setting, K: int = 5, m: int | None = None) -> SCAFFOLD:
    """Eta_g = 1 and eta_l = 1/(4 L (1 + 2 w) K): tau = 1 - 1/(8 kappa) with all clients.

    K and the cohort size m are open, by default 5 and n.
    """
    m = _cohort(setting, m)
    return SCAFFOLD(K, _largest_step(setting, m) / K, eta_g=1.0, m=m, traffic="minimal")


def _nonconvex(setting: Setting, K: int = 5) -> SCAFFOLD:
    """Eta_g = 4 and eta_l = 3/(25 K L), with all clients; K is open, by default 5."""
    return SCAFFOLD(K, 3 / (25 * K * setting.L), eta_g=4.0, m=setting.n, traffic="minimal")


def _cohort(setting: Setting, m: int | None) -> int:
    if m is None:
        return setting.n
    if not 1 <= m <= setting.n:
        raise Refusal(
            f"a cohort of m = {m} of {setting.n} clients; choose m between 1 and {setting.n}"
        )
    return m


def _bill(m: SCAFFOLD, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of two vectors each way, or one where the other can be found from it."""
    minimal = m.traffic == "minimal"
    up, down = (1 if minimal else 2), (1 if minimal and m.m == n else 2)
    return up * vector * m.m / n, down * vector * m.m / n


CARD = Card(
    SCAFFOLD,
    label="SCAFFOLD",
    theorems=(Cohorts(), Published(), _RandomLocalSteps()),
    rules={"published": _published, "best": _best, "nonconvex": _nonconvex},
    orders=Orders.of("kappa", "d*kappa"),
    bill=_bill,
    identities=(
        lambda c, n: (SCAFFOLD(1, 0.9 / c.L, 1.0, n), GD(0.9 / c.L)),
        lambda c, n: (SCAFFOLD(4, 0.1 / c.L, 1.0, n), FedCOMGATE(4, 0.1 / c.L, 1.0, 1.0)),
    ),
    roles={
        "eta_l": Role.STEP_SIZE,
        "eta_g": Role.STEP_SIZE,
        "K": Role.COUNT,
        "m": Role.COUNT,
    },
    colour="#000000",
    marker="X",
)
