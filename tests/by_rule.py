"""A method at the parameters of a rule, and the setting of clients that they are for."""

from certibit import CARDS
from certibit.theory.certificates.summary import class_setting


def by_rule(name, n, kappa, omega=None, rule=None, **options):
    """Return a method with the parameters of a rule, of its first one without, and the setting.

    The compressors have the relative variance omega, where the method compresses.
    """
    card = CARDS[name]
    sent = omega if card.method.needs.compressor else None
    where = class_setting(card.method, n, kappa, sent, None, 1)
    return card.at(where, rule, **options), where
