"""Certified against published factors of all methods, at one kappa, omega and n."""

from dataclasses import dataclass

from certibit.data.errors import Refusal
from certibit.figures.certified.variants import variants
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.summary import class_setting, verdict

_FAMILY = (10, 100.0, 9.0)
"""n, kappa and omega."""


@dataclass(frozen=True)
class Rate:
    """1 - factor of a method in one family, published and certified.

    Attributes
    ----------
    method, rule : str
        The method and the rule of its parameters, or the variant.
    n, kappa, omega
        The family.
    published, certified : float
        NaN where no theorem applies, or nothing is certified.
    reason : str
        Why nothing is certified.
    """

    method: str
    rule: str
    n: int
    kappa: float
    omega: float
    published: float
    certified: float
    reason: str

    @property
    def looseness(self) -> float:
        """Certified over published decrease."""
        return self.certified / self.published

    @property
    def verdict(self) -> str:
        """In words: tight, loose by which factor, or why there is no certificate."""
        return self.reason or verdict(self.published, self.certified)


def rates_of(name: str) -> list[Rate]:
    """Certify all rules and variants of a method."""
    return [compared_rate(name, rule, *_FAMILY) for rule in variants(METHODS[name])]


def compared_rate(name: str, rule: str, n: int, kappa: float, omega: float) -> Rate:
    """Certify a method with the parameters of a rule, or of a variant, in one family.

    The result is compared with the published theorems, or with those proved by us if none exists.
    """
    card, nan = CARDS[name], float("nan")
    compressed = card.method.needs.compressor is not None
    decrease, proved, reason = nan, nan, ""
    try:
        where = class_setting(card.method, n, kappa, omega if compressed else None, None, 1)
        variant = variants(card)[rule]
        where = variant.setting(where)
        method = variant.method(card, where)
        published = any(theorem.published for theorem in card.about("potential"))
        theorem = card.best_theorem(method, where, published=published)
        decrease = 1 - theorem.rate(method, where) if theorem else nan
        stated = None if card.cut(method) else theorem or card.best_theorem(method, where)
        proved = certify(method, variant.functions(where), potential=stated).decrease
    except Refusal as error:
        reason = str(error)
    return Rate(name, rule, n, kappa, omega, decrease, proved, reason)
