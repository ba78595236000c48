"""EF and EF21: one law for both, and for any number of clients.

Their programmes are the same one: with the gradient of the model, its estimate and its change in
the place of the virtual model, the error and the gradient. What is left of (1 - decrease) Psi -
E[Psi+] is a square for the means over the clients, and does not depend on n for their deviations.

The law is tight for every potential, and no other step size is better. Let C(v) = (1 + s) v for all
clients and f_i(x) = h x^2/2. In both methods a step is then a matrix of two rows with the
determinant -s and the trace T = 1 - s - (1 + s) gamma h, so that the square rho of an eigenvalue is
a root of (rho - s)^2 = T^2 rho. The larger root grows with |T|, and the larger |T| of the ends h =
mu and h = L is least where both are (1 - s)(kappa - 1)/(kappa + 1): at the step of the law, whose
factor is that root.
"""

from fractions import Fraction
from math import isqrt

from certibit.data.errors import Refusal
from certibit.solvers.methods.ef import EF
from certibit.solvers.methods.ef21 import EF21
from certibit.theory.cards.ef import Feedback
from certibit.theory.cards.ef21 import TightErrorFeedback
from certibit.theory.function_class import FunctionClass
from certibit.theory.laws.closed_form import ClosedForm, with_multipliers
from certibit.theory.potential import Potential
from certibit.theory.proofs.certificate import Certificate

STEP = "(2/(1 + kappa)) (1 - s)/(1 + s), s = sqrt(1 - alpha)"
DECREASE = (
    "1 - s - (1 + s)(kappa - 1) lambda/4, lambda = (step/(1 + kappa)) ((1 - s)(kappa - 1) + "
    "(1 + s) sqrt((kappa - 1)^2 + 16 kappa s/(1 + s)^2))"
)


def feedback_numbers(kappa: Fraction, s: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return step, lambda and decrease.

    Raises
    ------
    Refusal
        If the root in lambda is not rational.
    """
    step = 2 / (1 + kappa) * (1 - s) / (1 + s)
    square = (kappa - 1) ** 2 + 16 * kappa * s / (1 + s) ** 2
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root**2 != square:
        raise Refusal(f"the law is irrational at kappa = {kappa}, s = {s}; take another kappa")
    growth = step / (1 + kappa) * ((1 - s) * (kappa - 1) + (1 + s) * root)
    return step, growth, 1 - s - (1 + s) * (kappa - 1) * growth / 4


def _functions(n: int, kappa: Fraction, s: Fraction) -> FunctionClass:
    return FunctionClass(n, mu=1.0, L=float(kappa), alpha=float(1 - s**2))


def _ef(n: int, kappa: Fraction, s: Fraction) -> Certificate:
    step, growth, decrease = feedback_numbers(kappa, s)
    potential: Potential = Feedback()
    bare = Certificate(
        EF(float(step)),
        _functions(n, kappa, s),
        potential,
        decrease,
        (Fraction(1), 1 / (s * n)),
        {},
    )
    return with_multipliers(bare, [growth], [1 / (s * n)])


def _ef21(n: int, kappa: Fraction, s: Fraction) -> Certificate:
    step, growth, decrease = feedback_numbers(kappa, s)
    potential: Potential = TightErrorFeedback()
    bare = Certificate(
        EF21(float(step)),
        _functions(n, kappa, s),
        potential,
        decrease,
        (s, Fraction(1, n)),
        {},
    )
    return with_multipliers(bare, [s * growth / step**2], [Fraction(1, n)])


_NICE = {
    Fraction(1, 8): (Fraction(243, 5), Fraction(950, 7)),
    Fraction(1, 4): (Fraction(13, 7), Fraction(91, 4), Fraction(464, 9)),
    Fraction(1, 2): (Fraction(7, 5), Fraction(81, 10)),
    Fraction(4, 5): (Fraction(89, 10),),
}
"""By s, the kappa at which lambda is rational."""

_POINTS = tuple((n, k, s) for s, some in _NICE.items() for k in some for n in (1, 2, 1000))

EF_LAW = ClosedForm("ef", STEP, DECREASE, _POINTS, _ef)
EF21_LAW = ClosedForm("ef21", STEP, DECREASE, _POINTS, _ef21)
