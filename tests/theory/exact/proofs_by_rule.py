"""Exact proofs of methods at the parameters of their first rule."""

from by_rule import by_rule

from certibit import certify

QUICK = ["gd", "agd", "diana", "locodl", "scaffnew", "ef21", "marina", "dasha", "gradskip"]


def proof_of(name, n=5, kappa=30.0):
    """Return the exact proof of a method at the parameters of its first rule."""
    return certify(*by_rule(name, n, kappa, 3.0))
