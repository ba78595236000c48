"""What the best potential that is found proves beyond those of theorems, and what is attained."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.theory.cards.catalogue import METHODS, SHARED_MINIMISER
from bitbound.theory.certificates.certify import certify
from bitbound.theory.certificates.summary import class_setting
from bitbound.theory.exact.second_moments import limit_of_potentials

FAMILIES = ((3, 100.0, 4.0), (10, 1000.0, 9.0), (100, 100.0, 1.0))
"""n, kappa and omega."""


@dataclass(frozen=True)
class PotentialGain:
    """1 - factor of a method in one family; NaN where there is none.

    Attributes
    ----------
    method, rule : str
        The method and the rule of its parameters.
    n, kappa, omega
        The family.
    promised : float
        By the best theorem.
    certified : float
        For that theorem's potential.
    found : float
        For the best potential that is found, the theorem's among them.
    attained : float
        In the long run on quadratics of one dimension, for few clients and unbiased compressors:
        no potential proves more.
    """

    method: str
    rule: str
    n: int
    kappa: float
    omega: float
    promised: float
    certified: float
    found: float
    attained: float


@dataclass(frozen=True)
class PotentialGains:
    """All that is asked about the potentials of one method: every rule, in every family."""

    method: str

    @property
    def name(self) -> str:
        """What it is called where it fails."""
        return f"potentials of {self.method}"

    def trace(self) -> list[PotentialGain]:
        """Search and certify all."""
        card = (METHODS | SHARED_MINIMISER)[self.method]
        return [
            potential_gain(self.method, rule, *family) for family in FAMILIES for rule in card.rules
        ]


def potential_gain(name: str, rule: str, n: int, kappa: float, omega: float) -> PotentialGain:
    """Search the best potential of a method with the parameters of a rule in one family."""
    card = (METHODS | SHARED_MINIMISER)[name]
    compressed = card.method.needs.compressor is not None
    promised = certified = found = attained = float("nan")
    with suppress(Refusal):
        where = class_setting(card.method, n, kappa, omega if compressed else None, None, 1)
        method = card.at(where, rule)
        theorem = card.best_theorem(method, where)
        if theorem is not None:
            promised = 1 - theorem.rate(method, where)
            with suppress(Refusal):
                certified = certify(method, where, potential=theorem).decrease
        best = certify(method, where, potential="search")
        found = float(np.fmax(best.decrease, certified))
        limit = limit_of_potentials(best)
        attained = attained if limit is None else limit
    return PotentialGain(name, rule, n, kappa, omega, promised, certified, found, attained)
