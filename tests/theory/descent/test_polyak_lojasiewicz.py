"""Factors under the condition of Polyak and Lojasiewicz: known, published, and attacked."""

from dataclasses import replace

import numpy as np
import pytest
from attack import largest_excess
from by_rule import by_rule
from drawn_functions import sample

from certibit import (
    EF21,
    GD,
    MARINA,
    METHODS,
    BoundedDissimilarity,
    FunctionClass,
    GradientNoise,
    LocalSGD,
    PolyakLojasiewicz,
    Refusal,
    certify,
    check_assumption,
)
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.verdict import written

KAPPA = 50.0


def under(functions, mu):
    return replace(functions, assumptions=(*functions.assumptions, PolyakLojasiewicz(mu)))


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(
    ("potential", "measure", "close"),
    [(AtModel("gap"), "gap", 1e-8), (None, "potential", 1e-3)],
    ids=["gap", "searched"],
)
@pytest.mark.parametrize("mu", [0.01, 0.1, 0.5])
def test_gradient_descent_has_its_tight_factor(mu, potential, measure, close):
    """(2 L - 2 mu)/(2 L + mu) for gamma = 1/L: Abbaszadehpeivasti et al., 2023."""
    functions = under(FunctionClass.nonconvex(3, L=1.0), mu)
    proof = certify(GD(1.0), functions, potential, measure)
    assert proof.c == pytest.approx(1 - (2 - 2 * mu) / (2 + mu), rel=close)
    assert proof.verify()
    assert not replace(proof, exact=proof.exact * 2).verify()


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", ["ef21", "marina"])
@pytest.mark.parametrize("n", [1, 10])
def test_published_factors_are_certified_without_convexity(name, n):
    """arXiv:2106.05203 and arXiv:2102.07845: 1 - gamma mu for a step of the papers."""
    method, where = by_rule(name, n, KAPPA, 4.0, "published")
    theorem = METHODS[name].theorems[0]
    functions = under(replace(FunctionClass.of(where), mu=-KAPPA), 1.0)
    promised = 1 - theorem.rate(method, where)
    stated = certify(method, functions, theorem, measure="potential")
    assert stated.c >= promised * (1 - 1e-9)
    found = certify(method, functions, measure="potential")
    assert found.c >= 1.05 * promised
    assert found.verify()


ATTACKED = [(EF21(0.2), {"alpha": 0.5}), (MARINA(0.3, 0.3), {"omega": 2.0}), (GD(1.2), {})]


@pytest.mark.long
@pytest.mark.parametrize(("method", "constants"), ATTACKED, ids=lambda x: getattr(x, "name", ""))
def test_no_drawn_quadratic_breaks_a_factor(method, constants):
    mu = 0.2
    functions = under(FunctionClass(2, -1.0, 1.0, **constants), mu)
    proof = certify(method, functions, measure="potential")
    drawn = [
        sample(PolyakLojasiewicz(mu), 2, 1, 1.0, np.random.default_rng(seed)) for seed in range(6)
    ]
    signs = [[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)] if "alpha" in constants else [None]

    def worst(one):
        return max(largest_excess(one, f.H.ravel().tolist(), s) for f in drawn for s in signs)

    assert worst(proof) <= 1e-9
    assert worst(replace(proof, exact=6 * proof.exact)) > 1e-4


def test_without_the_condition_there_is_no_factor():
    with pytest.raises(Refusal, match="or a smaller class"):
        certify(GD(1.0), FunctionClass.nonconvex(3, L=1.0), measure="potential")


def dissimilar(n, zeta=1.0, noise=None):
    assumed = (BoundedDissimilarity(1.0, zeta),)
    return FunctionClass.nonconvex(n, L=1.0, noise=noise, assumptions=assumed)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("noise", [None, GradientNoise()])
@pytest.mark.parametrize("I", [1, 2, 3])
def test_local_steps_descend_up_to_zeta(I, noise):  # noqa: E741
    proof = certify(LocalSGD(0.1, I), dissimilar(4, noise=noise))
    assert proof.verify()
    assert proof.c > 0.09 * I * 0.8
    assert proof.e > 1e-4 if noise else proof.e == 0
    unlike = proof.dissimilarity
    assert unlike == pytest.approx(0, abs=1e-12) if I == 1 else 1e-4 < unlike < 0.01


def test_the_number_zeta_is_only_a_weight():
    one, three = (certify(LocalSGD(0.1, 2), dissimilar(4, zeta)) for zeta in (1.0, 3.0))
    assert three.c == pytest.approx(one.c, rel=1e-6)
    assert three.dissimilarity == pytest.approx(one.dissimilarity, rel=1e-3)
    shorter = certify(LocalSGD(0.05, 2), dissimilar(4)).dissimilarity
    first = one.dissimilarity  # gamma^3 L^2 zeta^2/2 to first order
    assert first / 8.5 < shorter < first / 6


@pytest.mark.long
def test_noise_and_dissimilarity_are_told_apart():
    """A large zeta counts more where e + zeta^2 e' is minimised."""
    small, large = (
        certify(LocalSGD(0.1, 3), dissimilar(4, zeta, GradientNoise()), least=0.2)
        for zeta in (0.01, 100.0)
    )
    assert large.dissimilarity <= small.dissimilarity * (1 + 1e-6)
    assert small.e <= large.e * (1 + 1e-6)
    e, unlike = (written(x, 6, up=True) for x in (small.exact_e, small.exact_dissimilarity))
    assert repr(small).endswith(f"{e} sigma^2 + {unlike} zeta^2")
    promise = small.promise
    assert promise.rounds_to(0.1, variance=0.0) == np.inf  # of zeta nothing is known
    assert promise.rounds_to(0.1, zeta_squared=0.0) == 1 / (promise.c * 0.1)


def test_drawn_functions_are_as_dissimilar_as_they_may_be():
    generator = np.random.default_rng(0)
    for assumption in (BoundedDissimilarity(1.5, 0.7), BoundedDissimilarity(1.0, 2.0)):
        drawn = sample(assumption, 4, 3, 1.0, generator)
        assert check_assumption(assumption, drawn).holds
        for smaller in (
            replace(assumption, zeta=assumption.zeta * 0.7),
            replace(assumption, zeta=0.0),
        ):
            assert not check_assumption(smaller, drawn).holds


def test_a_factor_holds_up_to_zeta():
    strongly = FunctionClass(2, 1.0, 10.0, assumptions=(BoundedDissimilarity(1.0, 1.0),))
    proof = certify(LocalSGD(0.01, 2), strongly)
    assert proof.verify()
    assert proof.c > 0
