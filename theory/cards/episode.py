"""EPISODE: Theorem 1 in its two printed forms and a general one.

Source: Crawshaw, Bao, Liu, "EPISODE: episodic gradient clipping with periodic resampled
corrections for federated learning with heterogeneous data", ICLR 2023; `episode_round` has the
lemmas on one round. The general form is the main text's with L0 + (B/A) L1 kappa in the place of
L0 in the third limit of the step size: it needs (L0, L1)-smoothness of the f_i alone, for their
mean f is (L0 + L1 kappa, rho L1)-smooth. `certibit.theory.audit` checks all three.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from certibit.data.errors import Refusal
from certibit.solvers.method import participants
from certibit.solvers.methods.episode import EPISODE
from certibit.theory.card import Card, Role
from certibit.theory.cards.clipped_sgd import relaxed
from certibit.theory.formulas.episode_round import Relaxed, factor_A, factor_B
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, NormPromise, NormTheorem


@dataclass(frozen=True)
class Parameters:
    """The choice of Theorem 1: step size, threshold tau = gamma/eta, length gamma, rounds R."""

    eta: float
    tau: float
    gamma: float
    R: int


@dataclass(frozen=True)
class Theorem1(NormTheorem):
    """EPISODE, Theorem 1: the mean of E|grad f(x_r)| over r = 0..R is at most 3 epsilon.

    Its proof has E f(x+) <= f(x) - (epsilon/4) eta I |grad f(x)| + (epsilon^2/2) eta I for every
    epsilon between the least, from the limits of eta by the noise, and the largest.

    Attributes
    ----------
    name : str
        Which form.
    limits : (3,)
        The constants of eta <= min{1/(c_1 Gamma I), eps/(c_2 Gamma I sigma),
        N eps^2/(c_3 A Lambda sigma^2)}.
    general : bool
        Whether Lambda = L0 + (B/A) L1 kappa, which needs nothing of f itself; otherwise
        Lambda = L0, and f must be (L0, L1)-smooth.
    """

    name: str
    limits: tuple[int, int, int]
    general: bool

    title: ClassVar[str] = "EPISODE, Theorem 1"
    method: ClassVar[type[EPISODE]] = EPISODE

    def threshold(self, c: Relaxed, C: float = 1.0) -> float:
        """Return tau = 11 sigma + A L0/(B L1 rho); infinite (never clip) if L1 = 0."""
        if c.L1 == 0:
            return math.inf
        return float(11 * c.sigma + factor_A(C) * c.L0 / (factor_B(C) * c.L1 * c.rho))

    def Gamma(self, c: Relaxed, C: float = 1.0) -> float:  # noqa: N802
        """Return Gamma at the theorem's tau: 2 A L0 + B L1 kappa + 12 B L1 rho sigma."""
        A, B = factor_A(C), factor_B(C)
        return float(2 * A * c.L0 + B * c.L1 * (c.kappa + 12 * c.rho * c.sigma))

    def largest_epsilon(self, c: Relaxed, C: float = 1.0) -> float:
        """Return 3 A L0/(5 B L1 rho), the largest tolerance allowed; infinite if L1 = 0."""
        if c.L1 == 0:
            return math.inf
        return float(3 * factor_A(C) * c.L0 / (5 * factor_B(C) * c.L1 * c.rho))

    def smoothness(self, c: Relaxed, C: float = 1.0) -> float:
        """Return A Lambda, the curvature in the third limit of the step size."""
        return float(factor_A(C) * c.L0 + (factor_B(C) * c.L1 * c.kappa if self.general else 0.0))

    def step_size_limits(
        self,
        c: Relaxed,
        N: int,
        I: int,
        epsilon: float,
        C: float = 1.0,
    ) -> tuple[float, float, float]:
        """Return the three upper limits of eta; the last two are infinite if sigma = 0."""
        first, second, third = self.limits
        Gamma = self.Gamma(c, C)
        noisy = c.sigma > 0
        return (
            1 / (first * Gamma * I),
            epsilon / (second * Gamma * I * c.sigma) if noisy else math.inf,
            N * epsilon**2 / (third * self.smoothness(c, C) * c.sigma**2) if noisy else math.inf,
        )

    def parameters(
        self,
        c: Relaxed,
        N: int,
        I: int,
        epsilon: float,
        C: float = 1.0,
    ) -> Parameters:
        """Return the largest step size, the threshold and the number R of rounds promised.

        Raises
        ------
        Refusal
            If epsilon is above the largest that the theorem allows.
        """
        eta, gamma = self._step(c, N, I, epsilon, C)
        R = math.ceil(4 * c.Delta / (epsilon**2 * eta * I))
        return Parameters(eta, self.threshold(c, C), gamma, R)

    def _step(
        self, c: Relaxed, N: int, I: int, epsilon: float, C: float = 1.0
    ) -> tuple[float, float]:
        if not 0 < epsilon <= self.largest_epsilon(c, C) * (1 + 1e-12):
            raise Refusal(
                f"epsilon = {epsilon:g} is outside Theorem 1; choose it in "
                f"(0, {self.largest_epsilon(c, C):g}]"
            )
        eta = min(self.step_size_limits(c, N, I, epsilon, C))
        return eta, self.threshold(c, C) * eta

    def hypotheses(
        self,
        c: Relaxed,
        N: int,
        I: int,
        epsilon: float,
        eta: float,
        gamma: float,
        R: int,
        C: float = 1.0,
    ) -> tuple[Condition, ...]:
        """Return the hypotheses of the theorem at given parameters, evaluated."""
        first, second, third = self.step_size_limits(c, N, I, epsilon, C)
        tau = self.threshold(c, C)
        return (
            Condition("eps <= 3 A L0/(5 B L1 rho)", epsilon, self.largest_epsilon(c, C)),
            Condition("1 <= rho", 1.0, c.rho),
            Condition("eta <= 1/(c1 Gamma I)", eta, first),
            Condition("eta <= eps/(c2 Gamma I sigma)", eta, second),
            Condition("eta <= N eps^2/(c3 A Lambda sigma^2)", eta, third),
            Condition("gamma <= (11 sigma + A L0/(B L1 rho)) eta", gamma, tau * eta),
            Condition("(11 sigma + A L0/(B L1 rho)) eta <= gamma", tau * eta, gamma),
            Condition("4 Delta/(eps^2 eta I) <= R", 4 * c.Delta / (epsilon**2 * eta * I), R),
        )

    def least_epsilon(self, c: Relaxed, N: int, I: int, eta: float, C: float = 1.0) -> float:
        """Return the smallest tolerance for which the noise allows a step size eta; 0 without."""
        _, local, mean = self.step_size_limits(c, N, I, 1.0, C)
        return max(eta / local, math.sqrt(eta / mean))

    def conditions(self, m: EPISODE, setting: Setting) -> tuple[Condition, ...]:
        c, n = relaxed(setting), setting.n
        epsilon = self.largest_epsilon(c)
        limits = self.hypotheses(c, n, m.I, epsilon, m.eta, m.gamma, 0)
        return (Condition("n <= S", n, participants(m.S, n)), *limits[1:-1])

    def largest(
        self, setting: Setting, I: int = 1, epsilon: float | None = None
    ) -> tuple[float, float]:
        """Return the largest eta for an accuracy epsilon, by default the largest, and its gamma."""
        c = relaxed(setting)
        allowed = self.largest_epsilon(c)
        if not 0 < allowed < math.inf:
            raise Refusal(
                f"{self.title} has no largest step for L0 = {c.L0:g}, L1 = {c.L1:g}, kappa = "
                f"{c.kappa:g} and rho = {c.rho:g}; give eta and gamma"
            )
        return self._step(c, setting.n, I, allowed if epsilon is None else epsilon)

    def promise(self, m: EPISODE, setting: Setting) -> NormPromise:
        c, step = relaxed(setting), m.eta * m.I
        least = self.least_epsilon(c, setting.n, m.I, m.eta)
        return NormPromise(1 / 32, step, 8 * step * self.largest_epsilon(c), 8 * step * least)

    def mean_norm(self, c: Relaxed, I: int, epsilon: float, eta: float, R: int) -> float:
        """Return the bound 4 Delta/(eps eta I (R+1)) + 2 eps of the mean over r = 0..R."""
        return 4 * c.Delta / (epsilon * eta * I * (R + 1)) + 2 * epsilon


MAIN = Theorem1("main text", (216, 180, 16), general=False)
APPENDIX = Theorem1("appendix", (856, 180, 8), general=False)
GENERAL = Theorem1("general", (216, 180, 16), general=True)
FORMS = (MAIN, APPENDIX, GENERAL)


def _published(setting: Setting, I: int = 1, epsilon: float | None = None) -> EPISODE:
    """Theorem 1 of the main text, for which f itself has to be (L0, L1)-smooth.

    The step is the largest for the accuracy epsilon, by default for the largest that the theorem
    allows.
    """
    return EPISODE(*MAIN.largest(setting, I, epsilon), I)


def _general(setting: Setting, I: int = 1, epsilon: float | None = None) -> EPISODE:
    """Theorem 1 as repaired, for which the f_i have to be (L0, L1)-smooth; see `_published`."""
    return EPISODE(*GENERAL.largest(setting, I, epsilon), I)


CARD = Card(
    EPISODE,
    label="EPISODE",
    theorems=(GENERAL,),
    rules={"ours": _general, "published": _published},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    threshold="gamma",
    colour="#D55E00",
    marker="o",
)
