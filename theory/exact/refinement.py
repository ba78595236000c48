"""A rational proof made as good as the best: solvers work on what is left, in its own scale.

What is left of a proof, (1 - decrease) Psi - E[Psi+] - sum of multipliers times inequalities, is
positive, however badly scaled. In coordinates in which it is the identity, computed in rational
numbers, the best change of decrease and multipliers is a programme of order one. A part of the
change is taken, checked in rational numbers, and so on: every round gains digits, whatever the
condition number and the unit of f.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.theory.certificates.interpolation import Form
from bitbound.theory.certificates.programme import Coordinates, maximise
from bitbound.theory.certificates.proof import Certificate
from bitbound.theory.exact.exact_proof import (
    ExactProof,
    RationalForm,
    RationalStep,
    first_proof,
    holds,
)
from bitbound.theory.exact.rational_algebra import (
    Rationals,
    congruent,
    ldl,
    rounded_down,
    whitening,
)

MOST_ROUNDS = 12
"""How often a proof is improved at most."""

EASES = (0.0, 1e-6, 1e-4, 1e-2)
"""Parts of the decrease that are given up where too little is left for good coordinates."""

PARTS = (0.999999, 0.99999, 0.9999, 0.999, 0.99, 0.9, 0.5)
"""Parts of a change that are tried, one after the other."""

DIGITS_OF_DECREASE = 12
"""Decimal digits of what is proved."""

DIGITS = (6, 8, 10, 12, 14, 16, 20)
"""Decimal digits of the multipliers that are tried, one after the other."""

CLOSE = 1e-8
"""Relative gain of the decrease below which a proof counts as the best."""


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
    for _ in range(MOST_ROUNDS):
        better = next(filter(None, (_improved(step, proof, ease) for ease in EASES)), None)
        if better is None:
            break
        gain, proof = better.decrease - proof.decrease, better
        if gain <= CLOSE * abs(proof.decrease) / 10:
            break
    return _shortened(step, proof)


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


def _improved(step: RationalStep, proof: ExactProof, ease: float) -> ExactProof | None:
    """Return a better proof, found from a decrease that is a little smaller; None if none is."""
    start = proof.decrease - Fraction(ease) * abs(proof.decrease)
    left = step.left(proof.weights, start, proof.multipliers, proof.following)
    scales: list[Rationals] = []
    for block in left.blocks:
        factors = ldl(block)
        if factors is None:
            return None
        scales.append(whitening(*factors))
    now, _ = step.psi(proof.weights)
    names = list(step.inequalities)
    present = np.array([float(proof.multipliers.get(name, Fraction(0))) for name in names])
    forms = [_rounded(step.inequalities[name], scales) for name in names]
    coordinates = Coordinates(tuple(np.eye(scale.shape[1]) for scale in scales), _unit(forms))
    try:
        change = maximise(
            _rounded(left, scales) * -1.0,
            _rounded(now, scales),
            forms,
            coordinates,
            lower=-present,
        )
    except Refusal:
        return None
    moves = dict(zip(names, map(Fraction, change.multipliers.tolist()), strict=True))
    for part in map(Fraction, PARTS):
        decrease = Fraction(float(start + part * Fraction(change.value)))
        if decrease <= proof.decrease:
            return None
        found = _balanced(step, proof, decrease, _moved(proof.multipliers, moves, part))
        if found is not None:
            return replace(found, bound=float(start) + change.value)
    return None


def _unit(forms: list[Form]) -> float:
    """Return in what function values are as large as the blocks, as a geometric mean."""
    pairs = [
        (np.abs(f.values).max(), max(np.abs(b).max(initial=0.0) for b in f.blocks)) for f in forms
    ]
    ratios = [value / block for value, block in pairs if value and block]
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0


def _moved(
    multipliers: Mapping[str, Fraction], moves: Mapping[str, Fraction], part: Fraction
) -> dict[str, Fraction]:
    """Return changed multipliers, none negative."""
    return {
        name: max(multipliers.get(name, Fraction(0)) + part * move, Fraction(0))
        for name, move in moves.items()
    }


def _rounded(form: RationalForm, scales: list[Rationals]) -> Form:
    """Return a form in coordinates, rounded at the end only."""
    pairs = zip(form.blocks, scales, strict=True)
    blocks = tuple(congruent(block, scale).astype(float) for block, scale in pairs)
    return Form(blocks, np.array(form.values, dtype=float))
