"""Factors under the condition of Polyak and Lojasiewicz: known, published, and attacked."""

from dataclasses import replace

import numpy as np
import pytest
from attack import largest_excess

from certibit import (
    EF21,
    GD,
    MARINA,
    METHODS,
    FunctionClass,
    PolyakLojasiewicz,
    Refusal,
    certify,
)
from certibit.theory.certificates.summary import class_setting
from certibit.theory.quadratic_potential import AtModel

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
    card = METHODS[name]
    where = class_setting(card.method, n, KAPPA, 4.0, None, 1)
    method, theorem = card.at(where, "published"), card.theorems[0]
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
        PolyakLojasiewicz(mu).sample(2, 1, 1.0, np.random.default_rng(seed)) for seed in range(6)
    ]
    signs = [[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)] if "alpha" in constants else [None]

    def worst(one):
        return max(largest_excess(one, f.H.ravel().tolist(), s) for f in drawn for s in signs)

    assert worst(proof) <= 1e-9
    assert worst(replace(proof, exact=6 * proof.exact)) > 1e-4


def test_without_the_condition_there_is_no_factor():
    with pytest.raises(Refusal, match="or a smaller class"):
        certify(GD(1.0), FunctionClass.nonconvex(3, L=1.0), measure="potential")
