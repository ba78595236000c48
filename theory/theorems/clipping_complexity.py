"""Clipped gradient descent's own theorem, and the complexity tables of two papers as functions.

Sources: EPISODE (ICLR 2023), Table 1 and Remark 2; EPISODE++ (NeurIPS 2023), its talk slides.
Table entries are orders: no absolute constants.
"""
# ruff: noqa: E741  (I is the papers' symbol)

import math
from dataclasses import dataclass

from bitbound.theory.theorem import Condition
from bitbound.theory.theorems.episode import Relaxed
from bitbound.theory.theorems.episode_round import factor_A, factor_B


@dataclass(frozen=True)
class ComplexityRow:
    """One row of a complexity table.

    Attributes
    ----------
    method, setting : str
        Of whom, and for which functions.
    rounds : float
        R, communication rounds to an epsilon-stationary point.
    iterations : float
        T_min, the least R*I over I.
    largest_I : float
        Largest I with linear speed-up; nan where the method knows no I.
    """

    method: str
    setting: str
    rounds: float
    iterations: float
    largest_I: float


def episode_table(
    c: Relaxed, L: float, N: int, I: int, epsilon: float
) -> tuple[ComplexityRow, ...]:
    """Evaluate Table 1 of the EPISODE paper; L is the smoothness where one is assumed."""
    Delta, sigma, e = c.Delta, c.sigma, epsilon
    speed = Delta * L * sigma**2 / (N * e**4)
    relaxed_speed = Delta * c.L0 * sigma**2 / (N * e**4)
    slow = c.L0 + c.L1 * (c.kappa + sigma)
    single = (Delta + (c.L0 + c.L1 * sigma) * sigma**2 + _over(sigma * c.L0**2, c.L1)) ** 2 / e**4
    framework = Delta * c.L0 * sigma**2 / e**4
    drift = _over(Delta * L * c.kappa**2 * N * I, sigma**2 * e**2)
    return (
        ComplexityRow(
            "Local SGD",
            "heterogeneous, L-smooth",
            speed / I + drift + Delta * L * N / e**2,
            speed,
            _over(sigma**2, c.kappa * N * e),
        ),
        ComplexityRow(
            "SCAFFOLD",
            "heterogeneous, L-smooth",
            speed / I + Delta * L / e**2,
            speed,
            sigma**2 / (N * e**2),
        ),
        ComplexityRow("Clipped SGD", "single, (L0, L1)-smooth", single, single, math.nan),
        ComplexityRow(
            "Clipping framework", "single, (L0, L1)-smooth", framework, framework, math.nan
        ),
        ComplexityRow(
            "Naive parallel clipping", "(L0, L1)-smooth", relaxed_speed, relaxed_speed, math.nan
        ),
        ComplexityRow(
            "CELGC",
            "homogeneous, (L0, L1)-smooth",
            relaxed_speed / I,
            relaxed_speed,
            sigma / (N * e),
        ),
        ComplexityRow(
            "EPISODE",
            "heterogeneous, (L0, L1)-smooth",
            relaxed_speed / I + Delta * slow / e**2 * (1 + sigma / e),
            relaxed_speed,
            c.L0 * sigma**2 / (slow * (1 + sigma / e) * N * e**2),
        ),
    )


def partial_participation_table(
    c: Relaxed,
    L: float,
    S: int,
    I: int,
    epsilon: float,
) -> tuple[ComplexityRow, ...]:
    """Evaluate the rows of the EPISODE++ slides, S clients per round, up to logarithms.

    The second term of EPISODE++ is the form that agrees with the slides' own largest I.
    """
    Delta, sigma, e = c.Delta, c.sigma, epsilon
    stale = (c.L0 + c.L1 * (c.kappa + c.rho * sigma)) * (sigma + _over(c.L0, c.L1 * c.rho))
    scaffold = Delta * L * sigma**2 / (S * e**4)
    plus = Delta * c.L0 * sigma**2 / (S * e**4)
    return (
        ComplexityRow(
            "SCAFFOLD",
            "L-smooth",
            scaffold / I + Delta * L / e**2,
            scaffold,
            sigma**2 / (S * e**2),
        ),
        ComplexityRow(
            "EPISODE++",
            "(L0, L1)-smooth",
            plus / I + Delta * stale / e**3,
            plus,
            _over(c.L0 * sigma**2, stale * S * e),
        ),
    )


def minibatch_lower_bound(Delta: float, L0: float, L1: float, M: float, epsilon: float) -> float:
    """Return Delta L1 M/(16 eps^2 (1 + ln(L1 M/L0))): rounds of clipped minibatch SGD at least.

    For three clients of which one is drawn per round, M >= L0/L1, Delta >= M/L1, eps < M/2 and
    eps^2 <= sqrt(3) Delta L0/8, on the worst of three instances, whatever step size and threshold.
    """
    return Delta * L1 * M / (16 * epsilon**2 * (1 + math.log(L1 * M / L0)))


@dataclass(frozen=True)
class ClippedGD:
    """Deterministic clipped GD on an (L0, L1)-smooth f: f decreases by s|grad f|^2/2 per step.

    s = min(eta, gamma/|grad f|). Proof: Lemma 5 of EPISODE with A L0 s <= 1/2 and
    B L1 s|grad f| <= 1/2.
    """

    C: float = 1.0

    def conditions(self, L0: float, L1: float, eta: float, gamma: float) -> tuple[Condition, ...]:
        """Return the hypotheses, evaluated."""
        A, B = factor_A(self.C), factor_B(self.C)
        return (
            Condition("eta <= 1/(2 A L0)", eta, _over(1.0, 2 * A * L0)),
            Condition("gamma <= 1/(2 B L1)", gamma, _over(1.0, 2 * B * L1)),
            Condition("gamma <= C/L1", gamma, _over(self.C, L1)),
        )

    def decrease(self, eta: float, gamma: float, slope: float) -> float:
        """Return the least decrease of f in one step from a point with |grad f| = slope."""
        return min(eta * slope**2, gamma * slope) / 2

    def iterations(self, Delta: float, eta: float, gamma: float, epsilon: float) -> float:
        """Return the largest number of iterates with |grad f| > epsilon."""
        return 2 * Delta * max(1 / (eta * epsilon**2), 1 / (gamma * epsilon))


def _over(numerator: float, denominator: float) -> float:
    """Divide, with x/0 = infinity and 0/0 = 0."""
    if denominator == 0:
        return math.inf if numerator > 0 else 0.0
    return numerator / denominator
