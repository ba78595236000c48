"""Exact proofs of methods at the parameters of their first rule."""

from certibit import METHODS, FunctionClass, certify
from certibit.theory.certificates.summary import class_setting

QUICK = ["gd", "agd", "diana", "locodl", "scaffnew", "ef21", "marina", "dasha", "gradskip"]


def by_rule(name, n, kappa):
    """Return a method with the parameters of its first rule, and its class."""
    card = METHODS[name]
    omega = 3.0 if card.method.needs.compressor else None
    where = class_setting(card.method, n, kappa, omega, None, 1)
    return card.at(where), FunctionClass.of(where)


def proof_of(name, n=5, kappa=30.0):
    """Return the exact proof of a method at the parameters of its first rule."""
    return certify(*by_rule(name, n, kappa))
