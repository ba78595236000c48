"""Clipped SGD: its card, and the theorem of clipped gradient descent."""

import math
from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.methods.clipped_sgd import ClippedSGD
from certibit.theory.card import Card, Role, Tuning
from certibit.theory.formulas.episode_round import factor_A, factor_B
from certibit.theory.theorem import Condition


@dataclass(frozen=True)
class ClippedGD:
    """Deterministic clipped GD on an (L0, L1)-smooth f: f decreases by s|grad f|^2/2 per step.

    s = min(eta, gamma/|grad f|). Proof: Lemma 5 of EPISODE with A L0 s <= 1/2 and
    B L1 s|grad f| <= 1/2.
    """

    C: float = 1.0

    title: ClassVar[str] = "Clipped gradient descent on one machine"

    def conditions(self, L0: float, L1: float, eta: float, gamma: float) -> tuple[Condition, ...]:
        """Return the hypotheses, evaluated."""
        A, B = factor_A(self.C), factor_B(self.C)
        return (
            Condition("eta <= 1/(2 A L0)", eta, limit(1.0, 2 * A * L0)),
            Condition("gamma <= 1/(2 B L1)", gamma, limit(1.0, 2 * B * L1)),
            Condition("gamma <= C/L1", gamma, limit(self.C, L1)),
        )

    def decrease(self, eta: float, gamma: float, slope: float) -> float:
        """Return the least decrease of f in one step from a point with |grad f| = slope."""
        return min(eta * slope**2, gamma * slope) / 2

    def iterations(self, Delta: float, eta: float, gamma: float, epsilon: float) -> float:
        """Return the largest number of iterates with |grad f| > epsilon."""
        return 2 * Delta * max(1 / (eta * epsilon**2), 1 / (gamma * epsilon))


def limit(constant: float, slope: float) -> float:
    """Return constant/slope, infinite if the slope is 0."""
    return constant / slope if slope else math.inf


CARD = Card(
    ClippedSGD,
    label="clipped SGD",
    along_runs=(ClippedGD(),),
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT},
    tunings=(
        Tuning(
            "clipped-sgd",
            "clipped SGD",
            lambda eta, tau, I, S: ClippedSGD(eta, tau * eta, I),
            federated=False,
            colour="#777777",
            marker="X",
        ),
    ),
    colour="#777777",
    marker="X",
)
