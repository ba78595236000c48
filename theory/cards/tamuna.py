"""TAMUNA: its theorem and parameters; those of CompressedScaffnew, whatever the cohort size."""

from certibit.data.errors import Refusal
from certibit.solvers.method import Functions
from certibit.solvers.methods.compressed_scaffnew import CompressedScaffnew
from certibit.solvers.methods.scaffnew import Scaffnew, State
from certibit.solvers.methods.tamuna import TAMUNA
from certibit.solvers.simulation.channel import check_owners
from certibit.theory.card import Card, Role
from certibit.theory.cards.compressed_scaffnew import (
    MASKED_ORDERS,
    balanced_masks,
    dual_gain,
    fewest_bits,
    primal_gain,
    published_masks,
)
from certibit.theory.cards.scaffnew import step_conditions
from certibit.theory.formulas.gradient_step import gradient_step_factor
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


class _MaskedCohorts(Theorem):
    """TAMUNA, arXiv:2302.09832, per local step; tight.

    If 0 < gamma < 2/L and 0 < chi <= nu = n (s - 1)/(s (n - 1)), then
    tau = max{(1 - gamma mu)^2, (1 - gamma L)^2, 1 - p^2 chi (s - 1)/(n - 1)}. The cohort size m
    does not enter: the owners of an entry are a uniformly random s-subset of all n clients, and Psi
    is that of CompressedScaffnew, Psi = (1/gamma) sum_i |x_i - x*|^2
    + (gamma/(p^2 chi)) ((n - 1)/(s - 1)) sum_i |h_i - h_i*|^2 with h_i* = grad f_i(x*).
    """

    method = TAMUNA
    title = "TAMUNA"

    def conditions(self, m: TAMUNA, setting: Setting) -> tuple[Condition, ...]:
        limit = Condition("gamma < 2/L", m.gamma, 2 / setting.L, strict=True)
        return (
            *step_conditions(m.gamma, m.p, limit),
            Condition("2 <= s", 2, m.s),
            Condition("s <= m", m.s, m.m),
            Condition("m <= n", m.m, setting.n),
            Condition("0 < chi", 0.0, m.chi, strict=True),
            Condition("chi <= n (s - 1)/(s (n - 1))", m.chi, primal_gain(setting.n, m.s)),
        )

    def lyapunov(
        self, m: TAMUNA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        dual = m.gamma / (m.p**2 * m.chi * dual_gain(setting.n, m.s))
        return Squares(1 / m.gamma, s.x - star.x), Squares(dual, s.h - star.h)

    def rate(self, m: TAMUNA, setting: Setting) -> float:
        gradient = gradient_step_factor(m.gamma, setting.mu, setting.L)
        return max(gradient, 1 - m.p**2 * m.chi * dual_gain(setting.n, m.s))


def _published(setting: Setting, s: int = 2, m: int | None = None) -> TAMUNA:
    """Take gamma = 1/L, chi = nu, p = min{1, sqrt(n/(s kappa))}; s and m are open, 2 and n."""
    m = _cohort(setting, s, m)
    full = published_masks(setting, s)
    return TAMUNA(full.gamma, full.p, chi=full.eta, s=s, m=m)


def _best(setting: Setting, s: int | None = None, m: int | None = None) -> TAMUNA:
    """Take gamma = 2/(L + mu), chi = nu, and p such that both parts of the rate are equal.

    s and m are open; by default s <= m is the one with the smallest promised uplink, and m is n.
    """
    m = _cohort(setting, 2 if s is None else s, m)
    full = balanced_masks(setting, fewest_bits(setting, m) if s is None else s)
    return TAMUNA(full.gamma, full.p, chi=full.eta, s=full.s, m=m)


def _cohort(setting: Setting, s: int, m: int | None) -> int:
    m = setting.n if m is None else m
    if m > setting.n:
        raise Refusal(f"a cohort of m = {m} of {setting.n} clients; choose m <= {setting.n}")
    check_owners(s, m)
    return m


def _bill(m: TAMUNA, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of the owned entries up, and of all entries, or twice some, down."""
    owned = m.s * vector / n
    return owned, vector if m.m == n else m.m * vector / n + owned


CARD = Card(
    TAMUNA,
    label="TAMUNA",
    theorems=(_MaskedCohorts(),),
    rules={"published": _published, "best": _best},
    orders=MASKED_ORDERS,
    bill=_bill,
    identities=(
        lambda c, n: (TAMUNA(1 / c.L, 0.4, 1.0, n, n), Scaffnew(1 / c.L, 0.4)),
        lambda c, n: (
            TAMUNA(1 / c.L, 0.4, 0.7, 2, n),
            CompressedScaffnew(1 / c.L, 0.4, 0.7, 2),
        ),
    ),
    roles={
        "gamma": Role.STEP_SIZE,
        "p": Role.PROBABILITY,
        "s": Role.OWNERS,
        "m": Role.COUNT,
    },
    colour="#8B00F2",
    marker="h",
)
