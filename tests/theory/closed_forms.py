"""Proofs, in rational numbers and without a solver, of the closed forms of four rules of cards.

A point holds rational constants at which everything in the formulas is rational. EF and EF21 have
one programme: with the gradient of the model, its estimate and its change in the place of the
virtual model, the error and the gradient. What is left of (1 - decrease) Psi - E[Psi+] is a square
for the means over the clients, and does not depend on n for their deviations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

from certibit import DIANA, EF, EF21, FunctionClass, LoCoDL, Proof
from certibit.theory.cards.diana import CoupledShifts
from certibit.theory.cards.ef import Feedback
from certibit.theory.cards.ef21 import TightErrorFeedback
from certibit.theory.cards.locodl import Theorem31
from certibit.theory.formulas.coupling import unevenness
from certibit.theory.proofs.symbolic_step import symbolic_step


@dataclass(frozen=True)
class ClosedForm:
    """The proof at a point, and rational points."""

    name: str
    proof: Callable[..., Proof]
    points: tuple[tuple[Any, ...], ...]


def with_multipliers(
    proof: Proof, pairs: Sequence[Fraction], contractions: Sequence[Fraction] = ()
) -> Proof:
    """Return a proof that uses the inequalities between two points, in both directions, alike.

    The points are the last two at which gradients are evaluated, or the only one and the solution.
    There is one number for each class of functions, that of g being the last, and one in
    ``contractions`` for the compressors.
    """
    step = symbolic_step(proof.method, proof.functions, proof.potential, exact=True)
    multipliers: dict[str, Fraction] = {}
    kinds = dict.fromkeys(e.kind for e in step.evaluations)
    for kind, value in zip(kinds, pairs, strict=True):
        own = [(place, e.function) for place, e in enumerate(step.evaluations) if e.kind == kind]
        a, b = ("solution", *(f"point {place}" for place, _ in own))[-2:]
        multipliers |= {f"{own[0][1]}: {start} to {end}": value for start, end in ((a, b), (b, a))}
    names = [name for name in step.inequalities if name.startswith("contraction")]
    multipliers |= dict(zip(names, contractions, strict=True))
    return replace(proof, multipliers=multipliers)


def feedback_numbers(kappa: Fraction, s: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return step, lambda and decrease of EF and EF21, mu = 1; their root is to be rational."""
    step = 2 / (1 + kappa) * (1 - s) / (1 + s)
    square = (kappa - 1) ** 2 + 16 * kappa * s / (1 + s) ** 2
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    assert root**2 == square
    growth = step / (1 + kappa) * ((1 - s) * (kappa - 1) + (1 + s) * root)
    return step, growth, 1 - s - (1 + s) * (kappa - 1) * growth / 4


def _feedback_class(n: int, kappa: Fraction, s: Fraction) -> FunctionClass:
    return FunctionClass(n, mu=1.0, L=float(kappa), alpha=float(1 - s**2))


def _ef(n: int, kappa: Fraction, s: Fraction) -> Proof:
    step, growth, decrease = feedback_numbers(kappa, s)
    functions, weights = _feedback_class(n, kappa, s), (Fraction(1), 1 / (s * n))
    bare = Proof(EF(float(step)), functions, Feedback(), decrease, weights, {})
    return with_multipliers(bare, [growth], [1 / (s * n)])


def _ef21(n: int, kappa: Fraction, s: Fraction) -> Proof:
    step, growth, decrease = feedback_numbers(kappa, s)
    functions, weights = _feedback_class(n, kappa, s), (s, Fraction(1, n))
    bare = Proof(EF21(float(step)), functions, TightErrorFeedback(), decrease, weights, {})
    return with_multipliers(bare, [s * growth / step**2], [Fraction(1, n)])


_RATIONAL = {
    Fraction(1, 8): (Fraction(243, 5), Fraction(950, 7)),
    Fraction(1, 4): (Fraction(13, 7), Fraction(91, 4), Fraction(464, 9)),
    Fraction(1, 2): (Fraction(7, 5), Fraction(81, 10)),
    Fraction(4, 5): (Fraction(89, 10),),
}
"""By s, the kappa at which lambda is rational."""

