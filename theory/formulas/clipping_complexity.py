"""The complexity tables of two papers as functions.

Sources: EPISODE (ICLR 2023), Table 1; EPISODE++ (NeurIPS 2023), its talk slides.
Table entries are orders: no absolute constants.
"""

import math
from dataclasses import dataclass

from certibit.theory.formulas.episode_round import Relaxed


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
    c: Relaxed, L: float, N: int, S: int, I: int, epsilon: float
) -> tuple[ComplexityRow, ...]:
    """Evaluate the rows of the EPISODE++ slides, S of N clients per round, up to logarithms.

    Local SGD, CELGC and EPISODE are those of Table 1 of the EPISODE paper; the slides have no Delta
    in T_min of Local SGD, and N below the last term of its R. The largest I of SCAFFOLD has S, as
    its R has, where the slides have N. The second term of EPISODE++, their Theorem 1, is the form
    that agrees with the slides' own largest I; its constants are not in the talk.
    """
    full = {row.method: row for row in episode_table(c, L, N, I, epsilon)}
    Delta, sigma, e = c.Delta, c.sigma, epsilon
    stale = (c.L0 + c.L1 * (c.kappa + c.rho * sigma)) * (sigma + _over(c.L0, c.L1 * c.rho))
    scaffold = Delta * L * sigma**2 / (S * e**4)
    plus = Delta * c.L0 * sigma**2 / (S * e**4)
    return (
        full["Local SGD"],
        ComplexityRow(
            "SCAFFOLD",
            "S of N, heterogeneous, L-smooth",
            scaffold / I + Delta * L / e**2,
            scaffold,
            sigma**2 / (S * e**2),
        ),
        full["CELGC"],
        full["EPISODE"],
        ComplexityRow(
            "EPISODE++",
            "S of N, heterogeneous, (L0, L1)-smooth",
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


def _over(numerator: float, denominator: float) -> float:
    """Divide, with x/0 = infinity and 0/0 = 0."""
    if denominator == 0:
        return math.inf if numerator > 0 else 0.0
    return numerator / denominator
