"""A certificate as a theorem holds where it was computed, and for no wider class."""

from dataclasses import replace

import pytest

from certibit import CARDS, DIANA, GD, PAGE, SGD, Quadratic, certify, compressor, problem
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.assumptions.polyak_lojasiewicz import Similarity
from certibit.theory.certificates.certified_theorem import CertifiedTheorem, searched_theorem
from certibit.theory.certificates.summary import class_setting
from certibit.theory.function_class import ClientClass, FunctionClass
from certibit.theory.setting import OfSamples, Setting

CASES = {"gd": None, "diana": 3.0, "ef21": 3.0}


@pytest.mark.parametrize("name", CASES)
def test_it_holds_in_its_own_setting_and_in_no_wider_one(name):
    card = CARDS[name]

    def where(n=3, kappa=10.0, more=0.0):
        omega = None if CASES[name] is None else CASES[name] + more
        return class_setting(card.method, n, kappa, omega, None, 1)

    method = card.at(where())
    theorem = searched_theorem(method, where())
    assert theorem.unmet(method, where()) == ()
    assert 0 < theorem.rate(method, where()) < 1
    assert theorem.unmet(method, where(kappa=5.0)) == ()
    wider = {"n <=": where(n=4), "<= n": where(n=2), "L <=": where(kappa=11.0)}
    if CASES[name]:
        wider[{"diana": "omega", "ef21": "alpha"}[name]] = where(more=1.0)
    for said, setting in wider.items():
        (unmet,) = theorem.unmet(method, setting)
        assert said in unmet.statement
    (unmet,) = theorem.unmet(replace(method, gamma=method.gamma / 2), where())
    assert "parameters" in unmet.statement


ALIKE = Quadratic.random(3, 4, mu=1.0, L=10.0, shared_eigenvectors=True, seed=0)
SHARED = compressor("rand-k:2@shared")
SMOOTHER = FunctionClass.of_classes([ClientClass(1, 1.0, 10.0), ClientClass(2, 1.0, 2.0)])


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("method", "functions", "sent", "said"),
    [
        (DIANA(0.02, 0.5), FunctionClass(3, 1.0, 10.0, omega=1.0), SHARED, "draw independently"),
        (GD(0.3), FunctionClass(3, 1.0, 10.0, L_f=5.0), None, "L_f <="),
        (GD(0.3), SMOOTHER, None, "clients of the classes"),
        (GD(0.19), FunctionClass(3, 1.0, 10.0, assumptions=(Similarity(1.0),)), None, "Similarity"),
    ],
)
def test_no_part_of_the_class_is_left_out(method, functions, sent, said):
    """Factors below 1 of these steps of GD were promised on a problem on which they diverge."""
    setting = Setting.of(method, ALIKE, sent)
    proof = certify(method, functions, potential="search")
    (unmet,) = CertifiedTheorem(proof).unmet(method, setting)
    assert said in unmet.statement


def test_a_descent_is_of_its_class_only():
    """The step 1.5/L of L = 1 was said to descend where L = 10."""
    gentle = FunctionClass.nonconvex(3, L=1.0)
    theorem = CertifiedTheorem(certify(GD(1.5), gentle))
    (unmet,) = theorem.unmet(GD(1.5), Setting.of(GD, ALIKE))
    assert "L <= L of the certificate" in unmet.statement


def test_a_certificate_with_exact_gradients_is_none_of_mini_batches():
    """A factor of SGD without sigma^2 was promised on a problem with sampled gradients."""
    sampled = problem("breast-cancer@9:batch=8", kappa=50)
    setting, method = Setting.of(SGD, sampled), SGD(0.01)
    exact = CertifiedTheorem(certify(method, FunctionClass.of(setting), potential="search"))
    (unmet,) = exact.unmet(method, setting)
    assert unmet.statement == "exact gradients"
    assert not exact.unmet(method, replace(setting, sigma=0.0))


def test_the_change_of_a_noise_is_that_of_the_certificate():
    reduced = FunctionClass.nonconvex(3, L=10.0, noise=GradientNoise(difference=1.0))
    proof = certify(PAGE(0.01, 0.2), reduced)
    setting = replace(Setting.of(PAGE, ALIKE), of_samples=OfSamples(2.0), sigma=1.0)
    (unmet,) = CertifiedTheorem(proof).unmet(proof.method, setting)
    assert unmet.statement == "difference <= difference of the certificate"
