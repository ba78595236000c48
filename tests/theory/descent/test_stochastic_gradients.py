"""Descents with stochastic gradients: known constants, the frontier of c and e, and attacks."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from attack import largest_excess
from small_methods import TwoSamples

from certibit import (
    CARDS,
    EF21SGDM,
    SGD,
    FunctionClass,
    GradientNoise,
    PolyakLojasiewicz,
    Refusal,
    certify,
    noise_frontier,
)
from certibit.theory.certificates.summary import class_setting
from certibit.theory.quadratic_potential import AtModel

CLOSE = 1e-8


def growing(n, A):
    return FunctionClass.nonconvex(n, L=1.0, noise=GradientNoise(gap=A))


def noisy(n, relative=0.0, **constants):
    return FunctionClass.nonconvex(n, L=1.0, noise=GradientNoise(relative), **constants)


@pytest.mark.parametrize("n", [1, 10, 1000])
@pytest.mark.parametrize("gamma", [0.1, 0.3, 0.9])
def test_sgd_has_its_known_constants(n, gamma):
    """c = gamma (1 - gamma L/2) and e = L gamma^2/(2 n) for Psi = f - inf f."""
    c = gamma * (1 - gamma / 2)
    proof = certify(SGD(gamma), noisy(n), AtModel("gap"), least=c * (1 - 1e-9))
    assert proof.c == pytest.approx(c, rel=CLOSE)
    assert proof.e == pytest.approx(gamma**2 / (2 * n), rel=CLOSE)
    assert proof.verify()


def test_two_samples_have_half_the_variance():
    c = 0.3 * (1 - 0.3 / 2)
    proof = certify(TwoSamples(0.3), noisy(5), AtModel("gap"), least=c * (1 - 1e-9))
    assert proof.e == pytest.approx(0.3**2 / (4 * 5), rel=CLOSE)


def test_less_of_c_has_less_noise():
    found = noise_frontier(SGD(0.3), noisy(10), (0.5, 0.8, 0.95))
    assert [one.c for one in found] == sorted(one.c for one in found)
    assert [one.e for one in found] == sorted(one.e for one in found)
    proof = certify(SGD(0.3), noisy(10), least=found[1].c * (1 - 1e-6))
    assert proof.verify()
    assert proof.e == pytest.approx(found[1].e, rel=1e-4)
    assert proof.e < 0.3**2 / 20  # that of f - inf f


def test_a_class_without_noise_has_no_frontier():
    assert noise_frontier(SGD(0.3), replace(noisy(10), noise=None)) == ()


def test_noise_that_grows_with_the_gradient():
    """n = 1: c = gamma - (1 + relative) gamma^2 L/2 for Psi = f - inf f."""
    c = 0.3 - 3 * 0.3**2 / 2
    proof = certify(SGD(0.3), noisy(1, relative=2.0), AtModel("gap"), least=c * (1 - 1e-9))
    assert proof.c == pytest.approx(c, rel=CLOSE)
    with pytest.raises(Refusal, match="smaller step"):  # clients' gradients have no bound
        certify(SGD(0.3), noisy(2, relative=2.0), AtModel("gap"))


GROWING = [(1, 1.0, 0.3), (10, 2.0, 0.3), (10, 2.0, 0.1)]


@pytest.mark.parametrize(("n", "A", "gamma"), GROWING)
def test_noise_that_grows_with_f(n, A, gamma):
    """With f - inf f growth is L gamma^2 A/n and e = L gamma^2/(2 n) (arXiv:2002.03329)."""
    functions, c = growing(n, A), gamma * (1 - gamma / 2)
    growth = gamma**2 * A / n
    options = {"least": c * (1 - 1e-9), "growth": growth * (1 + 1e-9)}
    proof = certify(SGD(gamma), functions, AtModel("gap"), **options)
    assert proof.c == pytest.approx(c, rel=CLOSE)
    assert proof.e == pytest.approx(gamma**2 / (2 * n), rel=CLOSE)
    assert proof.verify()
    assert proof.promise.growth == pytest.approx(growth, rel=CLOSE)
    with pytest.raises(Refusal, match="no descent is proved"):
        certify(SGD(gamma), functions, AtModel("gap"), growth=growth * (1 - 1e-6))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("n", "A", "gamma"), GROWING)
def test_noise_that_grows_with_f_on_convex_functions(n, A, gamma):
    """c = 2 gamma (1 - gamma A/n), e = gamma^2/n for Psi = |x - x*|^2 and gamma <= 1/L."""
    c = 2 * gamma * (1 - gamma * A / n)
    proof = certify(SGD(gamma), replace(growing(n, A), mu=0.0), least=c * (1 - 1e-6))
    assert proof.e == pytest.approx(gamma**2 / n, rel=1e-4)
    assert proof.verify()
    assert certify(SGD(gamma), replace(growing(n, 0.0), mu=0.0)).c > 0


def test_noise_that_grows_with_f_under_polyak_lojasiewicz():
    functions = replace(growing(10, 2.0), assumptions=(PolyakLojasiewicz(0.5),))
    found = [
        certify(SGD(0.3), one, measure="potential", least=0.1).e
        for one in (functions, replace(functions, noise=GradientNoise()))
    ]
    assert found[0] >= found[1] * (1 - 1e-6)


def test_no_quadratic_breaks_a_growing_noise():
    """On (h/2) x^2 + b x the noise sqrt(A/h) f' has the variance 2 A (f - inf f)."""
    proof = certify(SGD(0.4), growing(1, 0.5), growth=0.1)

    def excess(A):
        return max(largest_excess(proof, (h,), ratio=math.sqrt(A / h)) for h in (0.4, 1.0))

    assert excess(0.5) <= 1e-9
    assert excess(2.0) > 1e-4


