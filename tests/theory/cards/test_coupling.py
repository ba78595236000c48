"""The coupled potential of local training with a coin: never behind the paper, never too fast."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from by_rule import by_rule
from closed_forms import uneven_proof

from certibit import METHODS, FunctionClass, LoCoDL, certify
from certibit.theory.cards import locodl, scaffnew
from certibit.theory.certificates.summary import class_setting
from certibit.theory.formulas import coupling
from certibit.theory.formulas.coupling import best_coupling
from certibit.theory.formulas.gradient_step import gradient_step_factor

CASES = [
    (name, rule, n, kappa, omega)
    for name, n, kappa, omega in product(("locodl", "scaffnew"), (1, 3, 50), (3.0, 100.0), (0, 4))
    if name == "locodl" or not omega
    for rule in METHODS[name].rules
]
JUST_MANY = [(100, Fraction(1, 2)), (100, Fraction(3, 2)), (10**6, Fraction(1))]
PUBLISHED = {"locodl": locodl.Theorem31(), "scaffnew": scaffnew.Sharper()}
COUPLED = {"locodl": locodl.CoupledLoCoDL(), "scaffnew": scaffnew.CoupledScaffnew()}


@pytest.mark.long(keep=5)
@pytest.mark.parametrize(("name", "rule", "n", "kappa", "omega"), CASES)
def test_it_lies_between_the_paper_and_the_certificate(name, rule, n, kappa, omega):
    method, where = by_rule(name, n, kappa, omega, rule)
    best = METHODS[name].best_theorem(method, where)
    decrease = 1 - best.rate(method, where)
    if not PUBLISHED[name].unmet(method, where):
        assert decrease >= (1 - PUBLISHED[name].rate(method, where)) * (1 - 1e-9)
        assert 1 - COUPLED[name].rate(method, where) >= decrease * (1 - 1e-9)
    certified = certify(method, where, potential=best).decrease
    assert decrease <= certified * (1 + 1e-4)


@pytest.mark.parametrize(
    ("gamma", "p", "gain"), [(0.01, 0.1, 1.6), (0.001, 0.01, 12.9), (2 / 101, 20 / 101, 1.0)]
)
def test_what_it_gains_for_scaffnew_is_what_its_docstring_says(gamma, p, gain):
    coupled = best_coupling(gamma, 100 * gamma, p, 1.0, p).decrease
    sharper = 1 - max(gradient_step_factor(gamma, 1.0, 100.0), 1 - p**2)
    assert coupled / sharper == pytest.approx(gain, rel=0.005)


def test_no_relation_of_chi_and_rho_is_asked_for():
    """A chi 5 % above the paper's: Theorem 3.1 says nothing, the coupled one a proved rate."""
    method, where = by_rule("locodl", 3, 100.0, 4.0, "published")
    bold = replace(method, chi=1.05 * method.chi)
    assert PUBLISHED["locodl"].unmet(bold, where)
    assert not COUPLED["locodl"].unmet(bold, where)
    decrease = 1 - COUPLED["locodl"].rate(bold, where)
    assert 0 < decrease <= certify(bold, where, potential=COUPLED["locodl"]).decrease * (1 + 1e-4)


