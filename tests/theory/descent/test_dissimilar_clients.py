"""Local steps of clients that differ: descents up to zeta^2, and attacks."""

from dataclasses import replace

import numpy as np
import pytest

from certibit import (
    BoundedDissimilarity,
    FunctionClass,
    GradientNoise,
    LocalSGD,
    certify,
    check_assumption,
)
from certibit.theory.verdict import written


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
        drawn = assumption.sample(4, 3, 1.0, generator)
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
