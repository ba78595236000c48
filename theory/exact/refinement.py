"""A rational proof made as good as the best, and as short as it may be."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from bitbound.theory.certificates.proof import Certificate
from bitbound.theory.exact.central_path import CentralPath, StrictProof
from bitbound.theory.exact.exact_proof import ExactProof, RationalStep, first_proof, holds
from bitbound.theory.exact.rational_algebra import Stack, ldl, rounded_down, whitening

DIGITS_OF_DECREASE = 12
"""Decimal digits of what is proved."""

DIGITS = (6, 8, 10, 12, 14, 16, 20, 24, 30)
"""Decimal digits of the multipliers that are tried, one after the other."""

CLOSE = 1e-10
"""Relative distance of the decrease to its bound at which a proof counts as the best."""


def prove(certificate: Certificate) -> ExactProof:
    """Return a certificate's factor, or a better one, proved in rational numbers.

    Raises
    ------
    Refusal
        If the step is not rational in its parameters, or nothing is proved.

    Examples
    --------
    >>> from bitbound import EF21, FunctionClass, certify, prove
    >>> certificate = certify(EF21(gamma=0.01), FunctionClass(n=3, mu=1, L=10, alpha=0.5))
    >>> prove(certificate).decrease > certificate.decrease
    True
    """
    step = RationalStep.of(certificate.method, certificate.functions, certificate.potential)
    proof = first_proof(step, certificate)
    now, _ = step.psi(proof.weights)
    path = CentralPath.of(step, now)
    best, bound = path.best(interior(step, proof), CLOSE)
    decrease, *multipliers = best.numbers
    if decrease > proof.decrease:
        named = dict(zip(step.inequalities, multipliers, strict=True))
        proof = replace(proof, decrease=decrease, multipliers=named)
    return replace(_shortened(step, proof), bound=bound)


def interior(step: RationalStep, proof: ExactProof) -> StrictProof:
    """Use all inequalities a little more, together with their reverses.

    In the coordinates in which it is the identity, what is left loses less than one half.
    """
    weights, following = proof.weights, proof.following
    left = step.left(weights, proof.decrease, proof.multipliers, following)
    scales = [whitening(*factors) for factors in map(ldl, left.blocks) if factors is not None]
    forms = step.inequalities.values()
    entries = [
        Stack.of([form.blocks[place] for form in forms]).scaled(scale).reshape(len(forms), -1)
        for place, scale in enumerate(scales)
    ]
    lengths = np.max([np.abs(block).sum(axis=1) for block in entries], axis=0)
    sizes = dict(zip(step.inequalities, lengths.tolist(), strict=True))
    multipliers = {
        name: proof.multipliers.get(name, Fraction(0))
        + Fraction(0.5 / len(sizes) / (max(size, sizes[_reverse(name)]) or 1.0))
        for name, size in sizes.items()
    }
    left = step.left(weights, proof.decrease, multipliers, following)
    return StrictProof(np.array([proof.decrease, *multipliers.values()], dtype=object), left.blocks)


def _reverse(name: str) -> str:
    """Return the name of the inequality with the ends exchanged, if it has ends."""
    function, _, ends = name.partition(": ")
    start, _, end = ends.partition(" to ")
    return f"{function}: {end} to {start}" if ends else name


def _shortened(step: RationalStep, proof: ExactProof) -> ExactProof:
    """Return a proof with as few digits as it needs."""
    decrease = rounded_down(proof.decrease, DIGITS_OF_DECREASE)
    for digits in DIGITS:
        short = {name: rounded_down(y, digits) for name, y in proof.multipliers.items()}
        found = _balanced(step, proof, decrease, short)
        if found is not None:
            return found
    return proof


def _balanced(
    step: RationalStep, proof: ExactProof, decrease: Fraction, rough: Mapping[str, Fraction]
) -> ExactProof | None:
    """Return a proof with other multipliers, once these are balanced; None if it proves nothing."""
    multipliers = step.balanced(proof.weights, decrease, rough, proof.following)
    if not holds(step, proof.weights, decrease, multipliers, proof.following):
        return None
    return replace(proof, decrease=decrease, multipliers=multipliers)
