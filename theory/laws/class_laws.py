"""EF and EF21 where clients differ: one law for both, and for any classes of clients.

With y and e_i those of the potentials for equal clients, w = y + mean e and a_i = (L_i + mu_i)/2,
Psi = s |y|^2 + mean (a/a_i) |e_i|^2 with a = mean a_i. A step bounds E[Psi+] by

    s |y - gamma mean h|^2 + s^2 mean (a/a_i) |e_i + gamma h_i|^2,

where <h_i - mu_i w, L_i w - h_i> >= 0. The weights a/a_i keep the part (a_i/a) mean e of e_i apart
from the rest of it. With the rest maximised out, and the inequalities used as often as is best,
a form of three vectors is left, whose coefficients know of the clients only the mean beta and the
variance v of (L_i - mu_i)/(L_i + mu_i), weighted by a_i. At the step of the law two of the vectors
are apart from each other, and the form is at least 0 from the root rho of ``polynomial`` on. Where
all L_i/mu_i are the same, v = 0, it is the law of equal clients, (rho - s)^2 = (1 - s)^2 beta^2
rho.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar, cast

import scipy

from certibit.data.errors import Refusal
from certibit.solvers.methods.ef import EF
from certibit.solvers.methods.ef21 import EF21
from certibit.theory.assumptions.client_class import ClientClass
from certibit.theory.cards.ef import Feedback
from certibit.theory.cards.ef21 import TightErrorFeedback
from certibit.theory.function_class import FunctionClass
from certibit.theory.laws.closed_form import ClosedForm, with_multipliers
from certibit.theory.potential import Potential, Squares, Terms
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational

Number = TypeVar("Number", float, Fraction)
Classes = tuple[tuple[int, int, int], ...]
"""Of every class how many of the clients there are, in proportion, mu_i and L_i."""

STEP = "(1/a) (1 - s)/(1 + s), a = mean a_i, a_i = (L_i + mu_i)/2, s = sqrt(1 - alpha)"
DECREASE = (
    "1 - rho, (rho - s)^2 (rho - s^2) = (1 - s)^2 rho (beta^2 (rho - s^2) + v s (rho - s)/(1 + s)),"
    " s < rho < 1, beta and v the mean and the variance of (L_i - mu_i)/(2 a_i), weighted by a_i"
)


@dataclass(frozen=True)
class ByClass:
    """The potential of EF or EF21 for equal clients, the errors of every class as an own term."""

    potential: Potential

    def lyapunov(self, m: Any, s: Any, star: Any, setting: Any, problem: Any) -> Terms:
        """Return the terms at a state; ``setting`` is a :class:`FunctionClass`."""
        mean, last = self.potential.lyapunov(m, s, star, setting, problem)
        errors = cast(Squares, last)
        kinds = setting.kind_of_client[:, None, None]
        weight, vectors = errors.weight, errors.vectors
        own = (Squares(weight, (kinds == k) * vectors) for k in range(len(setting.kinds)))
        return (mean, *own)


def class_moments(functions: FunctionClass) -> tuple[Fraction, Fraction, Fraction]:
    """Return a, beta and v of the law."""
    n = functions.n
    some = [
        (Fraction(k.count, n), fraction(rational(k.mu)), fraction(rational(k.L)))
        for k in functions.kinds
    ]
    a = sum((p * (L + mu) / 2 for p, mu, L in some), Fraction(0))
    beta = sum((p * (L - mu) / 2 for p, mu, L in some), Fraction(0)) / a
    square = sum((p * (L - mu) ** 2 / (2 * (L + mu)) for p, mu, L in some), Fraction(0)) / a
    return a, beta, square - beta**2


def polynomial(rho: Number, s: Number, beta: Number, v: Number) -> Number:
    """Return what is 0 at the factor of the law, its only root between s and 1.

    It is below 0 at s; above 0 at 1 and, for v > 0, at s^2.
    """
    used = beta**2 * (rho - s**2) + v * s * (rho - s) / (1 + s)
    return (rho - s) ** 2 * (rho - s**2) - (1 - s) ** 2 * rho * used


def factor_of_classes(functions: FunctionClass) -> float:
    """Return the factor of EF and EF21 at the step of the law, for any classes of clients.

    Examples
    --------
    >>> rough, smooth = (ClientClass(1, mu=1, L=L, alpha=0.75) for L in (50, 5))
    >>> round(factor_of_classes(FunctionClass.of_classes([rough, smooth])), 6)
    0.954726
    """
    _, beta, v = class_moments(functions)
    s = float(1 - functions.contraction(0)) ** 0.5
    found: float = scipy.optimize.brentq(polynomial, s, 1.0, (s, float(beta), float(v)))
    return found


def _proof(
    method: type[EF | EF21],
    potential: Potential,
    n: int,
    classes: Classes,
    s: Fraction,
    rho: Fraction,
) -> Certificate:
    """Prove the law; refused if rho is not its root."""
    size = n // sum(count for count, _, _ in classes)
    functions = FunctionClass.of_classes(
        ClientClass(size * count, float(mu), float(L), alpha=float(1 - s**2))
        for count, mu, L in classes
    )
    a, beta, v = class_moments(functions)
    if polynomial(rho, s, beta, v) or not s < rho < 1:
        raise Refusal(f"rho = {rho} is not the root of the law for s = {s}, beta = {beta}, v = {v}")
    contraction = (1 - s) / (1 + s)
    step = contraction / a
    rest = s**2 * rho / (rho - s**2) * contraction**2
    used = s * (rho - s) / (1 + s) - rest * (beta**2 + v)
    pairs, weights = [], []
    for count, mu, L in classes:
        share, middle, half = Fraction(size * count, n), Fraction(L + mu, 2), Fraction(L - mu, 2)
        own = share * half / a * (used / beta + rest * half / middle)
        point = step if method is EF21 else 1
        pairs.append(2 * own / (share * half * point**2))
        weights.append(a / middle / n)
    bare = Certificate(
        method(float(step)),
        functions,
        ByClass(potential),
        1 - rho,
        (s, *weights),
        {},
    )
    return with_multipliers(bare, pairs, weights)


_POINTS: tuple[tuple[int, Classes, Fraction, Fraction], ...] = (
    (2, ((1, 3, 29), (1, 6, 10)), Fraction(1, 4), Fraction(5, 8)),
    (2, ((1, 7, 33), (1, 20, 30)), Fraction(1, 2), Fraction(2, 3)),
    (3, ((1, 1, 55), (2, 6, 18)), Fraction(1, 3), Fraction(7, 9)),
    (3, ((1, 5, 45), (2, 2, 3)), Fraction(2, 3), Fraction(8, 9)),
    (1000, ((1, 10, 70), (9, 9, 11)), Fraction(1, 2), Fraction(5, 8)),
)
"""The number of clients, their classes, s and rho."""

EF_LAW_OF_CLASSES = ClosedForm("ef", STEP, DECREASE, _POINTS, partial(_proof, EF, Feedback()))
EF21_LAW_OF_CLASSES = ClosedForm(
    "ef21", STEP, DECREASE, _POINTS, partial(_proof, EF21, TightErrorFeedback())
)
