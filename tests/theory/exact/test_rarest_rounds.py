"""LoCoDL's rule ``ours``: the least probability of a round with the best factor per iteration.

Where all f_i and g are the same quadratic, and all models, LoCoDL is gradient descent: no factor is
below s^2, s = (kappa - 1)/(kappa + 1), which takes gamma = 2/(L + mu). No quadratic form of the
state proves that factor for a smaller p with the eta = p chi/(1 + 2 omega) of the rule: ``lack``
has the moments that forbid it. Quadratics of one curvature ask for

    p^2 >= (1 + omega) (1 - s^2)/(rho (2 - rho)),  whatever chi is,

as the determinants of s^2 I - M at both ends, with M of ``difference_moments``, add up to what
``test_the_determinants_of_both_ends_add_up`` states; with rho outside (0, 2) the factor is at least
s, by the determinants |1 - t| and |1 - t| |1 - rho| of the linear steps.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from by_rule import by_rule
from closed_forms import LOCODL_FORM

from certibit import FunctionClass, LoCoDL, certify
from certibit.theory.exact.long_run import ExtremeClass, SecondMoments, slowest_decrease
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of

FEW_CLIENTS = [point for point in LOCODL_FORM.points if point[0] <= 3]
EXACTLY_LEAST = [point for point in FEW_CLIENTS if not point[1]]
"""The points of few clients, and those of them with omega = 0, where no p is smaller."""


def difference_moments(t, p, rho, eta, omega):
    """Return how a step maps the means of a^2, a b and b^2, a = x_i - y and b = gamma (u_i - v).

    All f_i and g have the curvature t/gamma, and the relative variance of the compressors is omega.
    """
    a, b = np.array([1 - t, 1]), np.array([Fraction(0), Fraction(1)])
    squares = np.array([product_form(a, a), product_form(a, b), product_form(b, b)])
    kept = 1 - rho
    noise = eta**2 * (1 + omega)
    round_ = np.array([[kept**2, 0, 0], [-kept * eta, kept, 0], [noise, -2 * eta, 1]])
    return (1 - p) * squares + p * (round_ @ squares)


def product_form(a, b):
    """Return the product of two linear forms of two variables, as a form of their moments."""
    return np.array([a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[1] * b[1]])


def determinant(factor, t, *parameters):
    """Return det(factor I - M_t), for all numbers exactly."""
    (a, b, c), (d, e, f), (g, h, i) = factor * np.eye(3, dtype=int) - difference_moments(
        t, *parameters
    )
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def sum_of_the_ends(s, p, rho, eta, omega):
    return sum(determinant(s**2, t, p, rho, eta, omega) for t in (1 - s, 1 + s))


@pytest.mark.parametrize("p", [Fraction(k, 5) for k in range(1, 5)])
def test_the_determinants_of_both_ends_add_up(p):
    """At more points than the degrees in s, p, rho, eta and omega, 6, 3, 3, 3 and 1: a proof."""
    parts = [Fraction(k, 8) for k in range(1, 8)]
    for s, rho, eta, omega in product(parts, parts[:4], parts[2:6], parts[:2]):
        g, d = p * rho * (2 - rho), 1 - s**2
        assert sum_of_the_ends(s, p, rho, eta, omega) == 2 * s**4 * (
            g * (2 * p * eta - d) - (1 + omega) * p * eta**2
        )


@pytest.mark.parametrize(("n", "omega"), [(1, 0.0), (1, 3.0), (2, 3.0)])
@pytest.mark.parametrize("t", [0.25, 1.75])
def test_the_map_of_the_differences_is_that_of_the_class(n, omega, t):
    method = LoCoDL(gamma=1.0, chi=0.3 * (1 + 2 * omega) / 0.5, rho=0.8, p=0.5, omega=omega)
    functions = FunctionClass(n, mu=0.125, L=2.0, omega=omega)
    outcomes = outcomes_of(method, functions)
    whole = SecondMoments.of(
        outcomes.natural, outcomes.found, ExtremeClass(functions, (t,), t)
    ).step
    part = difference_moments(*map(Fraction, (t, 0.5, 0.8, 0.3, omega))).astype(float)
    spectrum = np.linalg.eigvals(whole)
    for root in np.linalg.eigvals(part):
        assert min(abs(spectrum - root)) < 1e-6


@pytest.mark.parametrize("rho", [-0.5, 0.0, 2.0, 2.5])
def test_no_other_rho_has_the_factor(rho):
    s = 0.75
    for p, eta, omega in product([0.25, 0.75], [0.0, 0.25, 1.0], [0.0, 1.0]):
        maps = [difference_moments(t, p, rho, eta, omega).astype(float) for t in (1 - s, 1 + s)]
        assert min(max(abs(np.linalg.eigvals(one))) for one in maps) > s - 1e-9


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("point", LOCODL_FORM.points, ids=str)
def test_the_factor_is_attained(point):
    """It is that of gradient descent, and no potential of the method promises more."""
    proof = LOCODL_FORM.proof(*point)
    omega = point[1]
    s = (proof.functions.L - 1) / (proof.functions.L + 1)
    assert 1 - float(proof.decrease) == pytest.approx(s**2, rel=1e-12)
    attained = slowest_decrease(proof.method, proof.functions)
    assert attained == pytest.approx(float(proof.decrease), rel=1e-6)
    p, rho = proof.method.p, proof.method.rho
    assert p**2 * rho * (2 - rho) >= (1 + float(omega)) * float(proof.decrease) * (1 - 1e-12)


@pytest.mark.long
@pytest.mark.parametrize("point", EXACTLY_LEAST, ids=str)
def test_without_compression_no_p_is_smaller(point):
    """In rational numbers, by the class that runs, and for all potentials that are searched."""
    proof = LOCODL_FORM.proof(*point)
    s, law = (
        1 - 2 / (1 + fraction(rational(proof.functions.L))),
        fraction(rational(proof.method.p)),
    )
    for change in (Fraction(1), Fraction(999, 1000)):
        ends = [
            sum_of_the_ends(s, change * law, rho, eta * law, Fraction(0))
            for rho, eta in product([Fraction(k, 8) for k in range(1, 16)], repeat=2)
        ]
        assert max(ends) <= 0
        assert (max(ends) == 0) == (change == 1)
    for rho, chi in product([0.95, 1.0, 1.05], repeat=2):
        rarer = replace(proof.method, p=0.99 * proof.method.p, rho=rho, chi=chi)
        assert slowest_decrease(rarer, proof.functions) < 0.995 * float(proof.decrease)
    rarer = replace(proof.method, p=0.99 * proof.method.p)
    found = certify(rarer, proof.functions, potential="search").decrease
    assert found < 0.995 * float(proof.decrease)


@pytest.mark.parametrize("point", LOCODL_FORM.points, ids=str)
def test_balanced_is_the_form(point):
    """The points are at most 0.01 % above it, and where omega = 0 they are the rule."""
    n, omega, kappa, *_ = point
    balanced, _ = by_rule("locodl", n, float(kappa), float(omega), "ours")
    law = LOCODL_FORM.proof(*point).method
    for name in ("gamma", "chi", "rho", "p"):
        close = 1e-12 if not omega else 0.01 if name == "rho" else 3e-4
        assert getattr(balanced, name) == pytest.approx(getattr(law, name), rel=close)
    assert law.p * (1 - 1e-4) <= balanced.p <= law.p * (1 + 1e-12)


def lack(omega, omega_av, d, p, rho):
    """Return what |h|^2 lacks in the moments of the proof, which are moments and do not shrink."""
    eta = d / p
    strength = (omega - omega_av) * eta / (1 - eta)
    alpha = 2 * strength / (1 - strength) if strength < 1 else Fraction(10**6)
    noise = p * omega_av * (1 + alpha / 2)
    kept, m = rho**2 * noise, eta * (1 + omega_av * (1 + alpha / 2))
    noises = p * (omega - omega_av) * (alpha + 2), noise
    parts = (alpha, alpha, alpha), (1, 1, max(1, 2 - m))
    for other, (size, cross, q) in zip(noises, parts, strict=True):
        z = (1 - p * rho * (2 - rho)) * size
        zq = (1 - p) * cross + p * (1 - rho) * (cross - eta * size)
        after = q - 2 * p * eta * cross + eta**2 * (p * size + other)
        assert after >= (1 - d) * q
        assert z * (1 - d) * q >= zq**2
        assert size * q >= cross**2
        kept += z - (size - 2 * cross + q)
    return kept


@pytest.mark.parametrize("n", [1, 2, 5, 1000])
@pytest.mark.parametrize(("omega", "kappa"), [(Fraction(1, 2), 9), (Fraction(4), 400)])
def test_moments_that_no_potential_survives(n, omega, kappa):
    """In rational numbers: below the rule they are possible for all rho, above it not for one."""
    rule, _ = by_rule("locodl", n, float(kappa), float(omega), "ours")
    least, d = Fraction(rule.p), Fraction(4 * kappa, (1 + kappa) ** 2)
    for share in (Fraction(3, 4), Fraction(999, 1000), Fraction(101, 100)):
        lacks = [lack(omega, omega / n, d, share * least, Fraction(k, 40)) for k in range(1, 80)]
        assert (min(lacks) > 0) == (share < 1)


@pytest.mark.long
@pytest.mark.parametrize("point", [point for point in FEW_CLIENTS if point[1]], ids=str)
def test_no_quadratic_potential_allows_rarer_rounds(point):
    """All of them are searched, at the eta of the rule and at others."""
    n, omega, kappa, *_ = point
    law, where = by_rule("locodl", n, float(kappa), float(omega), "ours")
    best = 1 - ((float(kappa) - 1) / (float(kappa) + 1)) ** 2
    assert certify(law, where, potential="search").decrease == pytest.approx(best, rel=1e-3)
    for eta in (0.97, 1.0, 1.03):
        rarer = replace(law, p=0.98 * law.p, chi=eta / 0.98**2 * law.chi)
        assert certify(rarer, where, potential="search").decrease < 0.997 * best


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("n", [2, 3])
def test_what_unlike_quadratics_need(n):
    """They need (1 + omega) where the rule has (1 + (2 - 1/n) omega), for all rho and chi tried."""
    functions = FunctionClass(n, mu=1.0, L=100.0, omega=1.0)
    d, noise = 400 / 101**2, 2 * (1 + 1 / n)
    p, rho = (d * noise) ** 0.5, n / (n + 1)

    def decrease(p, rho, share):
        method = LoCoDL(gamma=2 / 101, chi=3 * share / noise, rho=rho, p=p, omega=1.0)
        return slowest_decrease(method, functions)

    assert decrease(p, rho, 1.0) == pytest.approx(d, rel=1e-4)
    around = product([0.97, 1.0, 1.03], [0.97, 1.0, 1.03])
    assert max(decrease(0.99 * p, a * rho, b) for a, b in around) < 0.999 * d
