"""One round of EPISODE: the formulas of the lemmas and claims that bound it.

Source: Crawshaw, Bao, Liu, "EPISODE: episodic gradient clipping with periodic resampled
corrections for federated learning with heterogeneous data", ICLR 2023; equation numbers are of
its appendix. The formulas use arithmetic operators only: their symbols may be numbers, arrays,
fractions or decimals, which is what the audit of the proof does with them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from certibit.theory.theorem import Condition


class Relaxed(Protocol):
    """Exact constants of a problem: every f_i is (L0, L1)-smooth.

    |grad f_i| <= kappa + rho|grad f| with rho >= 1; the noise of a stochastic gradient is at most
    sigma, and Delta >= f(x_0) - min f.
    """

    @property
    def L0(self) -> float: ...  # noqa: N802
    @property
    def L1(self) -> float: ...  # noqa: N802
    @property
    def kappa(self) -> float: ...
    @property
    def rho(self) -> float: ...
    @property
    def sigma(self) -> float: ...
    @property
    def Delta(self) -> float: ...  # noqa: N802


PRINTED: Mapping[str, Fraction] = MappingProxyType(
    {
        "square": Fraction(36),  # Lemma 3, (14)
        "square_noise": Fraction(126),
        "linear": Fraction(18),  # Lemma 3, (15)
        "linear_noise": Fraction(5),
        "mu": Fraction(2, 5),  # Claim 1: the mu put into Lemma 7
        "claim_2": Fraction(36),
        "claim_2_noise": Fraction(126),
        "claim_3_clipped": Fraction(2),
        "claim_3_noise": Fraction(4),
        "claim_3_square": Fraction(4),
        "V_square": Fraction(36),  # Lemma 4
        "V_linear": Fraction(9),
        "V_noise": Fraction(90),
        "V_variance": Fraction(2),
        "U_slope": Fraction(4),
        "U_smoothness": Fraction(3),
        "U_kappa": Fraction(2),
        "U_noise": Fraction(6),
    }
)
"""The constants in the statements of Lemmas 3 and 4 and Claims 1 to 3, as printed."""


def factor_A(C: Any) -> Any:  # noqa: N802  (the paper's symbol)
    """Return A = 1 + e^C - (e^C - 1)/C of Lemmas 5 and 6; 2 at C = 1."""
    return 1 + np.exp(C) - factor_B(C)


def factor_B(C: Any) -> Any:  # noqa: N802
    """Return B = (e^C - 1)/C of Lemmas 5 and 6; e - 1 at C = 1."""
    return (np.exp(C) - 1) / C


@dataclass(frozen=True)
class Round:
    """The constants of a problem and the parameters of one round of EPISODE.

    Attributes
    ----------
    L0, L1, kappa, rho, sigma
        See `Relaxed`.
    N, I
        Clients; local steps per round.
    eta, tau
        Step size; clipping threshold gamma/eta, a gradient norm.
    C
        The free constant of Lemmas 5 and 6, positive.
    """

    L0: Any
    L1: Any
    kappa: Any
    rho: Any
    sigma: Any
    N: Any
    I: Any
    eta: Any
    tau: Any
    C: Any = 1

    @property
    def A(self) -> Any:  # noqa: N802
        """Of Lemmas 5 and 6."""
        return factor_A(self.C)

    @property
    def B(self) -> Any:  # noqa: N802
        """Of Lemmas 5 and 6."""
        return factor_B(self.C)

    @property
    def gamma(self) -> Any:
        """Clipping parameter tau*eta, a length."""
        return self.tau * self.eta

    @property
    def Gamma(self) -> Any:  # noqa: N802
        """Gamma = A L0 + B L1 kappa + B L1 rho (sigma + tau)."""
        return self.A * self.L0 + self.B * self.L1 * (
            self.kappa + self.rho * (self.sigma + self.tau)
        )

    @property
    def L(self) -> Any:  # noqa: N802
        """Lemma 2: bound of the Hessians of the f_i along an unclipped round."""
        spread = self.tau + 2 * self.sigma
        return self.L0 + self.L1 * (self.kappa + (self.rho + 1) * spread)

    @property
    def plain_distance(self) -> Any:
        """Lemma 1, (8): largest distance from the round's start if it is unclipped."""
        return 2 * self.eta * self.I * (2 * self.sigma + self.tau)

    @property
    def clipped_distance(self) -> Any:
        """Lemma 1, (9): largest distance from the round's start if it is clipped."""
        return self.gamma * self.I

    def hypotheses(self) -> tuple[Condition, ...]:
        """Return the hypotheses of Lemmas 1 to 4, evaluated (numbers only)."""
        reach = self.C / self.L1 if self.L1 else math.inf
        return (
            Condition("2 eta I Gamma <= 1", 2 * self.eta * self.I * self.Gamma, 1.0),
            Condition("2 eta I (2 sigma + tau) <= C/L1", self.plain_distance, reach),
            Condition("gamma I <= C/L1", self.clipped_distance, reach),
        )

    def lemma_3_square(self, slope: Any, p: Any, k: Any) -> Any:
        """Return the bound (14) of E[1(A)|x_t - x|^2]; slope = |grad f(x)|, p = P(A)."""
        return p * (self.I * self.eta) ** 2 * (k.square * slope**2 + k.square_noise * self.sigma**2)

    def lemma_3_linear(self, slope: Any, p: Any, k: Any) -> Any:
        """Return the bound (15) of E[1(A)|x_t - x|^2]."""
        noise = self.tau * self.sigma + k.linear_noise * self.sigma**2
        return k.linear * p * (self.I * self.eta) ** 2 * (self.tau * slope + noise)

    def claim_1(self, slope: Any, p: Any, k: Any) -> Any:
        """Return Claim 1's bound of the decrease in a clipped round."""
        step = self.gamma * self.I
        reach = 2 * step**2
        return (1 - p) * (
            (-k.mu * step + reach * self.B * self.L1 * self.rho) * slope
            - (1 - k.mu) * step * self.tau
            + reach * (self.A * self.L0 + self.B * self.L1 * self.kappa)
            + k.U_noise * step * self.sigma
        )

    def claim_2(self, slope: Any, p: Any, Q: Any, k: Any) -> Any:
        """Return Claim 2's bound of the decrease in an unclipped round.

        Q = E[1(A)|(1/N) sum_i sum_t grad f_i(x_t^i)|^2].
        """
        cube = (self.I * self.eta) ** 3 * self.Gamma**2
        return (
            p * ((-self.eta * self.I / 2 + k.claim_2 * cube) * slope**2)
            + p * k.claim_2_noise * cube * self.sigma**2
            - self.eta / (2 * self.I) * Q
        )

    def claim_3(self, p: Any, Q: Any, k: Any) -> Any:
        """Return Claim 3's bound of E|x_{r+1} - x_r|^2."""
        return (
            k.claim_3_clipped * (1 - p) * (self.gamma * self.I) ** 2
            + k.claim_3_noise * p * self.I * (self.sigma * self.eta) ** 2 / self.N
            + k.claim_3_square * self.eta**2 * Q
        )

    def V(self, slope: Any, k: Any, general: bool = False) -> Any:  # noqa: N802
        """Return Lemma 4's bound of the expected decrease in an unclipped round.

        ``general``: f itself need not be (L0, L1)-smooth; then B L1 becomes B L1 rho and A L0
        becomes A L0 + B L1 kappa, the constants that every mean of f_i has.
        """
        step = self.eta * self.I
        curvature = self.B * self.L1 * (self.rho if general else 1)
        base = self.A * self.L0 + (self.B * self.L1 * self.kappa if general else 0)
        cube = (step * self.Gamma) ** 2 * step
        noise = k.linear_noise * self.sigma**2 + self.tau * self.sigma
        return (
            (-step / 2 + k.V_square * cube + k.V_linear * self.tau * curvature * step**2) * slope**2
            + k.V_linear * curvature * step**2 * noise * slope
            + k.V_noise * cube * self.sigma**2
            + k.V_variance * base * step * self.eta * self.sigma**2 / self.N
        )

    def U(self, slope: Any, k: Any, general: bool = False) -> Any:  # noqa: N802
        """Return Lemma 4's bound of the expected decrease in a clipped round; see `V`."""
        step = self.gamma * self.I
        own = self.rho if general else 1
        kappa = k.U_kappa + (1 if general else 0)
        return (
            (-k.mu * step + self.B * self.L1 * (k.U_slope * self.rho + own) * step**2 / 2) * slope
            - (1 - k.mu) * step * self.tau
            + step**2 * (k.U_smoothness * self.A * self.L0 + kappa * self.B * self.L1 * self.kappa)
            + k.U_noise * step * self.sigma
        )