_POINTS = tuple((n, k, s) for s, some in _RATIONAL.items() for k in some for n in (1, 2, 1000))

EF_FORM = ClosedForm("ef", _ef, _POINTS)
EF21_FORM = ClosedForm("ef21", _ef21, _POINTS)


def _diana(n: int, kappa: Fraction, r: Fraction) -> Proof:
    """Prove the decrease alpha (1 - 1/r^2), which omega is chosen for, at the rule ``best``."""
    slope, used = 4 * kappa / (1 + kappa) ** 2, 1 - 1 / r**2
    omega = (used - slope) / (slope - used * (1 + r) ** 2 / n)
    alpha = 1 / (1 + omega)
    step = 2 / ((1 + kappa) * (1 + (1 + r) ** 2 * omega / n))
    rho = 2 * step * kappa / (1 + kappa)
    weight = omega / n * step**2 * (1 + 1 / r) / (alpha - rho)
    bare = Proof(
        DIANA(float(step), float(alpha)),
        FunctionClass(n, mu=1.0, L=float(kappa), omega=float(omega)),
        CoupledShifts(),
        rho,
        (Fraction(1), weight / n),
        {},
    )
    return with_multipliers(bare, [2 * step * (kappa - 1) / (kappa + 1)])


DIANA_FORM = ClosedForm(
    "diana",
    _diana,
    (
        (2, Fraction(10), Fraction(8, 7)),
        (3, Fraction(20), Fraction(14, 13)),
        (6, Fraction(10), Fraction(5, 4)),
        (10, Fraction(20), Fraction(6, 5)),
        (50, Fraction(20), Fraction(2)),
        (1000, Fraction(200), Fraction(67, 33)),
    ),
)


def _locodl(n: int, omega: Fraction, kappa: Fraction, p: Fraction, rho: Fraction) -> Proof:
    """Prove the rule ``ours`` for its p and rho, rounded so that they are rational."""
    decrease = 4 * kappa / (1 + kappa) ** 2
    return uneven_proof(n, omega, kappa, p, rho, (1 + 2 * omega) * decrease / p**2)


def uneven_proof(
    n: int, omega: Fraction, kappa: Fraction, p: Fraction, rho: Fraction, chi: Fraction
) -> Proof:
    """Prove 1 - tau = p^2 chi/(1 + 2 omega) for gamma = 2/(L + mu), with uneven weights.

    It verifies where that is at most 1 - s^2, and chi no larger than the theorem says.
    """
    step, decrease = 2 / (1 + kappa), p**2 * chi / (1 + 2 * omega)
    nu, dual = unevenness(p, rho, decrease / p), step**2 / decrease
    bare = Proof(
        LoCoDL(float(step), float(chi), float(rho), float(p), float(omega)),
        FunctionClass(n, mu=1.0, L=float(kappa), omega=float(omega)),
        Theorem31(),
        decrease,
        (Fraction(1), Fraction(n), (1 - nu) * dual, (1 + nu) * n * dual),
        {},
    )
    return with_multipliers(bare, [n * step**2 * (kappa - 1)] * 2)


LOCODL_FORM = ClosedForm(
    "locodl",
    _locodl,
    (
        (1, Fraction(0), Fraction(4), Fraction(4, 5), Fraction(1)),
        (2, Fraction(0), Fraction(100), Fraction(20, 101), Fraction(1)),
        (1000, Fraction(0), Fraction(10**4), Fraction(200, 10001), Fraction(1)),
        (1, Fraction(4), Fraction(225), Fraction(75, 113), Fraction(1, 5)),
        (2, Fraction(1), Fraction(25), Fraction(126, 179), Fraction(34, 49)),
        (3, Fraction(4), Fraction(99), Fraction(279, 365), Fraction(6, 13)),
        (100, Fraction(4), Fraction(99), Fraction(59, 110), Fraction(33, 34)),
        (1000, Fraction(10), Fraction(399), Fraction(149, 360), Fraction(1)),
        (10**6, Fraction(4), Fraction(24), Fraction(73, 80), Fraction(1)),
    ),
)
