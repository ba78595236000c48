"""Certified descents: known numbers, theorems of the cards, and attacks by exact expectations."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from small_methods import Psi

from certibit import (
    CARDS,
    DIANA,
    EF21,
    GD,
    MARINA,
    SCAFFOLD,
    BoundedDissimilarity,
    ClientClass,
    Constants,
    FunctionClass,
    Gap,
    Refusal,
    Setting,
    Similarity,
    Squares,
    certify,
)
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import rand_k_of
from certibit.theory.certificates.summary import account

CLOSE = 1e-8
"""Relative distance of a certified constant to the largest one."""


def where(name, n, omega):
    """Return a setting of n clients with L_i = 1 that need not be convex."""
    need = CARDS[name].method.needs.compressor
    sent, d = rand_k_of(omega) if need else (Identity(), 10)
    sent = Scaled(sent) if need == "contractive" else sent
    by_variance = CARDS[name].method.needs.by_variance
    return Setting(Constants(-1.0, np.ones(n), 1.0), n, d, sent, by_variance=by_variance)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
def test_gradient_descent_has_its_tight_rate(gamma):
    """4/(gamma (4 - gamma L)) for gamma <= 1/L: Abbaszadehpeivasti, de Klerk, Zamani, 2022."""
    proof = certify(GD(gamma), FunctionClass.nonconvex(3, L=1.0))
    assert proof.c == pytest.approx(gamma * (4 - gamma) / 4, rel=CLOSE)
    assert proof.c <= proof.bound <= proof.c * (1 + CLOSE)
    assert proof.verify()


DISTANCES = Psi(lambda m, s, star, f, n: (Gap(1.0, s.x), Squares(0.8171 / n, s.g - f.grad(s.x))))
"""f - inf f + weight mean |g_i - grad f_i(x)|^2, with a weight that is not of a theorem."""


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("n", [1, 5, 1000])
@pytest.mark.parametrize("L_tilde", [None, 1.0])
def test_ef21_at_the_step_of_its_theorem(n, L_tilde):
    functions = FunctionClass.nonconvex(n, L=1.0, L_tilde=L_tilde, alpha=0.5)
    method = EF21(0.2928932)
    assert certify(method, functions, DISTANCES).c == pytest.approx(0.186283, abs=1e-6)
    assert certify(method, functions).c == pytest.approx(0.195241, abs=1e-6)


def test_diana_is_certified_though_its_next_model_has_noise():
    proof = certify(DIANA(0.1, 0.2), FunctionClass.nonconvex(10, L=1.0, omega=4.0))
    assert 0.097 < proof.c < 0.1


@pytest.mark.parametrize(
    ("method", "constants", "largest"),
    [
        (EF21(0.29), {"alpha": 1.0}, 0.29 * (4 - 0.29) / 4),
        (MARINA(0.3, 0.5), {"omega": 0.0}, 0.3 * (4 - 0.3) / 4),
        (MARINA(0.3, 0.5), {"omega": 4.0, "omega_joint": 0.0}, 0.3 * (4 - 0.3) / 4),
    ],
)
def test_compression_that_loses_nothing_leaves_gradient_descent(method, constants, largest):
    """The best constant is approached by larger and larger forms, and none has it."""
    proof = certify(method, FunctionClass.nonconvex(10, L=1.0, **constants))
    assert proof.verify()
    assert proof.c == pytest.approx(largest, rel=1e-5)
    assert proof.c <= largest


SAME = [
    (EF21(0.29), {"alpha": 0.5}),
    (MARINA(0.3, 0.2), {"omega": 4.0}),
]


@pytest.mark.long
@pytest.mark.parametrize(("method", "constants"), SAME)
def test_one_class_written_in_other_ways_has_the_same_constant(method, constants):
    functions = FunctionClass.nonconvex(10, L=1.0, **constants)
    found = certify(method, functions).c
    parts = [ClientClass(count, -1.0, 1.0, **constants) for count in (4, 6)]
    assert certify(method, FunctionClass.of_classes(parts)).c == pytest.approx(found)
    unit = 1e6
    scaled = replace(method, gamma=method.gamma / unit)
    larger = FunctionClass.nonconvex(10, L=unit, **constants)
    assert certify(scaled, larger).c * unit == pytest.approx(found)
    if "omega" in constants:
        joint = replace(functions, omega_joint=constants["omega"] / 10)
        assert certify(method, joint).c == pytest.approx(found)


def test_a_setting_stands_for_its_class():
    setting = where("ef21", 10, 1.0)
    assert certify(EF21(0.2), setting).c == certify(EF21(0.2), FunctionClass.of(setting)).c


RULES = {"gd": "1/L", "ef-bv": "published"}
"""Rules whose name is not "nonconvex"."""

PUBLISHED = [
    (name, theorem, n, omega)
    for name, card in CARDS.items()
    for theorem in card.about("squared_gradient")
    for n, omega in product((1, 10, 1000), (1.0, 9.0))
    if omega == 1.0 or card.method.needs.compressor
]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("name", "theorem", "n", "omega"), PUBLISHED)
def test_published_constants_are_certified(name, theorem, n, omega):
    setting = where(name, n, omega)
    method = CARDS[name].at(setting, RULES.get(name, "nonconvex"))
    assert not theorem.unmet(method, setting)
    functions, promise = FunctionClass.of(setting), theorem.promise(method, setting)
    if promise.dissimilarity:  # a theorem about clients that differ by zeta
        functions = replace(functions, assumptions=(BoundedDissimilarity(1.0, 1.0),))
    least = promise.c * (1 - CLOSE) if promise.dissimilarity else None
    stated = certify(method, functions, theorem, least=least)
    assert stated.c >= promise.c * (1 - 2 * CLOSE) - 1e-12
    assert stated.dissimilarity <= promise.dissimilarity * (1 + CLOSE)
    if name != "ef":  # in its Psi f is not at the model, and no form with f there proves as much
        assert certify(method, functions).c >= stated.c * (1 - 1e-6)


@pytest.mark.parametrize("name", ["ef21", "marina", "dasha"])
def test_a_constant_that_is_too_large_is_above_the_bound(name):
    """The theorem with its own step five times as large promises what is not so."""
    setting = where(name, 10, 9.0)
    theorem = CARDS[name].about("squared_gradient")[0]
    method = CARDS[name].at(setting, "nonconvex")
    method = replace(method, gamma=5 * method.gamma)
    assert theorem.unmet(method, setting)
    try:
        proof = certify(method, FunctionClass.of(setting), theorem)
    except Refusal:
        return
    assert proof.bound < theorem.promise(method, setting).c


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("method", "functions"),
    [
        (EF21(0.25), FunctionClass.nonconvex(4, L=1.0, alpha=0.5)),
        (MARINA(0.3, 0.3), FunctionClass(4, 0.0, 1.0, omega=2.0)),
    ],
    ids=["nonconvex", "convex"],
)
def test_a_changed_multiplier_or_constant_is_no_proof(method, functions):
    proof = certify(method, functions)
    assert proof.verify()
    assert not replace(proof, exact=proof.exact * Fraction(11, 10)).verify()
    for own in ("multipliers", "below", "starting"):
        for name, y in getattr(proof, own).items():
            if y:
                changed = {**getattr(proof, own), name: -y}
                assert not replace(proof, **{own: changed}).verify()


def test_local_training_descends():
    proof = certify(SCAFFOLD(K=3, eta_l=0.05, eta_g=1.0, m=4), FunctionClass(4, -1.0, 1.0))
    assert 0.1 < proof.c < 0.15
    assert proof.verify()


def test_the_best_step_of_gradient_descent():
    """c = gamma (4 - gamma)/4 up to 1/L; above, the largest c is at sqrt(4/3)/L."""
    setting = where("gd", 3, 0.0)
    found = account(CARDS["gd"], GD(0.5), setting)
    assert found.published == 0.5 * 0.75 == pytest.approx(found.stated.c, rel=CLOSE)
    assert found.largest_step == pytest.approx(2.0, rel=2e-2)
    assert 1.0 < found.best_step < 1.3
    assert found.best >= 0.75


def test_more_similar_clients_allow_more():
    plain = FunctionClass.nonconvex(10, L=1.0, L_tilde=1.0, omega=9.0)
    similar = replace(plain, assumptions=(*plain.assumptions, Similarity(0.1)))
    method = MARINA(0.3, 0.1)
    assert certify(method, similar).c > certify(method, plain).c * 1.01


def test_misfits_are_refused():
    weak = FunctionClass.nonconvex(3, L=1.0)
    with pytest.raises(Refusal, match="smaller step"):
        certify(DIANA(0.5, 0.1), replace(weak, omega=9.0))
    with pytest.raises(Refusal, match="'gradients' is no measure"):
        certify(GD(0.1), weak, measure="gradients")
    with pytest.raises(Refusal, match="potential = 'stated' is none"):
        certify(GD(0.1), weak, potential="stated")
    with pytest.raises(Refusal, match="gamma = nan of gd is not finite"):
        certify(GD(math.nan), weak)
    with pytest.raises(Refusal, match="gamma = inf of gd is not finite"):
        certify(GD(math.inf), FunctionClass(3, 1.0, 10.0))
    with pytest.raises(Refusal, match="mu < L"):
        FunctionClass(3, -math.inf, 1.0)
