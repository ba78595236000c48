"""Proofs of a step on unknown vectors: for all n, d, functions and messages."""

from collections.abc import Mapping
from fractions import Fraction

from certibit.theory.audit.machinery.nonnegative import same
from certibit.theory.audit.machinery.step import ProofStep


def hypotheses_of_proof(
    step: ProofStep, constants: Mapping[str, Fraction]
) -> frozenset[str] | None:
    """Return the hypotheses that prove a step on its unknowns, in every case; None if none do.

    An equality is proved if both sides are the same expansion in unknowns; an inequality if
    right - left is the same as its argument, which is at least 0.
    """
    if step.space.unknowns is None or not (step.equality or step.argument):
        return None
    used: frozenset[str] = frozenset()
    for v in step.space.unknowns(constants):
        left, right = step.left(v), step.right(v)
        if step.argument is not None and not step.equality:
            argument = step.argument(v)
            left, right = right - left, argument.value
            used |= argument.hypotheses
        if not same(left, right):
            return None
    return used