def test_growth_is_asked_for_and_bounds_the_rounds():
    with pytest.raises(Refusal, match="give the growth that is allowed"):
        certify(SGD(0.1), growing(2, 1.0))
    with pytest.raises(Refusal, match="without a solution; leave it out"):
        certify(SGD(0.1), replace(growing(2, 1.0), mu=0.0), growth=0.1)
    for growth in (-1.0, math.nan, "1", True):
        with pytest.raises(Refusal, match="is no part of Psi"):
            certify(SGD(0.1), growing(2, 1.0), growth=growth)
    for gap in (-1.0, math.inf, "1"):
        with pytest.raises(Refusal, match="no part of a variance"):
            GradientNoise(gap=gap)
    slow, fast = (certify(SGD(0.1), growing(2, 1.0), growth=g).promise for g in (0.1, 0.01))
    assert slow.rounds_to(0.01) == math.inf  # no sum of weights is above 1/growth
    T = fast.rounds_to(1.0, 0.5)
    assert sum((1 + 0.01) ** -(t + 1) for t in range(math.ceil(T))) >= 0.5 / fast.c * (1 - 1e-9)
    assert noise_frontier(SGD(0.1), growing(2, 1.0), (0.5, 0.9), growth=0.01)[0].growth == 0.01


def test_exact_gradients_have_no_noise():
    exact = certify(EF21SGDM(0.1, 0.3), replace(noisy(5, alpha=0.5), noise=None))
    assert exact.e == 0
    noise = certify(EF21SGDM(0.1, 0.3), noisy(5, alpha=0.5))
    assert noise.c == pytest.approx(0.9 * exact.c, rel=2e-6)


THEOREMS = [
    ("sgd", {}, 1, 0.0),
    ("sgd", {}, 10, 0.0),
    *(("ef21-sgdm", {"eta": eta}, n, 9.0) for eta in (0.1, 1.0) for n in (1, 1000)),
]


@pytest.mark.long(keep=3)
@pytest.mark.parametrize(("name", "options", "n", "omega"), THEOREMS)
def test_noise_of_theorems_is_certified(name, options, n, omega):
    """With the Psi of a theorem its e is exact, and a smaller one is no proof."""
    card = CARDS[name]
    setting = class_setting(card.method, n, None, omega or None, None, 20)
    method, theorem = card.at(setting, "nonconvex", **options), card.about("squared_gradient")[0]
    promise = theorem.promise(method, setting)
    functions = replace(FunctionClass.of(setting), noise=GradientNoise())
    proof = certify(method, functions, theorem, least=promise.c * (1 - CLOSE))
    assert proof.c >= promise.c * (1 - CLOSE)
    assert proof.e == pytest.approx(promise.e, rel=1e-6)


def test_a_changed_sigma_is_no_proof():
    proof = certify(SGD(0.4), noisy(3))
    for changed in (proof.exact_e * Fraction(99, 100), -proof.exact_e, Fraction(0)):
        assert not replace(proof, exact_e=changed).verify()


def test_a_factor_has_the_c_that_is_asked_for():
    """The form is that of the largest c; its proof has the c that is given."""
    functions = replace(noisy(5), assumptions=(PolyakLojasiewicz(0.5),))
    proof = certify(SGD(0.3), functions, measure="potential", least=0.25)
    assert proof.verify()
    assert proof.c >= 0.25
    with pytest.raises(Refusal, match=r"no c above 0.9 is proved"):
        certify(SGD(0.3), functions, measure="potential", least=0.9)


def test_a_promise_ends_where_noise_does():
    promise = certify(SGD(0.1), noisy(10)).promise
    floor = promise.e / promise.c
    assert promise.rounds_to(2 * floor, variance=1.0) == pytest.approx(
        1 / (promise.c * floor), rel=1e-9
    )
    assert promise.rounds_to(floor / 2, variance=1.0) == math.inf


def test_misfits_are_refused():
    for relative in (-1.0, math.nan, math.inf, "0.1", None, True):
        with pytest.raises(Refusal, match="no part of a variance"):
            GradientNoise(relative)
    with pytest.raises(Refusal, match="no GradientNoise"):
        FunctionClass.nonconvex(2, L=1.0, noise=0.1)
    for least in (0.0, -1.0, math.nan, math.inf, "0.1", True):
        with pytest.raises(Refusal, match="no c of a descent"):
            certify(SGD(0.1), noisy(2), least=least)
    with pytest.raises(Refusal, match="is proved; ask for less"):
        certify(SGD(0.1), noisy(2), least=0.2)