def largest_chi(n, omega, rho, p=0):
    """Return the largest chi that the theorem with uneven weights allows."""
    c, omega_av = 0, omega / n
    for _ in range(30):
        strength = (omega - omega_av) * p * c / (1 - p * c)
        room = (1 + strength) * (2 * rho - rho**2) - rho**2 * omega_av
        c = room / (1 + 2 * omega - omega_av + strength)
        c = Fraction(int(10**16 * c), 10**16) if isinstance(c, Fraction) else c
    return (1 + 2 * omega) * c


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("kappa", "omega"), [(4, Fraction(1, 2)), (100, Fraction(4)), (9, 30)])
@pytest.mark.parametrize(("n", "rho"), [(1, Fraction(1, 20)), (2, Fraction(1, 10)), *JUST_MANY])
def test_where_the_hypothesis_of_uneven_weights_just_holds(n, rho, kappa, omega):
    """Proved in rational numbers for the largest chi, 12 digits of it, and for none above it."""
    p = Fraction(1, 10)
    chi = Fraction(int(10**12 * largest_chi(n, Fraction(omega), rho, p)), 10**12)
    assert uneven_proof(n, omega, Fraction(kappa), p, rho, chi).verify()
    more = chi * Fraction(1001, 1000)
    assert not uneven_proof(n, omega, Fraction(kappa), p, rho, more).verify()
    method = LoCoDL(2 / (1 + kappa), float(chi), float(rho), float(p), float(omega))
    where = class_setting(LoCoDL, n, float(kappa), float(omega), None, 1)
    assert not locodl.UnevenLoCoDL().unmet(method, where)
    assert locodl.UnevenLoCoDL().unmet(replace(method, chi=float(more)), where)


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("n", [1, 2, 100, 10**6])
@pytest.mark.parametrize(("kappa", "omega"), [(4.0, 0.5), (100.0, 4.0), (1e4, 30.0)])
def test_nothing_is_promised_that_rational_numbers_do_not_prove(n, kappa, omega):
    """Cross terms included, below the largest chi for nu = 0, and at it."""
    theorem, where = COUPLED["locodl"], FunctionClass(n, mu=1.0, L=kappa, omega=omega)
    best = 1 / (1 + omega / n)
    p = min(1.0, ((1 + omega) / best / kappa) ** 0.5)
    for gamma, share, rho in ((1.0, 0.9, best), (1.5, 1.0, 0.8 * best)):
        method = LoCoDL(gamma / kappa, share * largest_chi(n, omega, rho), rho, p, omega)
        promised = 1 - theorem.rate(method, where)
        exact = certify(method, where, potential=theorem).decrease
        assert exact * (1 - 1e-3) <= promised <= exact * (1 + 1e-6)
        assert promised > 0


def test_shared_messages_have_two_pairs_of_variances():
    """The mean of their errors can be 0: that is worse for a large chi, and only there."""
    shared = FunctionClass(3, mu=1.0, L=100.0, omega=4.0, omega_joint=4.0)
    alone = FunctionClass(1, mu=1.0, L=100.0, omega=4.0)
    for chi, same in ((0.1, True), (0.45, False)):
        method = LoCoDL(0.01, chi, 0.2, 0.3, 4.0)
        rates = [COUPLED["locodl"].rate(method, where) for where in (shared, alone)]
        assert (rates[0] == rates[1]) == same
        assert rates[0] >= rates[1]


@pytest.mark.parametrize("constant", ["2 omega - 2 omega_av", "omega", "0"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_smaller_constant_promises_too_much(constant, n, monkeypatch):
    def careless(setting):
        b = {"2 omega - 2 omega_av": 2 - 2 / n, "omega": 1 - 1e-2, "0": 0.0}[constant]
        return ((setting.omega_av, b * setting.omega),)

    where, rho = class_setting(LoCoDL, n, 100.0, 4.0, None, 1), 1 / (1 + 4 / n)
    bold = LoCoDL(0.01, 1.1 * largest_chi(n, 4.0, rho), rho, 0.3, 4.0)
    certified = certify(bold, where, potential=COUPLED["locodl"]).decrease
    monkeypatch.setattr(locodl, "message_variances", careless)
    assert 1 - COUPLED["locodl"].rate(bold, where) > certified * (1 + 1e-3)


@pytest.mark.parametrize("part", ["K", "cross", "end"])
def test_a_term_left_out_of_the_proof_promises_too_much(part, monkeypatch):
    """Without the noise, the cross term, or the fast end t = gamma L, the rate is not certified."""
    honest = coupling._decrease

    def careless(t, beta, C, nu, K):
        if part == "K":
            return honest(t, beta, C, nu, 0.0)
        if part == "cross":
            return min(1 - (1 + K) * (1 - t) ** 2, (1 + 2 * nu - K) / C)
        return honest(min(t, 0.02), beta, C, nu, K)

    monkeypatch.setattr(coupling, "_decrease", careless)
    coupling.best_coupling.cache_clear()
    try:
        method, where = by_rule("locodl", 3, 100.0, 4.0, "published")
        method = replace(method, gamma=(1.7 if part == "end" else 1.0) / where.L)
        decrease = 1 - COUPLED["locodl"].rate(method, where)
        certified = certify(method, where, potential=COUPLED["locodl"]).decrease
        assert decrease > 1.01 * certified
    finally:
        coupling.best_coupling.cache_clear()
