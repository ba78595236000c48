"""Normalised EF21: its card, and a theorem on (L0, L1)-smooth functions, proved by us."""

import math
from dataclasses import dataclass
from typing import ClassVar

from certibit.data.errors import Refusal
from certibit.solvers.methods.normalised_ef21 import NormalisedEF21
from certibit.theory.card import Card, Role, compressed_up
from certibit.theory.cards.clipped_sgd import limit, relaxed
from certibit.theory.formulas.episode_round import Relaxed, factor_A, factor_B
from certibit.theory.formulas.error_feedback import error_root
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition


@dataclass(frozen=True)
class NormalisedFeedback:
    """Normalised EF21 without noise: |grad f| falls until it is about as large as the step.

    Every f_i is (L0, L1)-smooth and |grad f_i| <= kappa + rho |grad f|. With s = sqrt(1 - alpha)
    and K = (1 + 3 s)/(2 (1 - s)): if gamma <= C/L1 and gamma <= 1/(2 K B L1 rho), a round decreases
    V = f(x) - f* + (2 gamma/(1 - s)) (1/n) sum_i |grad f_i(x) - g_i| by at least
    gamma |grad f(x)|/2 - gamma^2 K (A L0 + B L1 kappa) in the mean.

    Notes
    -----
    Proof, by hand. The step has length gamma, so
    by Lemmas 5 and 6 of EPISODE f(x+) <= f - gamma |grad f| + 2 gamma |grad f - g| + gamma^2 M/2,
    and the gradients move by at most gamma M in the mean over the clients, M = A L0 + B L1 (kappa +
    rho |grad f|). A contraction leaves s (|grad f_i - g_i| + the move). With c = 2 gamma/(1 - s)
    the errors cancel, 2 gamma + s c = c, and gamma M (gamma/2 + s c) = gamma^2 K M. The method is
    that of arXiv:2410.16871; the constants are our own.
    """

    C: float = 1.0

    title: ClassVar[str] = "Normalised EF21 without noise"
    measure: ClassVar[str] = "gradient_norm"

    def conditions(self, c: Relaxed, gamma: float, alpha: float) -> tuple[Condition, ...]:
        """Return the hypotheses, evaluated."""
        steep = 2 * normalised_growth(alpha) * factor_B(self.C) * c.L1 * c.rho
        return (
            Condition("0 < alpha", 0.0, alpha, strict=True),
            Condition("gamma <= C/L1", gamma, limit(self.C, c.L1)),
            Condition("gamma <= 1/(2 K B L1 rho)", gamma, limit(1.0, steep)),
        )

    def weight(self, gamma: float, alpha: float) -> float:
        """Return 2 gamma/(1 - s), the weight of the mean error of the estimates in V."""
        return 2 * gamma / (1 - error_root(alpha))

    def decrease(self, c: Relaxed, gamma: float, alpha: float, slope: float) -> float:
        """Return the least mean decrease of V in a round from a point with |grad f| = slope."""
        return gamma / 2 * (slope - self.nearest(c, gamma, alpha))

    def nearest(self, c: Relaxed, gamma: float, alpha: float) -> float:
        """Return 2 gamma K (A L0 + B L1 kappa): above it |grad f| falls, below it may stay."""
        smoothness = float(factor_A(self.C) * c.L0 + factor_B(self.C) * c.L1 * c.kappa)
        return 2 * gamma * normalised_growth(alpha) * smoothness

    def mean_slope(self, c: Relaxed, gamma: float, alpha: float, V: float, rounds: int) -> float:
        """Return the bound of the mean of E|grad f| over the rounds, for V at the start."""
        return 2 * V / (gamma * rounds) + self.nearest(c, gamma, alpha)


def normalised_growth(alpha: float) -> float:
    """Return K = (1 + 3 s)/(2 (1 - s)), s = sqrt(1 - alpha)."""
    s = error_root(alpha)
    return (1 + 3 * s) / (2 * (1 - s))


def _largest_step(setting: Setting, epsilon: float = math.inf) -> NormalisedEF21:
    """Take the largest gamma of the theorem with 2 gamma K (A L0 + B L1 kappa) <= epsilon."""
    c, theorem = relaxed(setting), NormalisedFeedback()
    _, *limits = theorem.conditions(c, 1.0, setting.alpha)
    near = theorem.nearest(c, 1.0, setting.alpha)
    gamma = min(*(one.right for one in limits), epsilon / near)
    if not 0 < gamma < math.inf:
        raise Refusal(
            f"{theorem.title} has no largest step for L1 = {c.L1:g}, kappa = {c.kappa:g} and rho = "
            f"{c.rho:g}; give gamma"
        )
    return NormalisedEF21(gamma)


CARD = Card(
    NormalisedEF21,
    label="normalised EF21",
    along_runs=(NormalisedFeedback(),),
    rules={"ours": _largest_step},
    bill=compressed_up,
    roles={"gamma": Role.STEP_SIZE},
    colour="#332288",
    marker="d",
)
