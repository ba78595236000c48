"""Compressors of a bias and a variance, between contractions and unbiased compressors."""

from dataclasses import replace

import pytest

from certibit import (
    DIANA,
    EF21,
    FunctionClass,
    Refusal,
    certify,
)
from certibit.theory.certificates.worst_instance import worst_instance

CLASSES = [FunctionClass(5, 1.0, 2.0), FunctionClass(5, -1.0, 1.0)]


@pytest.mark.parametrize("functions", CLASSES)
def test_without_a_variance_they_are_contractions(functions):
    biased = certify(EF21(0.1), replace(functions, bias=0.5))
    contracting = certify(EF21(0.1), replace(functions, alpha=0.75))
    assert biased.exact == pytest.approx(contracting.exact, rel=1e-7)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("functions", CLASSES)
@pytest.mark.parametrize("omega", [1.0, 4.0])
def test_the_noise_of_scaled_compressors_is_averaged(functions, omega):
    """C/(1 + omega) for C in U(omega): alpha = 1/(1 + omega), and more for many clients."""
    parts = {"bias": omega / (1 + omega), "omega": omega / (1 + omega) ** 2}
    found = []
    for n in (1, 100):
        own = replace(functions, n=n)
        contracting = certify(EF21(0.05), replace(own, alpha=1 / (1 + omega)))
        proof = certify(EF21(0.05), replace(own, **parts))
        assert proof.functions.alpha == pytest.approx(1 / (1 + omega))
        assert proof.exact >= contracting.exact * (1 - 1e-7)
        assert proof.verify()
        found.append(proof.exact)
    gained = 1e-6 if functions.mu < 0 else -1e-6  # Psi of the theorem has no mean
    assert found[1] > found[0] * (1 + gained)


def test_no_worst_case_is_drawn():
    proof = certify(EF21(0.05), FunctionClass(5, 1.0, 2.0, bias=0.5, omega=0.2))
    with pytest.raises(Refusal, match="a bias and a variance"):
        worst_instance(EF21(0.05), proof.functions, proof.potential)


def test_misfits_are_refused():
    for bias in (-0.1, 1.0, float("nan"), "0.5", True):
        with pytest.raises(Refusal, match="of compressors; give one of at least 0"):
            FunctionClass(5, 1.0, 2.0, bias=bias)
    with pytest.raises(Refusal, match="needs unbiased compressors, and bias"):
        certify(DIANA(0.1, 0.1), FunctionClass(5, 1.0, 2.0, bias=0.5))
