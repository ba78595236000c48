"""LoCoDL: how rarely it may communicate at the best factor per iteration.

Where all f_i and g are the same quadratic, and all models, LoCoDL is gradient descent: no factor is
below s^2, s = (kappa - 1)/(kappa + 1), which takes gamma = 2/(L + mu). The law is the least p with
that factor; for n clients that draw independently it is

    p = sqrt(d (1 + a)(1 + b)),  a = omega_av/(1 + lambda),  b = (2 - 1/n) omega/(1 + lambda),
    d = 1 - s^2,  lambda = (omega - omega_av) eta/(1 - eta),  eta = d/p,  rho = 1/(1 + a):

the rule ``balanced``, by the theorem with uneven weights.

No quadratic form of the state proves the factor for a smaller p with this eta, whatever rho is. All
of them split into forms of (z, q) in three parts, the differences among the clients (A), those of
their mean with y (B), and the mean of all; so do second moments Z of z, q and h, the models after
the gradient step. What is asked of these is Z+ = s^2 Z or more, and that |h|^2 is in the mean at
most s^2 |z|^2, for the f_i and for g. Let sigma = h + q. In A let sigma = q and alpha be its second
moment; in B let it be 1, as that of q and sigma, and that of q max{1, 2 - m}, m = eta (1 +
omega_av (1 + alpha/2)). The moments of q are kept, or grow where m > 1, if

    alpha (1 - lambda) = 2 lambda,

and for every alpha if lambda >= 1. Those of z with z and q are then found, and are moments by the
inequality of Cauchy and Schwarz, as the coin alone takes at least d from the square of q. What
|h|^2 lacks to s^2 |z|^2, in all parts together, is

    alpha + min{1, m} - p rho (2 - rho)(1 + alpha) + p rho^2 omega_av (1 + alpha/2).

Where m < 1, 1 - lambda times this is p times the difference of both sides of the condition of the
theorem: positive below the law. Given to the mean of all, it makes that grow by more than s^2.
Between f_i and g it can be shared as needed: the mean of all may be large, and h and q of B may
depend on it with opposite signs.

Quadratics alone ask for less: if all curvatures are the same, x_i - y and gamma (u_i - v) know of
nothing else. Their second moments are mapped by ``difference_moments``, M_t for the curvature
t/gamma. If the factor is s^2, neither end has det(s^2 I - M_t) < 0, and for 0 < rho < 2 these add
up to

    2 s^4 (g (2 p eta - d) - (1 + omega) p eta^2),  g = p rho (2 - rho),

so that p^2 >= (1 + omega) d/(rho (2 - rho)), whatever chi is. With another rho the factor is at
least s: so are the determinants of the linear steps, |1 - t| and, in a round, |1 - t| |1 - rho|.
For omega = 0 both sides are the same: p = 2 sqrt(kappa)/(kappa + 1) with rho = chi = 1.
"""

from fractions import Fraction

import numpy as np

from certibit.solvers.methods.locodl import LoCoDL
from certibit.theory.cards.locodl import Theorem31
from certibit.theory.formulas.message_noise import unevenness
from certibit.theory.function_class import FunctionClass
from certibit.theory.laws.closed_form import ClosedForm, with_multipliers
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.rational_algebra import Rationals


def _locodl(n: int, omega: Fraction, kappa: Fraction, p: Fraction, rho: Fraction) -> Certificate:
    """Prove the law for a p and a rho that are its own, rounded so that they are rational."""
    decrease = 4 * kappa / (1 + kappa) ** 2
    return uneven_proof(n, omega, kappa, p, rho, (1 + 2 * omega) * decrease / p**2)


def uneven_proof(
    n: int, omega: Fraction, kappa: Fraction, p: Fraction, rho: Fraction, chi: Fraction
) -> Certificate:
    """Prove 1 - tau = p^2 chi/(1 + 2 omega) for gamma = 2/(L + mu), with uneven weights.

    It verifies where that is at most 1 - s^2, and chi no larger than the theorem says.
    """
    step, decrease = 2 / (1 + kappa), p**2 * chi / (1 + 2 * omega)
    nu, dual = unevenness(p, rho, decrease / p), step**2 / decrease
    bare = Certificate(
        LoCoDL(float(step), float(chi), float(rho), float(p), float(omega)),
        FunctionClass(n, mu=1.0, L=float(kappa), omega=float(omega)),
        Theorem31(),
        decrease,
        (Fraction(1), Fraction(n), (1 - nu) * dual, (1 + nu) * n * dual),
        {},
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
    "2/(1 + kappa), p = sqrt(decrease (1 + a)(1 + b)), rho = 1/(1 + a), a = omega_av/(1 + lambda), "
    "b = (2 - 1/n) omega/(1 + lambda), lambda = (omega - omega_av) decrease/(p - decrease), "
    "chi = (1 + 2 omega)/((1 + a)(1 + b))",
    "4 kappa/(1 + kappa)^2",
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
    _locodl,
)
