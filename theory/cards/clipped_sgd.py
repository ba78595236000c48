"""Clipped SGD: its card, and the theorem of clipped gradient descent, also on other cards."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from certibit.data.errors import Refusal
from certibit.solvers.method import participants
from certibit.solvers.methods.clipped_sgd import ClippedSGD
from certibit.theory.card import Card, Role
from certibit.theory.formulas.episode_round import Relaxed, factor_A, factor_B
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, NormPromise, NormTheorem


@dataclass(frozen=True)
class ClippedGD(NormTheorem):
    """Deterministic clipped GD on an (L0, L1)-smooth f: f decreases by c s|grad f|^2 per step.

    s = min(eta, gamma/|grad f|) and c = 1/2; for normalised steps, which are between the half and
    all of these, c = 1/4. Where the f_i are (L0, L1)-smooth, f has the constants L0 + L1 kappa and
    rho L1. With more than one step a round it says the same of the first. Clients that clip on
    their own take these steps if all f_i are the same.

    Proof. Lemma 5 of EPISODE with A L0 s <= 1/2 and B L1 s|grad f| <= 1/2.
    """

    C: float = 1.0
    c: float = 0.5
    equal: bool = False
    """Whether all f_i have to be the same: kappa = 0 and rho = 1."""

    title: ClassVar[str] = "Clipped gradient descent on one machine"
    published: ClassVar[bool] = False

    def limits(self, L0: float, L1: float, eta: float, gamma: float) -> tuple[Condition, ...]:
        """Return the hypotheses on eta and gamma, evaluated."""
        A, B = factor_A(self.C), factor_B(self.C)
        return (
            Condition("eta <= 1/(2 A L0)", eta, limit(1.0, 2 * A * L0)),
            Condition("gamma <= 1/(2 B L1)", gamma, limit(1.0, 2 * B * L1)),
            Condition("gamma <= C/L1", gamma, limit(self.C, L1)),
        )

    def conditions(self, m: Any, setting: Setting) -> tuple[Condition, ...]:
        c, n = relaxed(setting), setting.n
        same = (Condition("kappa <= 0", c.kappa, 0.0), Condition("rho <= 1", c.rho, 1.0))
        return (
            *self.limits(*_smoothness_of_mean(setting), *self.step(m)),
            Condition("sigma <= 0", c.sigma, 0.0),
            Condition("n <= S", n, participants(getattr(m, "S", None), n)),
            *(same if self.equal and n > 1 else ()),
        )

    def step(self, m: Any) -> tuple[float, float]:
        """Return the eta and gamma of clipped steps; of normalised ones, those they come near."""
        return (m.eta / m.beta, m.eta) if hasattr(m, "beta") else (m.eta, m.gamma)

    def largest(self, setting: Setting, I: int = 1) -> tuple[float, float]:
        eta, *gammas = (one.right for one in self.limits(*_smoothness_of_mean(setting), 0.0, 0.0))
        found = eta, min(gammas)
        if not all(0 < x < math.inf for x in found):
            raise Refusal(
                f"{self.title} has no largest step for L0 = {relaxed(setting).L0:g} and L1 = "
                f"{relaxed(setting).L1:g}; give eta and gamma"
            )
        return found

    def promise(self, m: Any, setting: Setting) -> NormPromise:
        return NormPromise(self.c, *self.step(m))

    def decrease(self, eta: float, gamma: float, slope: float) -> float:
        """Return the least decrease of f in one step from a point with |grad f| = slope."""
        return self.c * min(eta * slope**2, gamma * slope)

    def iterations(self, Delta: float, eta: float, gamma: float, epsilon: float) -> float:
        """Return the largest number of iterates with |grad f| > epsilon."""
        return Delta / self.decrease(eta, gamma, epsilon)


def relaxed(setting: Setting) -> Relaxed:
    """Return the constants of an (L0, L1)-smooth problem."""
    constants: Any = setting.constants
    return constants


def _smoothness_of_mean(setting: Setting) -> tuple[float, float]:
    """Return L0 and L1 of f, L0 + L1 kappa and rho L1 of the f_i; of one f_i, its own."""
    c = relaxed(setting)
    return (c.L0, c.L1) if setting.n == 1 else (c.L0 + c.L1 * c.kappa, c.rho * c.L1)


def limit(constant: float, slope: float) -> float:
    """Return constant/slope, infinite if the slope is 0."""
    return constant / slope if slope else math.inf


CARD = Card(
    ClippedSGD,
    label="clipped SGD",
    theorems=(ClippedGD(),),
    rules={"ours": ClippedGD().rule(ClippedSGD)},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT},
    threshold="gamma",
    colour="#777777",
    marker="X",
)
