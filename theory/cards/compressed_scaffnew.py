"""CompressedScaffnew: its theorem and parameters, in both regimes of the masks."""

import math

from certibit.solvers.method import Functions
from certibit.solvers.methods.compressed_scaffnew import CompressedScaffnew
from certibit.solvers.methods.scaffnew import Scaffnew, State
from certibit.solvers.simulation.channel import check_owners
from certibit.theory.card import LOCAL_REALS, Card, Orders, Role
from certibit.theory.cards.scaffnew import step_conditions
from certibit.theory.formulas.gradient_step import gradient_step_factor
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


def primal_gain(n: int, s: int) -> float:
    """Return nu = n (s - 1)/(s (n - 1)).

    Averaging s uniformly random ones of n numbers instead of all keeps the part nu of the
    decrease of the sum of squares.
    """
    return n * (s - 1) / (s * (n - 1))


def dual_gain(n: int, s: int) -> float:
    """Return c = (s - 1)/(n - 1), the factor of the mean of e_i = [i owns] (a_i - owners' mean)."""
    return (s - 1) / (n - 1)


class _MaskedAveraging(Theorem):
    """CompressedScaffnew of arXiv:2210.13277; tight.

    If 0 < gamma < 2/L and 0 < eta <= nu = n (s - 1)/(s (n - 1)), then
    tau = max{(1 - gamma mu)^2, (1 - gamma L)^2, 1 - p^2 eta (s - 1)/(n - 1)} for Psi =
    (1/gamma) sum_i |x_i - x*|^2 + (gamma/(p^2 eta)) ((n - 1)/(s - 1)) sum_i |h_i - h_i*|^2 with
    h_i* = grad f_i(x*).
    """

    method = CompressedScaffnew
    title = "CompressedScaffnew"

    def conditions(self, m: CompressedScaffnew, setting: Setting) -> tuple[Condition, ...]:
        limit = Condition("gamma < 2/L", m.gamma, 2 / setting.L, strict=True)
        return (
            *step_conditions(m.gamma, m.p, limit),
            Condition("2 <= s", 2, m.s),
            Condition("s <= n", m.s, setting.n),
            Condition("0 < eta", 0.0, m.eta, strict=True),
            Condition("eta <= n (s - 1)/(s (n - 1))", m.eta, primal_gain(setting.n, m.s)),
        )

    def lyapunov(
        self,
        m: CompressedScaffnew,
        s: State,
        star: State,
        setting: ClassConstants,
        problem: Functions,
    ) -> Terms:
        dual = m.gamma / (m.p**2 * m.eta * dual_gain(setting.n, m.s))
        return Squares(1 / m.gamma, s.x - star.x), Squares(dual, s.h - star.h)

    def rate(self, m: CompressedScaffnew, setting: Setting) -> float:
        gradient = gradient_step_factor(m.gamma, setting.mu, setting.L)
        return max(gradient, 1 - m.p**2 * m.eta * dual_gain(setting.n, m.s))


def balanced_probability(setting: Setting, s: int) -> tuple[float, float]:
    """Return p = min{1, sqrt((1 - tau_0)/(nu c))} and the rate, for gamma = 2/(L + mu), eta = nu.

    tau_0 = (1 - gamma mu)^2; where p < 1 it is the rate.
    """
    tau = gradient_step_factor(2 / (setting.L + setting.mu), setting.mu, setting.L)
    gain = primal_gain(setting.n, s) * dual_gain(setting.n, s)
    p = min(1.0, math.sqrt((1 - tau) / gain))
    return p, max(tau, 1 - p**2 * gain)


def fewest_bits(setting: Setting, largest: int) -> int:
    """Return the s of 2, ..., largest with the least promised uplink, s p/(1 - tau), balanced."""

    def uplink(s: int) -> float:
        p, tau = balanced_probability(setting, s)
        return s * p / (1 - tau)

    return min(range(2, largest + 1), key=uplink)


def published_masks(setting: Setting, s: int = 2) -> CompressedScaffnew:
    """Take gamma = 1/L, eta = nu, p = min{1, sqrt(n/(s kappa))}.

    s is open and 2 by default, as in the figures of the LoCoDL paper.
    """
    check_owners(s, setting.n)
    p = min(1.0, math.sqrt(setting.n / (s * setting.kappa)))
    return CompressedScaffnew(gamma=1 / setting.L, p=p, eta=primal_gain(setting.n, s), s=s)


def balanced_masks(setting: Setting, s: int | None = None) -> CompressedScaffnew:
    """Take gamma = 2/(L + mu), eta = nu, and p such that both parts of the rate are equal.

    s is open; by default it is the one with the smallest promised uplink.
    """
    check_owners(2 if s is None else s, setting.n)
    s = fewest_bits(setting, setting.n) if s is None else s
    p, _ = balanced_probability(setting, s)
    return CompressedScaffnew(
        gamma=2 / (setting.L + setting.mu), p=p, eta=primal_gain(setting.n, s), s=s
    )


MASKED_ORDERS = Orders.of("sqrt((1 + omega)*kappa) + 1 + omega", LOCAL_REALS)
"""Of methods whose clients share masks; omega stands for n/s - 1."""

CARD = Card(
    CompressedScaffnew,
    label="CompressedScaffnew",
    theorems=(_MaskedAveraging(),),
    rules={"published": published_masks, "best": balanced_masks},
    orders=MASKED_ORDERS,
    bill=lambda m, n, vector, message: (m.s * vector / n, vector),
    identities=(lambda c, n: (CompressedScaffnew(1 / c.L, 0.4, 1.0, n), Scaffnew(1 / c.L, 0.4)),),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY, "s": Role.OWNERS},
    colour="#CC79A7",
    marker="v",
)
