"""EF-BV: the same method as EF21 and DIANA, its theorems beside certificates, planted faults."""

from itertools import product

import numpy as np
import pytest
from faults import BY_PART
from planting import fault, planted
from worlds import simulate

from certibit import (
    DIANA,
    EF21,
    EFBV,
    Budget,
    Experiment,
    FunctionClass,
    Quadratic,
    Refusal,
    Setting,
    certify,
    compressor,
)
from certibit.data.problem import Constants
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.certificates.certified_theorem import searched_theorem
from certibit.theory.certificates.certify import has_descent

CARD = CARDS["ef-bv"]
FACTOR, DESCENT = *CARD.about("potential"), *CARD.about("squared_gradient")
CLOSE = 1e-7
PROBLEM = Quadratic.random(4, 6, mu=1.0, L=30.0, seed=3)


def where(n, sent, d, kappa=None):
    """Return a setting in which compressors are taken by their bias and variance."""
    mu, L = (-1.0, 1.0) if kappa is None else (1.0, kappa)
    return Setting(Constants(mu, np.full(n, L), L), n, d, compressor(sent), by_variance=True)


def gaps(method, sent):
    run = simulate(method, PROBLEM, compressor(sent), seeds=[0, 1], budget=Budget(rounds=6))
    return run.columns["gap"]


@pytest.mark.parametrize("sent", ["top-k:2", "scaled(rand-k:2)"])
def test_it_is_ef21(sent):
    """Letter by letter, with the same draws."""
    assert np.array_equal(gaps(EFBV(0.01, 1.0, 1.0), sent), gaps(EF21(0.01), sent))


def test_it_is_diana():
    """Whose shifts are drawn a round later: with a compressor that draws nothing."""
    ours, theirs = (gaps(m, "identity") for m in (EFBV(0.01, 0.3, 1.0), DIANA(0.01, 0.3)))
    assert np.allclose(ours, theirs, rtol=1e-12)


POINTS = [
    ("top-k:3", 6),
    ("rand-k:2", 20),
    ("scaled(rand-k:2)", 20),
    ("rand-k:2(top-k:6)", 12),
    ("natural", 6),
    ("rand-k:2@shared", 8),
]


def are_proved(n, sent, d):
    """Whether both theorems promise no more than is certified with their Psi at their steps."""
    smooth, strongly = where(n, sent, d), where(n, sent, d, kappa=100.0)
    m, steep = CARD.at(smooth), CARD.at(strongly)
    try:
        descent = certify(m, FunctionClass.of(smooth), DESCENT).c
        decrease = certify(steep, FunctionClass.of(strongly), potential=FACTOR).decrease
    except Refusal:
        return False
    promised = DESCENT.promise(m, smooth).c, 1 - FACTOR.rate(steep, strongly)
    held = not DESCENT.unmet(m, smooth) and not FACTOR.unmet(steep, strongly)
    return held and descent >= promised[0] * (1 - CLOSE) and decrease >= promised[1] * (1 - CLOSE)


@pytest.mark.long(keep=4)
@pytest.mark.parametrize(("n", "point"), list(product((10, 1, 1000), POINTS)))
def test_what_is_promised_is_certified(n, point):
    assert are_proved(n, *point)


def test_what_contracts_little_limits_the_factor():
    """For kappa close to 1 the factor is (1 + r)/2."""
    strongly = where(1000, "rand-k:2", 20, kappa=1.1)
    m = CARD.at(strongly)
    assert FACTOR.rate(m, strongly) == pytest.approx(0.95)
    assert 1 - m.gamma < 0.95
    proof = certify(m, FunctionClass.of(strongly), potential=FACTOR)
    assert 1 - 0.95 < proof.decrease * (1 + CLOSE) < 1.3 * 0.05


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("one", BY_PART["theorems of EF-BV"], ids=lambda one: one.name)
def test_a_fault_of_a_theorem_is_caught(one):
    with planted(one):
        assert not all(are_proved(10, *point) for point in POINTS)


def test_a_factor_without_r_is_caught():
    one = fault(
        "r", "theory.cards.ef_bv", ("setting.mu, (1 + r) / 2)", "setting.mu, r / 2)"), on=""
    )
    strongly = where(1000, "rand-k:2", 20, kappa=1.1)
    m = CARD.at(strongly)
    with planted(one):
        promised = 1 - FACTOR.rate(m, strongly)
    assert certify(m, FunctionClass.of(strongly), potential=FACTOR).decrease < promised


def test_compressors_are_taken_by_bias_and_variance():
    experiment = Experiment.of(EFBV(0.01, 0.1, 0.5), PROBLEM, compressor("rand-k:2"))
    functions = FunctionClass.of(Setting.at(experiment))
    assert (functions.bias, functions.omega, functions.alpha) == (0.0, 2.0, None)
    with pytest.raises(Refusal, match="is no contraction"):
        Experiment.of(EF21(0.01), PROBLEM, compressor("rand-k:2"))
    alike = FunctionClass.of(where(10, "rand-k:2@shared", 8))
    assert alike.bias_and_variance == (0.0, 3.0, 3.0)


def test_the_noise_of_many_clients_is_averaged():
    descends = [
        has_descent(EFBV(0.15, 0.1, 0.5), FunctionClass(n, -1.0, 1.0, bias=0.3, omega=4.0))
        for n in (1, 100)
    ]
    assert descends == [False, True]


def test_a_certificate_covers_no_larger_bias_or_variance():
    own, (biased, varied, shared) = (
        where(10, "rand-k:2(top-k:6)", 12, 50.0),
        (
            where(10, sent, 12, 50.0)
            for sent in ("rand-k:2(top-k:5)", "rand-k:1(top-k:6)", "rand-k:2@shared")
        ),
    )
    method = CARD.at(own)
    theorem = searched_theorem(method, own)
    assert theorem.unmet(method, own) == ()
    unmet = [
        [one.statement.split()[0] for one in theorem.unmet(method, other)]
        for other in (biased, varied, shared)
    ]
    assert unmet == [["eta"], ["omega", "omega_av"], ["omega", "omega_av", "clients"]]
