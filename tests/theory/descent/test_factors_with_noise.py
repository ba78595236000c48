"""Factors with stochastic gradients: E[Psi+] <= (1 - c) Psi + e sigma^2, attained and attacked."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from attack import largest_excess
from small_methods import ThreePoints

from certibit import CARDS, LSVRG, SGD, VRDIANA, FunctionClass, GradientNoise, Refusal, certify
from certibit.theory.certificates.summary import class_setting
from certibit.theory.proofs import symbolic_step
from certibit.theory.quadratic_potential import AtModel

CLOSE = 1e-8


def noisy(n, mu=0.1, **noise):
    return FunctionClass(n, mu=mu, L=1.0, noise=GradientNoise(**noise))


def factor(method, functions, potential=None, **options):
    return certify(method, functions, potential or AtModel("distance"), "potential", **options)


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_sgd_has_its_known_factor_and_noise(n):
    """With |x - x*|^2 the factor is (1 - gamma mu)^2, and e = gamma^2/n."""
    c = 1 - 0.95**2
    proof = factor(SGD(0.5), noisy(n), least=c * (1 - CLOSE))
    assert proof.c == pytest.approx(c, rel=1e-7)
    assert proof.e == pytest.approx(0.25 / n, rel=1e-6)
    assert proof.verify()


@pytest.mark.parametrize(("gamma", "A"), [(0.2, 1.0), (0.1, 3.0), (0.3, 0.2)])
def test_expected_smoothness_is_attained(gamma, A):
    """On (h/2) x^2 with the noise +-(sigma + sqrt(A h) x) the certified e is needed."""
    c = gamma * 0.1
    h = np.linspace(0.1, 1.0, 10001)
    left = 1 - c - (1 - gamma * h) ** 2 - gamma**2 * A * h
    attained = np.max(gamma**2 + gamma**4 * A * h / left)
    proof = factor(SGD(gamma), noisy(1, expected=A), least=c * (1 - CLOSE))
    assert proof.e == pytest.approx(attained, rel=1e-6)
    assert proof.e < 2 * gamma**2  # arXiv:1901.09401
    assert proof.verify()


@pytest.mark.long
def test_a_form_is_searched_for():
    proof = certify(SGD(0.5), noisy(3), measure="potential")
    assert 0.9 * 0.0975 * (1 - 1e-6) < proof.c < 0.0975
    assert proof.e > 0
    assert proof.verify()


REDUCED = [("l-svrg", n, None) for n in (1, 10, 1000)]
REDUCED += [("vr-diana", n, omega) for n, omega in ((1, 9.0), (10, 1.0), (1000, 9.0))]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("name", "n", "omega"), REDUCED)
def test_no_noise_is_left_by_variance_reduction(name, n, omega):
    """With the Psi of the theorem more is proved than it promises; published steps are covered."""
    card = CARDS[name]
    where = class_setting(card.method, n, 100, omega, None, 20)
    functions = replace(FunctionClass.of(where), noise=GradientNoise(expected=where.expected))
    method, theorem = card.at(where), card.theorems[0]
    proof = factor(method, functions, theorem)
    assert proof.c > 1.1 * (1 - theorem.rate(method, where))
    assert proof.verify()
    assert proof.e == 0.0
    published = 1 / (where.L * (1 + 36 * (where.omega + 1) / n))  # arXiv:1904.05115
    if omega is not None:
        assert not theorem.unmet(replace(method, gamma=published), where)


ATTACKED = [
    (LSVRG(0.1, 0.3), 1),
    (LSVRG(0.1, 0.3), 2),
    (VRDIANA(0.05, 0.5, 0.3), 1),
    (VRDIANA(0.05, 0.5, 0.3), 2),
]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("method", "n"), ATTACKED)
def test_no_quadratic_breaks_a_factor(method, n):
    """Samples whose gradients change by l (x - y), l^2 = A mean h; 4 A is too much."""
    omega = 1.0 if method.needs.compressor else 0.0
    functions = replace(noisy(n, expected=0.5), omega=omega)
    proof = factor(method, functions, CARDS[method.name].theorems[0])
    curvatures = list(product([0.1, 0.4, 1.0], repeat=n))
    for A, least, most in ((0.5, -math.inf, 1e-9), (2.0, 1e-4, math.inf)):
        found = max(largest_excess(proof, h, change=(A * np.mean(h)) ** 0.5) for h in curvatures)
        assert least <= found <= most


@pytest.mark.long
def test_a_sample_at_three_points_is_attained():
    proof = factor(ThreePoints(0.2), noisy(1, expected=0.5))
    excess = [largest_excess(proof, (h,), ratio=(0.5 / h) ** 0.5) for h in (0.1, 0.5, 1.0)]
    assert -1e-6 < max(excess) <= 1e-9
    assert proof.verify()


def test_too_small_a_change_between_points_is_caught(monkeypatch):
    right = symbolic_step.expected_change
    monkeypatch.setattr(
        symbolic_step, "expected_change", lambda x, y, k, A, *two: right(x, y, k, A / 10, *two)
    )
    proof = factor(LSVRG(0.1, 0.3), noisy(1, expected=0.5), CARDS["l-svrg"].theorems[0])
    assert max(largest_excess(proof, (h,), change=(0.5 * h) ** 0.5) for h in (0.1, 1.0)) > 1e-6


def test_misfits_are_refused():
    with pytest.raises(Refusal, match="compares noises with those at a solution"):
        certify(SGD(0.1), noisy(2, mu=-1.0, expected=1.0))
    with pytest.raises(Refusal, match="leave relative, difference and gap out"):
        GradientNoise(difference=1.0, expected=1.0)
    for expected in (-1.0, math.inf, "1"):
        with pytest.raises(Refusal, match="no expected smoothness"):
            GradientNoise(expected=expected)


@pytest.mark.long
@pytest.mark.parametrize(("n", "gamma"), [(1, 0.143), (10, 0.625)])
def test_a_search_has_what_the_theorem_of_a_second_point_has(n, gamma):
    """Without f(w) - f* it found less than the theorem of L-SVRG."""
    noisy = FunctionClass(n, mu=0.01, L=1.0, noise=GradientNoise(expected=1.0))
    method, theorem = LSVRG(gamma=gamma, p=0.02 * gamma), CARDS["l-svrg"].theorems[0]
    found = certify(method, noisy, measure="potential")
    stated = certify(method, noisy, theorem, "potential")
    assert found.verify()
    assert found.c > 1.04 * stated.c
    assert found.potential.points == ("w",)
