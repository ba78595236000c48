"""SCAFFOLD: a one-step theorem for full participation, and the published step sizes."""

import math

from bitbound.data.errors import Refusal
from bitbound.solvers.methods.scaffold import SCAFFOLD
from bitbound.theory.theorem import Condition, Entry, Setting, Theorem


class FullParticipation(Theorem):
    """SCAFFOLD with full participation and exact gradients, either option, per round.

    If eta = K eta_l eta_g <= 1/(4 L) and eta_g >= 1, then tau = 1 - eta mu/2, for every K. Our
    own proof: nonexpansive gradient steps bound the drift of the local models by
    |y_i - x| <= k eta_l |grad f_i(x) - c_i + c|, and perturbed strong convexity does the rest.
    The new c_i are means of gradients at local models, or gradients at x, which is better.
    """

    method = SCAFFOLD
    title = "SCAFFOLD, full participation"

    def conditions(self, m: SCAFFOLD, setting: Setting) -> tuple[Condition, ...]:
        step = m.K * m.eta_l * m.eta_g
        return (
            Condition("0 < K eta_l eta_g", 0.0, step, strict=True),
            Condition("K eta_l eta_g <= 1/(4 L)", step, 1 / (4 * setting.L)),
            Condition("1 <= eta_g", 1.0, m.eta_g),
            Condition("n <= m", setting.n, m.m),
        )

    def rate(self, m: SCAFFOLD, setting: Setting) -> float:
        return 1 - m.K * m.eta_l * m.eta_g * setting.mu / 2


def paper(setting: Setting, K: int = 5, m: int | None = None) -> SCAFFOLD:
    """Eta_g = sqrt(m), eta_l = min{1/(81 L K eta_g), m/(15 mu n K eta_g)}.

    The step sizes of the published theorem for strongly convex f_i, arXiv:1910.06378. The number K
    of local steps and the cohort size m are open, by default 5 and n; no promise depends on K.
    """
    m = setting.n if m is None else m
    if not 1 <= m <= setting.n:
        raise Refusal(
            f"a cohort of m = {m} of {setting.n} clients; choose m between 1 and {setting.n}"
        )
    step = min(1 / (81 * setting.L), m / (15 * setting.mu * setting.n))
    return SCAFFOLD(K, eta_l=step / (K * math.sqrt(m)), eta_g=math.sqrt(m), m=m)


def best(setting: Setting, K: int = 5) -> SCAFFOLD:
    """Full participation, eta_g = 1 and eta_l = 1/(4 L K): tau = 1 - 1/(8 kappa); K is open."""
    return SCAFFOLD(K, eta_l=1 / (4 * setting.L * K), eta_g=1.0, m=setting.n, traffic="minimal")


ENTRY = Entry(SCAFFOLD, (FullParticipation(),), {"paper": paper, "best": best})
