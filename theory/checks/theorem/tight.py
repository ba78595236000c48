"""A theorem that calls itself tight, against what certificates prove of its method."""

from certibit.theory.card import Card
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.summary import class_setting
from certibit.theory.theorem import Theorem
from certibit.theory.verdict import Known, Verdict

_CLIENTS, _KAPPA, _OMEGA = 3, 100.0, 4.0
_OWN, _ANY = 1 - 2e-3, 0.9
"""Shares of the decrease certified with the theorem's potential, and with any, that it promises."""


def tight_promise(theorem: Theorem, card: Card) -> Verdict | None:
    """Check that a tight theorem promises nearly all that certificates prove; None for others.

    For all functions with L/mu = 100, three clients and the first rule of the card: 0.998 of the
    decrease that is certified with the potential of the theorem, and 0.9 of the largest one that is
    certified with any quadratic potential of the state.
    """
    if not theorem.tight:
        return None
    compressed = card.method.needs.compressor is not None
    where = class_setting(card.method, _CLIENTS, _KAPPA, _OMEGA if compressed else None, None, 1)
    method = card.at(where, next(iter(card.rules)))
    best = certify(method, where, potential="search").decrease
    promised, own = 0.0, 0.0
    if not theorem.unmet(method, where):
        promised = 1 - theorem.rate(method, where)
        own = certify(method, where, potential=theorem).decrease
    asked = max(_OWN * own, _ANY * best)
    advice = (
        f"{theorem.title} promises 1 - tau = {promised:.6g} at L/mu = {_KAPPA:g}, where {own:.6g} "
        f"is certified with its potential and {best:.6g} with another: the theorem asks for too "
        "much or promises too little."
    )
    ratio = asked / promised if promised > 0 else float("inf")
    return Verdict("tight, as it says", ratio, 1.0, "certified", advice, known=Known.PROVED)
