"""LoCoDL: how rarely it may communicate at the best factor per iteration.

Where all f_i and g are the same quadratic, and all models, LoCoDL is gradient descent: no factor is
below s^2, s = (kappa - 1)/(kappa + 1), which takes gamma = 2/(L + mu). The law is the least p with
that factor. With d = 1 - s^2 it is at most

    p = sqrt(d (1 + omega_av)(1 + (2 - 1/n) omega)),  rho = 1/(1 + omega_av),

and the control variates move by eta/gamma = p chi/(gamma (1 + 2 omega)) with d = p eta: the rule
``balanced``, by the coupled theorem with beta = 0.

From the other side: if all curvatures are the same, x_i - y and gamma (u_i - v) know of nothing
else. Their second moments are mapped by ``difference_moments``, M_t for the curvature t/gamma. If
the factor is s^2, neither end has det(s^2 I - M_t) < 0, and for 0 < rho < 2 these add up to

    2 s^4 (g (2 p eta - d) - (1 + omega) p eta^2),  g = p rho (2 - rho),

so that p^2 >= (1 + omega) d/(rho (2 - rho)), whatever chi is. With another rho the factor is at
least s: so are the determinants of the linear steps, |1 - t| and, in a round, |1 - t| |1 - rho|.
For omega = 0 both sides are the same: p = 2 sqrt(kappa)/(kappa + 1) with rho = chi = 1.
"""

from fractions import Fraction

import numpy as np

from bitbound.solvers.methods.locodl import LoCoDL
from bitbound.theory.exact.exact_proof import ExactProof
from bitbound.theory.exact.rational_algebra import Rationals
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.laws.closed_form import ClosedForm, with_multipliers
from bitbound.theory.theorems.locodl import Theorem31


def _locodl(n: int, omega: Fraction, root: Fraction) -> ExactProof:
    """Prove the law where sqrt(kappa/((1 + omega_av)(1 + (2 - 1/n) omega))) is rational."""
    omega_av = omega / n
    noise = (1 + omega_av) * (1 + (2 - Fraction(1, n)) * omega)
    kappa = root**2 * noise
    p, chi = 2 * root * noise / (1 + kappa), (1 + 2 * omega) / noise
    return uncoupled_proof(n, kappa, omega, p, 1 / (1 + omega_av), chi)


def uncoupled_proof(
    n: int, kappa: Fraction, omega: Fraction, p: Fraction, rho: Fraction, chi: Fraction
) -> ExactProof:
    """Prove the coupled theorem with beta = 0: 1 - tau = p^2 chi/(1 + 2 omega), gamma = 2/(L + mu).

    It verifies if that is at most 1 - s^2, and chi as small as the theorem says.
    """
    step, decrease = 2 / (1 + kappa), p**2 * chi / (1 + 2 * omega)
    bare = ExactProof(
        LoCoDL(float(step), float(chi), float(rho), float(p), float(omega)),
        FunctionClass(n, mu=1.0, L=float(kappa), omega=float(omega)),
        Theorem31(),
        decrease,
        (Fraction(1), Fraction(n), step**2 / decrease, n * step**2 / decrease),
        {},
        float(decrease),
    )
    return with_multipliers(bare, [n * step**2 * (kappa - 1)] * 2)


def difference_moments(
    t: Fraction, p: Fraction, rho: Fraction, eta: Fraction, omega: Fraction
) -> Rationals:
    """Return how a step maps the means of a^2, a b and b^2, a = x_i - y and b = gamma (u_i - v).

    All f_i and g have the curvature t/gamma, and the relative variance of the compressors is omega.
    """
    a, b = np.array([1 - t, 1]), np.array([Fraction(0), Fraction(1)])
    squares = np.array([_product(a, a), _product(a, b), _product(b, b)])
    kept = 1 - rho
    noise = eta**2 * (1 + omega)
    round_ = np.array([[kept**2, 0, 0], [-kept * eta, kept, 0], [noise, -2 * eta, 1]])
    moments: Rationals = (1 - p) * squares + p * (round_ @ squares)
    return moments


def _product(a: Rationals, b: Rationals) -> Rationals:
    """Return the product of two linear forms of two variables, as a form of their moments."""
    return np.array([a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[1] * b[1]])


LOCODL_LAW = ClosedForm(
    "locodl",
    "2/(1 + kappa), p = sqrt(decrease noise), noise = (1 + omega_av)(1 + (2 - 1/n) omega), "
    "rho = 1/(1 + omega_av), chi = (1 + 2 omega)/noise",
    "4 kappa/(1 + kappa)^2",
    (
        (1, Fraction(0), Fraction(2)),
        (2, Fraction(0), Fraction(10)),
        (1000, Fraction(0), Fraction(100)),
        (1, Fraction(4), Fraction(3)),
        (2, Fraction(1), Fraction(5, 2)),
        (3, Fraction(4), Fraction(7, 3)),
        (1000, Fraction(10), Fraction(2)),
    ),
    _locodl,
)
