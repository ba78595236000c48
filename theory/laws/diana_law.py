"""DIANA: its best step size, and the weight of the shifts that proves it."""

from fractions import Fraction

from certibit.solvers.methods.diana import DIANA
from certibit.theory.cards.diana import CoupledShifts
from certibit.theory.function_class import FunctionClass
from certibit.theory.laws.closed_form import ClosedForm, with_multipliers
from certibit.theory.proofs.certificate import Certificate


def _diana(n: int, kappa: Fraction, r: Fraction) -> Certificate:
    """Prove the law where the decrease is alpha (1 - 1/r^2), which omega is chosen for."""
    slope, used = 4 * kappa / (1 + kappa) ** 2, 1 - 1 / r**2
    omega = (used - slope) / (slope - used * (1 + r) ** 2 / n)
    alpha = 1 / (1 + omega)
    step = 2 / ((1 + kappa) * (1 + (1 + r) ** 2 * omega / n))
    rho = 2 * step * kappa / (1 + kappa)
    weight = omega / n * step**2 * (1 + 1 / r) / (alpha - rho)
    bare = Certificate(
        DIANA(float(step), float(alpha)),
        FunctionClass(n, mu=1.0, L=float(kappa), omega=float(omega)),
        CoupledShifts(),
        rho,
        (Fraction(1), weight / n),
        {},
    )
    return with_multipliers(bare, [2 * step * (kappa - 1) / (kappa + 1)])


DIANA_LAW = ClosedForm(
    "diana",
    "2/((1 + kappa)(1 + (1 + r)^2 omega/n)), r = 1/sqrt(1 - (1 + omega) decrease)",
    "2 step kappa/(1 + kappa)",
    (
        (2, Fraction(10), Fraction(8, 7)),
        (3, Fraction(20), Fraction(14, 13)),
        (6, Fraction(10), Fraction(5, 4)),
        (10, Fraction(20), Fraction(6, 5)),
        (50, Fraction(20), Fraction(2)),
        (1000, Fraction(200), Fraction(67, 33)),
    ),
    _diana,
)
