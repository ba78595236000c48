"""Decrease by theorem, by certificate and by the best potential found, and the attained one."""

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from certibit.data.errors import Refusal
from certibit.figures.certified.measured_bits import FEATURES, MeasuredBits, Runs, measured_bits
from certibit.figures.certified.variants import Variant, variants
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import rand_k_of
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.search import optimise
from certibit.theory.certificates.summary import class_setting
from certibit.theory.exact.long_run import limit_of_potentials
from certibit.theory.setting import Setting

FAMILIES = ((3, 100.0, 4.0), (10, 1000.0, 9.0), (100, 100.0, 1.0))
"""n, kappa and omega."""

SEARCHED = "searched"
"""The name of the parameters with the fewest certified bits that a short search finds."""


@dataclass(frozen=True)
class PotentialGain:
    """Decrease 1 - factor of a method at one (n, kappa, omega), and bits; NaN if unknown.

    Attributes
    ----------
    method, rule : str
        The method and the rule of its parameters, the variant, or ``SEARCHED``.
    n, kappa, omega
        The family.
    promised : float
        By the best theorem.
    certified : float
        For that theorem's potential, or for that of the search of parameters.
    found : float
        For the best potential that is found, the theorem's among them.
    attained : float
        Asymptotic decrease on the quadratics of one dimension that are tried: no potential proves
        a larger one.
    bits : MeasuredBits
        On a random quadratic of the family.
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
    bits: MeasuredBits


def gains_of(name: str, runs: Runs) -> list[PotentialGain]:
    """Return the gains of a method in all families.

    Those of all rules, and of searched parameters if a rule is certified.
    """
    gains = []
    for family in FAMILIES:
        rules = [potential_gain(name, rule, *family, runs) for rule in variants(CARDS[name])]
        if any(gain and math.isfinite(gain.found) for gain in rules):
            rules.append(potential_gain(name, SEARCHED, *family, runs))
        gains += [gain for gain in rules if gain]
    return gains


def potential_gain(
    name: str, rule: str, n: int, kappa: float, omega: float, runs: Runs
) -> PotentialGain | None:
    """Search the best potential of a method with the parameters of a rule or variant in one family.

    None where the rule has no parameters for it.
    """
    card = CARDS[name]
    promised = certified = attained = float("nan")
    variant = Variant(rule) if rule == SEARCHED else variants(card)[rule]
    try:
        where = family_setting(card, n, kappa, omega)
        if rule == SEARCHED:
            optimum = optimise(
                card, where, downlink=runs.downlink, weights="free", evaluations=40, starts=1
            )
            method, certified = optimum.method, optimum.certificate.decrease
        else:
            where = variant.setting(where)
            method = variant.method(card, where)
    except Refusal:
        return None
    functions, theorem = variant.functions(where), card.best_theorem(method, where)
    if theorem is not None:
        promised = 1 - theorem.rate(method, where)
        with suppress(Refusal):
            stated = None if card.cut(method) else theorem
            proved = certify(method, functions, potential=stated).decrease
            certified = float(np.fmax(proved, certified))
    found = certified
    with suppress(Refusal):
        best = certify(method, functions, potential="search")
        found = float(np.fmax(best.decrease, certified))
        limits = limit_of_potentials(best)
        attained = attained if limits is None else limits[0]
    bits = measured_bits(method, where, runs)
    return PotentialGain(name, rule, n, kappa, omega, promised, certified, found, attained, bits)


def family_setting(card: Card, n: int, kappa: float, omega: float) -> Setting:
    """Return the setting of a family for a method, with rand-k of that variance and few features.

    Rand-k attains its variance for every vector; for a method that needs contractions it is scaled.
    """
    need = card.method.needs.compressor
    if need is None:
        return class_setting(card.method, n, kappa, None, None, FEATURES)
    chosen, d = rand_k_of(omega, FEATURES)
    sent = Scaled(chosen) if need == "contractive" else chosen
    return class_setting(card.method, n, kappa, None, sent, d)
